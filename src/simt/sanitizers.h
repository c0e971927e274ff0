/* What the sanitizers are to be told of fibers and of memory; nothing in builds without them.
 *
 * Under ThreadSanitizer each fiber is a thread of its own to it, and a switch orders nothing: only what orders memory
 * on a GPU (barriers, fences) is told with TALLY_RELEASE and TALLY_ACQUIRE, so that a missing one is reported as a
 * race. The files of src/simt that run on fibers are compiled without its instrumentation (CMakeLists.txt, which then
 * defines TALLY_SIMT_TSAN): all fibers share the machine's own variables and must. */
#ifndef TALLY_SIMT_SANITIZERS_H
#define TALLY_SIMT_SANITIZERS_H

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define TALLY_SIMT_ASAN 1
#endif
#elif defined(__SANITIZE_ADDRESS__)
#define TALLY_SIMT_ASAN 1
#endif

#ifdef TALLY_SIMT_ASAN
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#define TALLY_HIDE(p, bytes) __asan_poison_memory_region(p, bytes)
#define TALLY_SHOW(p, bytes) __asan_unpoison_memory_region(p, bytes)
#else
#define TALLY_HIDE(p, bytes) ((void)(p), (void)(bytes))
#define TALLY_SHOW(p, bytes) ((void)(p), (void)(bytes))
#endif

#ifdef TALLY_SIMT_TSAN
#include <sanitizer/tsan_interface.h>
#define TALLY_RELEASE(p) __tsan_release(p)
#define TALLY_ACQUIRE(p) __tsan_acquire(p)
#else
#define TALLY_RELEASE(p) ((void)(p))
#define TALLY_ACQUIRE(p) ((void)(p))
#endif

#endif
