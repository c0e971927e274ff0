// The plain read for bench/gpu/matrix --plain-read FILE: nvcc -O3 -std=c++17 -arch=native -shared -Xcompiler -fPIC
#include "plain_read.cuh"

extern "C" int plain_read_shapes() { return READ_SHAPE_COUNT; }
// NULL, or what went wrong. `out` has 16 bytes.
extern "C" const char *plain_read(int shape, int sms, const char *data, int64_t bytes, char *out, cudaStream_t stream) {
    PlainRead read(READ_SHAPES[shape], sms, stream);
    read.out = out;
    return read.run(data, bytes);
}
