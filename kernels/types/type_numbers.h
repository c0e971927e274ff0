/* The numbers of types, for conditions: TALLY_NUMBER == TALLY_NUMBER_f16 (types/types.h). */
#ifndef TALLY_TYPE_NUMBERS_H
#define TALLY_TYPE_NUMBERS_H

#define TALLY_NUMBER_boolean 1
#define TALLY_NUMBER_i8 2
#define TALLY_NUMBER_i16 3
#define TALLY_NUMBER_i32 4
#define TALLY_NUMBER_i64 5
#define TALLY_NUMBER_u8 6
#define TALLY_NUMBER_u16 7
#define TALLY_NUMBER_u32 8
#define TALLY_NUMBER_u64 9
#define TALLY_NUMBER_f16 10
#define TALLY_NUMBER_bf16 11
#define TALLY_NUMBER_f32 12
#define TALLY_NUMBER_f64 13
#define TALLY_NUMBER_structure 14

#endif
