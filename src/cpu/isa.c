/* Instruction sets: the one in use, and the kernels that are compiled for it. */
#include <stdlib.h>
#include <string.h>

#include "cpu/cpu.h"
#include "cpu/tiles.h"
#include "kernel_list.h"
#include "pool.h"

/* The levels that kernels were compiled for, weakest first, each including those before it. */
static const char *const level_names[] = {
#define TALLY_ROW(isa) #isa,
    TALLY_ISAS(TALLY_ROW)
#undef TALLY_ROW
};
enum { LEVELS = sizeof level_names / sizeof *level_names };

static bool machine_has(const char *level) {
#if defined(__x86_64__)
    __builtin_cpu_init();
    if (strcmp(level, "avx2") == 0)
        return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && __builtin_cpu_supports("bmi2");
    if (strcmp(level, "avx512") == 0)
        return machine_has("avx2") && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
               __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl") &&
               __builtin_cpu_supports("avx512cd");
#endif
    return strcmp(level, "baseline") == 0;
}

static int strongest_level(void) {
    int level = LEVELS - 1;
    while (!machine_has(level_names[level])) level--;
    return level;
}

/* The level in use: the machine's, or the weaker one that TALLY_ISA names. Found once; two threads that both look find
 * the same, so a plain atomic is enough. */
static int isa_level(void) {
    static _Atomic int found; /* level + 1 */
    int level = found;
    if (level == 0) {
        const char *wish = getenv("TALLY_ISA");
        level = strongest_level() + 1;
        for (int i = 0; wish != NULL && i < level; i++)
            if (strcmp(wish, level_names[i]) == 0) level = i + 1;
        found = level;
    }
    return level - 1;
}

const char *tally_cpu_isa(void) {
#if defined(__aarch64__)
    return "neon"; /* the baseline of AArch64 */
#else
    return level_names[isa_level()];
#endif
}

#define TALLY_CELL(kernel, isa) extern const tally__kernel_set tally__cpu_##kernel##_##isa;
#define TALLY_ROW(kernel) TALLY_ISAS_OF(TALLY_CELL, kernel)
TALLY_KERNELS(TALLY_ROW)
#undef TALLY_CELL
#undef TALLY_ROW

const tally__kernel_set *tally__cpu_kernels(int number) {
    static const tally__kernel_set *const sets[][LEVELS] = {
#define TALLY_CELL(kernel, isa) &tally__cpu_##kernel##_##isa,
#define TALLY_ROW(kernel) {TALLY_ISAS_OF(TALLY_CELL, kernel)},
        TALLY_KERNELS(TALLY_ROW)
#undef TALLY_CELL
#undef TALLY_ROW
    };
    return sets[number][isa_level()];
}

#define TALLY_ROW(kernel) extern const tally__kernel_set tally__cpu_exact_##kernel;
TALLY_EXACT_KERNELS(TALLY_ROW)
#undef TALLY_ROW
#define TALLY_ROW(isa) extern const tally__tiles tally__tiles_##isa;
TALLY_ISAS(TALLY_ROW)
#undef TALLY_ROW

const tally__kernel_set *tally__cpu_exact_kernels(int number) {
    static const tally__kernel_set *const sets[] = {
#define TALLY_ROW(kernel) &tally__cpu_exact_##kernel,
        TALLY_EXACT_KERNELS(TALLY_ROW)
#undef TALLY_ROW
    };
    return sets[number];
}

const tally__tiles *tally__cpu_tiles(void) {
    static const tally__tiles *const tiles[] = {
#define TALLY_ROW(isa) &tally__tiles_##isa,
        TALLY_ISAS(TALLY_ROW)
#undef TALLY_ROW
    };
    return tiles[isa_level()];
}

int tally_cpu_threads(void) { return tally__pool_threads(); }
