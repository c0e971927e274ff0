/* Operators given both as callbacks and as text (texts/), which GPU tests run by the text and compare with the
 * callbacks. tests/CMakeLists.txt compiles a kernel for the simulator from each row, and refuses rows of several lines.
 *
 *        name     text         type of a value     bytes  acc  result  keeps order  segments too */
#define TEST_OPERATORS(X)                                           \
    X(affine_8, affine, structure, TALLY_STRUCT, 8, 8, 4, 1, 0)     \
    X(affine_12, affine, structure, TALLY_STRUCT, 12, 8, 4, 1, 1)   \
    X(affine_64, affine, structure, TALLY_STRUCT, 64, 8, 4, 1, 1)   \
    X(squares_1, squares, structure, TALLY_STRUCT, 1, 8, 8, 0, 1)   \
    X(squares_2, squares, structure, TALLY_STRUCT, 2, 8, 8, 0, 0)   \
    X(squares_3, squares, structure, TALLY_STRUCT, 3, 8, 8, 0, 1)   \
    X(squares_4, squares, structure, TALLY_STRUCT, 4, 8, 8, 0, 0)   \
    X(squares_7, squares, structure, TALLY_STRUCT, 7, 8, 8, 0, 0)   \
    X(squares_8, squares, structure, TALLY_STRUCT, 8, 8, 8, 0, 0)   \
    X(squares_12, squares, structure, TALLY_STRUCT, 12, 8, 8, 0, 0) \
    X(squares_16, squares, structure, TALLY_STRUCT, 16, 8, 8, 0, 0) \
    X(squares_20, squares, structure, TALLY_STRUCT, 20, 8, 8, 0, 0) \
    X(squares_33, squares, structure, TALLY_STRUCT, 33, 8, 8, 0, 1) \
    X(squares_64, squares, structure, TALLY_STRUCT, 64, 8, 8, 0, 0) \
    X(pick_8, pick, structure, TALLY_STRUCT, 8, 8, 4, 0, 0)         \
    X(pick_12, pick, structure, TALLY_STRUCT, 12, 8, 4, 0, 0)       \
    X(pick_24, pick, structure, TALLY_STRUCT, 24, 8, 4, 0, 1)       \
    X(pick_40, pick, structure, TALLY_STRUCT, 40, 8, 4, 0, 0)       \
    X(free_sum, float_sum, f32, TALLY_F32, 4, 4, 4, 0, 1)           \
    X(kept_sum, float_sum, f32, TALLY_F32, 4, 4, 4, 1, 1)           \
    X(hash_u8, hash, u8, TALLY_U8, 1, 16, 8, 1, 1)                  \
    X(hash_i16, hash, i16, TALLY_I16, 2, 16, 8, 1, 0)               \
    X(hash_f64, hash, f64, TALLY_F64, 8, 16, 8, 1, 1)               \
    X(bins_u8, bins, u8, TALLY_U8, 1, 64, 64, 0, 1)                 \
    X(bins_i32, bins, i32, TALLY_I32, 4, 64, 64, 0, 0)
