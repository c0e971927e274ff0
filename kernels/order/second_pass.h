/* As order/first_pass.h, for the second pass of operators that have one (TALLY_PASSES == 2). Functions of the folds
 * have a parameter `aims`. */
#ifdef TALLY_RECORD
#error "what folds the columns before has not undone its parameters"
#endif
#define TALLY_NAME(name) name##2
#define TALLY_TYPE_NAME(name) name##2_t
#define TALLY_RECORD second_t
#define TALLY_COMBINE combine2
#define TALLY_NOTHING identity2()
#define TALLY_LIFT(x, y, k, which) lift2(item_of(x), k, aims->v[which])
