/* The parts of tally__nvidia_platform that others use one by one: the driver, and the texts that NVRTC is given. */
#ifndef TALLY_CUDA_NVIDIA_H
#define TALLY_CUDA_NVIDIA_H

#include "cuda/platform.h"

/* Opens the driver at the first call and gives its table; NULL, and in *why a sentence that lasts, when there is none
 * to use. The file that TALLY_CUDA_DRIVER names is opened in place of libcuda. */
const tally__driver *tally__nvidia_driver(const char **why);

/* Whether the driver is in this process, whoever loaded it: without it no pointer belongs to a GPU. Opens nothing; some
 * 20 ns. */
bool tally__driver_is_loaded(void);

/* NVRTC as a table, found and opened at the first call. Fails with a sentence that says how to install it. */
typedef struct tally__nvrtc_program *tally__nvrtc_handle;

/*    member             symbol                       parameters; each but the last returns a status, 0 for success */
#define TALLY_NVRTC_CALLS(X)                                                                                     \
    X(int, version, "nvrtcVersion", (int *major, int *minor))                                                    \
    X(int, arch_count, "nvrtcGetNumSupportedArchs", (int *count))                                                \
    X(int, archs, "nvrtcGetSupportedArchs", (int *archs))                                                        \
    X(int, create, "nvrtcCreateProgram",                                                                         \
      (tally__nvrtc_handle * program, const char *text, const char *name, int count, const char *const *texts,   \
       const char *const *names))                                                                                \
    X(int, destroy, "nvrtcDestroyProgram", (tally__nvrtc_handle * program))                                      \
    X(int, compile, "nvrtcCompileProgram", (tally__nvrtc_handle program, int count, const char *const *options)) \
    X(int, log_size, "nvrtcGetProgramLogSize", (tally__nvrtc_handle program, size_t * size))                     \
    X(int, log, "nvrtcGetProgramLog", (tally__nvrtc_handle program, char *log))                                  \
    X(int, cubin_size, "nvrtcGetCUBINSize", (tally__nvrtc_handle program, size_t * size))                        \
    X(int, cubin, "nvrtcGetCUBIN", (tally__nvrtc_handle program, char *cubin))                                   \
    X(int, ptx_size, "nvrtcGetPTXSize", (tally__nvrtc_handle program, size_t * size))                            \
    X(int, ptx, "nvrtcGetPTX", (tally__nvrtc_handle program, char *ptx))                                         \
    X(const char *, sentence, "nvrtcGetErrorString", (int error))

typedef struct tally__nvrtc {
#define TALLY_ROW(type, member, symbol, parameters) type(*member) parameters;
    TALLY_NVRTC_CALLS(TALLY_ROW)
#undef TALLY_ROW
    int major, minor;
    int sm_count, sm[64]; /* the architectures it compiles for, ascending */
} tally__nvrtc;
tally_status tally__nvrtc_open(const tally__nvrtc **nvrtc);
/* The file that it is in, when it is open; else NULL. */
const char *tally__nvrtc_file(void);

/* Compiles a unit by NVRTC. With `log`, which may be NULL, the log in memory of malloc, NULL if there is none:
 * warnings, and what the assembler tells of registers and memory, and behind that "<n> attempts", of which all but the
 * last spilled registers. The options that make it do so change nothing in the image. */
tally_status tally__compile(const tally__unit *unit, int sm, tally__image *image, char **log);
/* The most bytes of registers that a kernel of a log stores in memory; functions that are not in line, which are for
 * what is rare, do not count. A few may be what a rare case asks for: more than that, and the unit is compiled again
 * with fewer blocks. */
int tally__spilled_bytes(const char *log);
enum { TALLY__FEW_SPILLED = 64 };

/* The unit as one text, in memory of malloc: every header written out where it is included, so that NVRTC or nvcc
 * compiles it alone. */
tally_status tally__emit(const tally__unit *unit, char **text);
/* The same for people: without what this unit leaves out or does not use (text/readable.h). */
tally_status tally__emit_readable(const tally__unit *unit, char **text);
/* Writes that text to <folder>/<entry>-sm_<sm>.cu if TALLY_JIT_DUMP names a folder. */
tally_status tally__dump(const tally__unit *unit, int sm);

#endif
