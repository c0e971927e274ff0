/* What NVRTC is given under the name <stdint.h>: the types, and gcc's builtins under the names it knows. */
#ifndef TALLY_NVRTC_H
#define TALLY_NVRTC_H

#ifndef __NVCC__ /* nvcc, which can compile what tally emits, has the system's header */
typedef signed char int8_t;
typedef short int16_t;
typedef int int32_t;
typedef long long int64_t;
typedef unsigned char uint8_t;
typedef unsigned short uint16_t;
typedef unsigned int uint32_t;
typedef unsigned long long uint64_t;

#define INT8_MIN (-128)
#define INT8_MAX 127
#define UINT8_MAX 255
#define INT16_MIN (-32768)
#define INT16_MAX 32767
#define UINT16_MAX 65535
#define INT32_MIN (-2147483647 - 1)
#define INT32_MAX 2147483647
#define UINT32_MAX 4294967295u
#define INT64_MIN (-9223372036854775807LL - 1)
#define INT64_MAX 9223372036854775807LL
#define UINT64_MAX 18446744073709551615ULL
#endif

#define __builtin_memcpy memcpy
#define __builtin_memset memset
#define __builtin_fma fma
#define __builtin_sqrt __dsqrt_rn
#define __builtin_fabs fabs
#define __builtin_rint rint
#define __builtin_ffs(x) __ffs((int)(x))
#define __builtin_popcount(x) __popc((int)(x))
#define __builtin_popcountll(x) __popcll((long long)(x))
#define __builtin_clz(x) __clz((int)(x))
#define __builtin_clzll(x) __clzll((long long)(x))
#define __builtin_expect(x, likely) (x)

#endif
