/* Fuzz target: the .npy header reader. What it accepts must be sane, and must survive being written and read again.
 * Build: clang -fsanitize=fuzzer,address,undefined -Iinclude -Icli tests/fuzz/fuzz_npy.c
 * cli/formats/npy.c cli/formats/numbers.c
 * Without libFuzzer add tests/fuzz/standalone_main.c. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "formats/npy.h"
#include "formats/numbers.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void demand(int truth, const char *what) {
    if (!truth) {
        fprintf(stderr, "fuzz_npy: %s\n", what);
        abort();
    }
}

static int64_t product_of(const npy_layout *layout) {
    int64_t product = 1;
    for (int d = 0; d < layout->dimensions; d++) {
        demand(layout->shape[d] >= 0, "a negative extent was accepted");
        demand(!__builtin_mul_overflow(product, layout->shape[d], &product), "the shape overflows");
    }
    return product;
}

static void write_again(const npy_layout *layout) {
    char header[NPY_WRITTEN_MAX], trouble[NPY_TROUBLE_SIZE];
    npy_layout again;
    size_t length = npy_write(header, npy_descr(layout->type), layout->dimensions, layout->shape);
    demand(length <= sizeof header && length % 64 == 0, "the written header has a wrong length");
    demand(npy_read((unsigned char *)header, length, &again, trouble) == NPY_FINE, "a written header is refused");
    demand(again.count == layout->count && again.type == layout->type && again.data_at == length,
           "it reads differently");
    demand(memcmp(again.shape, layout->shape, (size_t)layout->dimensions * 8) == 0, "its shape reads differently");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    npy_layout layout;
    char trouble[NPY_TROUBLE_SIZE] = "";
    unsigned char *copy = malloc(size > 0 ? size : 1); /* of exactly this size, so that a byte too far is seen */
    demand(copy != NULL, "no memory");
    if (size > 0) {
        memcpy(copy, data, size);
    }
    npy_verdict verdict = npy_read(copy, size, &layout, trouble);
    if (verdict == NPY_SHORT) {
        demand(layout.data_at > size && layout.data_at <= NPY_HEADER_MAX + NPY_FIRST_BYTES, "it needs no more bytes");
    } else if (verdict == NPY_BAD) {
        demand(trouble[0] != '\0', "refused without a sentence");
    } else {
        demand(layout.data_at <= size, "the header ends behind the file");
        demand(product_of(&layout) == layout.count, "the count is not the product of the shape");
        demand(layout.size >= 1 && layout.size <= 8 && layout.count <= INT64_MAX / (int64_t)layout.size,
               "bytes overflow");
        write_again(&layout);
    }
    free(copy);
    return 0;
}
