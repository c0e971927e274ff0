/* Includes TALLY_TEMPLATE for every type and NaN policy that TALLY_KERNEL is defined on, then defines the set TALLY_SET
 * of their kernels: TALLY_MEMBERS names them, which the template defines; no include guard. Types to which an
 * operator's kernels are the same share one: with TALLY_SIGNLESS unsigned types have those of signed ones; with
 * TALLY_TRUTHS, of operators that ask whether a value is zero, bool also has that of i8, and bf16 that of f16 unless
 * NaNs are skipped; with TALLY_PLACES, of operators that ask which value is first in order, bf16 that of f16 in total
 * order. With TALLY_NANS_SHARE a float type has one kernel for both NaN policies: TALLY_TEMPLATE is included for the
 * first, and TALLY_MEMBERS is told the policy. */
#include "names.h"

#ifndef TALLY_SET
#error "define TALLY_SET"
#endif
#ifndef TALLY_SET_TYPE
#define TALLY_SET_TYPE tally__kernel_set
#endif

#if TALLY_KERNEL_ON & TALLY_CLASS_BOOL && !defined(TALLY_TRUTHS)
#define TALLY_TYPE boolean
#define TALLY_NAN 0
#include "instance.h"
#endif

#if TALLY_KERNEL_ON & TALLY_CLASS_INT
#define TALLY_TYPE i8
#define TALLY_NAN 0
#include "instance.h"
#define TALLY_TYPE i16
#define TALLY_NAN 0
#include "instance.h"
#define TALLY_TYPE i32
#define TALLY_NAN 0
#include "instance.h"
#define TALLY_TYPE i64
#define TALLY_NAN 0
#include "instance.h"
#endif

#if TALLY_KERNEL_ON & TALLY_CLASS_UINT && !defined(TALLY_SIGNLESS)
#define TALLY_TYPE u8
#define TALLY_NAN 0
#include "instance.h"
#define TALLY_TYPE u16
#define TALLY_NAN 0
#include "instance.h"
#define TALLY_TYPE u32
#define TALLY_NAN 0
#include "instance.h"
#define TALLY_TYPE u64
#define TALLY_NAN 0
#include "instance.h"
#endif

#if TALLY_KERNEL_ON & TALLY_CLASS_FLOAT
#define TALLY_TYPE f16
#define TALLY_NAN 0
#include "instance.h"
#ifndef TALLY_TRUTHS
#define TALLY_TYPE bf16
#define TALLY_NAN 0
#include "instance.h"
#endif
#define TALLY_TYPE f32
#define TALLY_NAN 0
#include "instance.h"
#define TALLY_TYPE f64
#define TALLY_NAN 0
#include "instance.h"
#ifndef TALLY_NANS_SHARE
#define TALLY_TYPE f16
#define TALLY_NAN 1
#include "instance.h"
#define TALLY_TYPE bf16
#define TALLY_NAN 1
#include "instance.h"
#define TALLY_TYPE f32
#define TALLY_NAN 1
#include "instance.h"
#define TALLY_TYPE f64
#define TALLY_NAN 1
#include "instance.h"
#endif
#if TALLY_KERNEL_NANS == TALLY_NANS_ORDER
#define TALLY_TYPE f16
#define TALLY_NAN 2
#include "instance.h"
#ifndef TALLY_PLACES
#define TALLY_TYPE bf16
#define TALLY_NAN 2
#include "instance.h"
#endif
#define TALLY_TYPE f32
#define TALLY_NAN 2
#include "instance.h"
#define TALLY_TYPE f64
#define TALLY_NAN 2
#include "instance.h"
#endif
#endif

#ifdef TALLY_TRUTHS
#define TALLY_BOOL_KERNEL i8
#define TALLY_BF16_KERNEL f16
#else
#define TALLY_BOOL_KERNEL boolean
#define TALLY_BF16_KERNEL bf16
#endif
#ifdef TALLY_PLACES
#define TALLY_TOTAL_KERNEL f16
#else
#define TALLY_TOTAL_KERNEL bf16
#endif

extern const TALLY_SET_TYPE TALLY_SET;
#define TALLY_CELL(TYPE, type, nan) .of[TALLY_##TYPE][nan] = TALLY_MEMBERS(type, nan),
/* Integers have no NaN: every policy is the same kernel. */
#define TALLY_CELLS(TYPE, type)                                             \
    TALLY_CELL(TYPE, type, 0).of[TALLY_##TYPE][1] = TALLY_MEMBERS(type, 0), \
                           .of[TALLY_##TYPE][2] = TALLY_MEMBERS(type, 0),
const TALLY_SET_TYPE TALLY_SET = {
#if TALLY_KERNEL_ON & TALLY_CLASS_BOOL
    TALLY_CELLS(BOOL, TALLY_BOOL_KERNEL)
#endif
#if TALLY_KERNEL_ON & TALLY_CLASS_INT
    TALLY_CELLS(I8, i8) TALLY_CELLS(I16, i16) TALLY_CELLS(I32, i32) TALLY_CELLS(I64, i64)
#endif
#ifdef TALLY_SIGNLESS
    TALLY_CELLS(U8, i8) TALLY_CELLS(U16, i16) TALLY_CELLS(U32, i32) TALLY_CELLS(U64, i64)
#elif TALLY_KERNEL_ON & TALLY_CLASS_UINT
    TALLY_CELLS(U8, u8) TALLY_CELLS(U16, u16) TALLY_CELLS(U32, u32) TALLY_CELLS(U64, u64)
#endif
#if TALLY_KERNEL_ON & TALLY_CLASS_FLOAT
    TALLY_CELL(F16, f16, 0) TALLY_CELL(F16, f16, 1) TALLY_CELL(BF16, TALLY_BF16_KERNEL, 0) TALLY_CELL(BF16, bf16, 1)
    TALLY_CELL(F32, f32, 0) TALLY_CELL(F32, f32, 1) TALLY_CELL(F64, f64, 0) TALLY_CELL(F64, f64, 1)
#if TALLY_KERNEL_NANS == TALLY_NANS_ORDER
    TALLY_CELL(F16, f16, 2) TALLY_CELL(BF16, TALLY_TOTAL_KERNEL, 2) TALLY_CELL(F32, f32, 2) TALLY_CELL(F64, f64, 2)
#endif
#endif
};
