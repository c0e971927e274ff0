/* The parts of tally__nvidia_platform that other files use by themselves: the driver, NVRTC, and the texts that it
 * gets. */
#ifndef TALLY_CUDA_NVIDIA_H
#define TALLY_CUDA_NVIDIA_H

#include "cuda/platform.h"

/* Opens the driver at the first call, and returns its table. NULL: no driver can be used, and *why is a static
 * sentence. If TALLY_CUDA_DRIVER names a file, it is opened in place of libcuda. */
const tally__driver *tally__nvidia_driver(const char **why);

/* Whether the driver is loaded in this process: otherwise no pointer belongs to a GPU. Loads nothing, and takes some
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
/* The file that NVRTC was opened from; NULL: it is not open. */
const char *tally__nvrtc_file(void);

/* Compiles a unit by NVRTC. log may be NULL. Otherwise *log is NULL, or memory of malloc with warnings, the assembler's
 * report of registers and memory, and "<n> attempts": all but the last attempt spilled registers. The image is the same
 * with and without a log. */
tally_status tally__compile(const tally__unit *unit, int sm, tally__image *image, char **log);
/* The most bytes that a kernel spills from registers to memory, by the log. Functions that are not inlined do not
 * count: they are for rare cases. A unit that spills more than a few bytes is compiled again, for fewer blocks on a
 * multiprocessor. */
int tally__spilled_bytes(const char *log);
enum { TALLY__FEW_SPILLED = 80 };

/* Makes one text of the unit, in memory of malloc, with every header in place of its include, so that NVRTC or nvcc can
 * compile it alone. */
tally_status tally__emit(const tally__unit *unit, char **text);
/* The same for people: conditions are resolved, and what the unit does not use is left out (text/readable.h). */
tally_status tally__emit_readable(const tally__unit *unit, char **text);
/* Writes that text to <folder>/<entry>-sm_<sm>.cu if TALLY_JIT_DUMP names a folder. */
tally_status tally__dump(const tally__unit *unit, int sm);

#endif
