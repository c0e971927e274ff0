// Sorted arrays in GPU memory merged into one: Tally beside CUB's DeviceMerge (two arrays; of more, pairs, then the
// pairs, and so on), CUB's radix sort of all, and a plain pass that reads and writes as many bytes. They take turns in
// one process, on the same memory. tests/gpu.sh merge-bench builds and runs it.
//
//     bench_merge [--log2 28] [--rounds 9] [--type f32,...] [--arrays 2,4,...] [--data random,ties,apart]
//
// 2^log2 values, half as many of 8 bytes. Data: random; ties, of 16 numbers; apart, each array behind the one before.
// Prints a table of shares of the speed of the plain pass in the same round, the median of all rounds. A time is the
// host's, until the stream is done, as tally_merge waits. Every result of Tally is compared with a stable radix sort.
// Exit status: 1 if one was wrong. TALLY_MERGE_SHAPE (src/cuda/units.h): merges of another shape.
#include <cub/device/device_merge.cuh>
#include <cub/device/device_radix_sort.cuh>

#include <functional>
#include <sstream>
#include <type_traits>

#include "data.cuh"
#include "plain_pass.cuh"
#include "tally/tally_merge.h"
#include "timing.cuh"

namespace {

struct Settings {
    int log2 = 28, rounds = 9;
    std::string types = "u8,i16,u32,f32,i64,f64", arrays = "2,3,4,8,16,32,64", data = "random,ties,apart";
};

template <class T> __global__ void fill_values(T *values, int64_t count, bool ties) {
    const int64_t step = static_cast<int64_t>(gridDim.x) * blockDim.x;
    for (int64_t i = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x; i < count; i += step) {
        const uint64_t h = scramble(static_cast<uint64_t>(i));
        const uint64_t bits = ties ? h % 16 : h;
        if constexpr (std::is_floating_point<T>::value) // no -0, which a radix sort need not take for 0
            values[i] = static_cast<T>(static_cast<double>(bits >> (ties ? 0 : 11)) * 0x1p-3 + 1);
        else
            values[i] = static_cast<T>(bits);
    }
}
__global__ void count_up(int64_t *to, int64_t count) {
    const int64_t step = static_cast<int64_t>(gridDim.x) * blockDim.x;
    for (int64_t i = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x; i < count; i += step) to[i] = i;
}
__global__ void compare_words(const uint64_t *a, const uint64_t *b, int64_t count, unsigned *differ) {
    const int64_t step = static_cast<int64_t>(gridDim.x) * blockDim.x;
    for (int64_t i = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x; i < count; i += step)
        if (a[i] != b[i]) *differ = 1;
}

enum { PASSES = 2, FIRST_WITH_ORIGINS = 5 }; // of what takes turns

template <class T> class Merge {
    const Settings &settings;
    const char *const name;
    const tally_type type;
    const int64_t n, bytes;
    cudaStream_t stream = nullptr;
    tally_context *context = nullptr;
    std::vector<void *> taken;
    T *values, *out, *other, *sorted;
    int64_t *places, *origins, *other_origins, *sorted_places;
    void *temporary = nullptr;
    size_t temporary_bytes = 0;
    unsigned *differ = nullptr;
    std::vector<int64_t> begins; // of the arrays, and the end

    template <class To> void take(To **to, int64_t size) {
        CHECK(cudaMalloc(to, static_cast<size_t>(size)));
        taken.push_back(*to);
    }
    // Calls f(temporary, bytes), with more temporary memory if it needs more.
    template <class F> void with_temporary(const F &f) {
        size_t need = 0;
        CHECK(f(nullptr, need));
        if (need > temporary_bytes) {
            CHECK(cudaFree(temporary));
            CHECK(cudaMalloc(&temporary, temporary_bytes = need));
        }
        CHECK(f(temporary, need));
    }
    void sort_keys(const T *from, T *to, int64_t count) {
        with_temporary([&](void *t, size_t &room) {
            return cub::DeviceRadixSort::SortKeys(t, room, from, to, count, 0, 8 * static_cast<int>(sizeof(T)), stream);
        });
    }
    void make(int64_t count, const std::string &data) {
        fill_values<<<2048, 256, 0, stream>>>(data == "apart" ? other : out, n, data == "ties");
        if (data == "apart") sort_keys(other, out, n);
        begins.clear();
        for (int64_t i = 0; i <= count; i++) begins.push_back(n * i / count);
        for (int64_t i = 0; i < count; i++) sort_keys(out + begins[i], values + begins[i], begins[i + 1] - begins[i]);
        with_temporary([&](void *t, size_t &room) {
            return cub::DeviceRadixSort::SortPairs(t, room, values, sorted, places, sorted_places, n, 0,
                                                   8 * static_cast<int>(sizeof(T)), stream);
        });
    }

    bool tally_merges(bool with_origins) {
        std::vector<tally_array> arrays;
        for (size_t i = 0; i + 1 < begins.size(); i++)
            arrays.push_back(tally_in(values + begins[i], type, begins[i + 1] - begins[i]));
        const tally_output none = {};
        return tally_merge(context, arrays.data(), static_cast<int64_t>(arrays.size()), tally_out(out, type, n),
                           with_origins ? tally_out(origins, TALLY_I64, n) : none) == TALLY_OK;
    }
    void cub_merges_two(const T *from, const int64_t *from_places, T *to, int64_t *to_places, int64_t begin,
                        int64_t middle, int64_t end) {
        const T *const a = from + begin, *const b = from + middle;
        with_temporary([&](void *t, size_t &room) {
            if (from_places == nullptr)
                return cub::DeviceMerge::MergeKeys(t, room, a, middle - begin, b, end - middle, to + begin, {}, stream);
            return cub::DeviceMerge::MergePairs(t, room, a, from_places + begin, middle - begin, b,
                                                from_places + middle, end - middle, to + begin, to_places + begin, {},
                                                stream);
        });
    }
    // Levels go to and fro between two outputs, the last one to `out`.
    void cub_merges(bool with_origins) {
        std::vector<int64_t> at = begins;
        int levels = 1;
        while ((size_t(1) << levels) < begins.size() - 1) levels++;
        const T *from = values;
        const int64_t *from_places = with_origins ? places : nullptr;
        for (int level = 0; level < levels; level++) {
            T *const to = (levels - 1 - level) % 2 == 0 ? out : other;
            int64_t *const to_places = to == out ? origins : other_origins;
            std::vector<int64_t> next(1, 0);
            for (size_t i = 0; i + 1 < at.size(); i += 2) {
                const bool is_pair = i + 2 < at.size();
                next.push_back(at[is_pair ? i + 2 : i + 1]);
                cub_merges_two(from, from_places, to, to_places, at[i], at[i + 1], next.back());
            }
            from = to;
            from_places = with_origins ? to_places : nullptr;
            at = next;
        }
    }
    bool is_equal(const void *a, const void *b, int64_t of_bytes) {
        unsigned result = 0;
        CHECK(cudaMemsetAsync(differ, 0, sizeof *differ, stream));
        compare_words<<<2048, 256, 0, stream>>>(static_cast<const uint64_t *>(a), static_cast<const uint64_t *>(b),
                                                of_bytes / 8, differ);
        CHECK(cudaStreamSynchronize(stream));
        CHECK(cudaMemcpy(&result, differ, sizeof result, cudaMemcpyDeviceToHost));
        return result == 0;
    }
    std::string wrong() {
        CHECK(cudaMemsetAsync(out, 0xab, static_cast<size_t>(bytes), stream));
        if (!tally_merges(false)) return tally_message();
        if (!is_equal(out, sorted, bytes)) return "OTHER VALUES";
        CHECK(cudaMemsetAsync(out, 0xab, static_cast<size_t>(bytes), stream));
        CHECK(cudaMemsetAsync(origins, 0xab, static_cast<size_t>(8 * n), stream));
        if (!tally_merges(true)) return tally_message();
        if (!is_equal(out, sorted, bytes)) return "OTHER VALUES with origins";
        if (!is_equal(origins, sorted_places, 8 * n)) return "OTHER ORIGINS";
        cub_merges(false);
        return is_equal(out, sorted, bytes) ? "" : "CUB merges to other values";
    }

    double seconds(const std::function<void()> &call) {
        CHECK(cudaStreamSynchronize(stream));
        const double begin = now();
        call();
        CHECK(cudaStreamSynchronize(stream));
        return now() - begin;
    }

  public:
    Merge(const Settings &settings_, const char *name_, tally_type type_)
        : settings(settings_), name(name_), type(type_), n(int64_t(1) << (settings_.log2 - (sizeof(T) == 8))),
          bytes(n * static_cast<int64_t>(sizeof(T))) {
        tally_options options = TALLY_OPTIONS_INIT;
        CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
        options.stream = stream;
        options.backend = TALLY_BACKEND_CUDA;
        if (tally_context_create(nullptr, &context) || tally_set_options(context, &options)) std::exit(2);
        for (T **keys : {&values, &out, &sorted}) take(keys, bytes);
        for (int64_t **numbers : {&places, &origins, &sorted_places}) take(numbers, 8 * n);
        take(&other, bytes + 8 * n); // one behind the other, for the plain pass
        other_origins = reinterpret_cast<int64_t *>(other + n);
        take(&differ, sizeof *differ);
        count_up<<<2048, 256, 0, stream>>>(places, n);
    }
    Merge(const Merge &) = delete;
    ~Merge() {
        tally_context_destroy(context);
        for (void *memory : taken) cudaFree(memory);
        cudaFree(temporary);
        cudaStreamDestroy(stream);
    }

    bool measure(int64_t count, const std::string &data) {
        make(count, data);
        const std::string note = wrong();
        std::printf("| %s | %s | %lld |", name, data.c_str(), static_cast<long long>(count));
        if (!note.empty()) return std::printf(" %s |\n", note.c_str()), false;
        const std::vector<std::function<void()>> calls = {
            [&] { enqueue_plain_pass(values, bytes, other, bytes, stream); },
            [&] { enqueue_plain_pass(values, bytes, other, bytes + 8 * n, stream); },
            [&] { tally_merges(false); },
            [&] { cub_merges(false); },
            [&] { sort_keys(values, out, n); },
            [&] { tally_merges(true); },
            [&] { cub_merges(true); }};
        std::vector<std::vector<double>> shares(calls.size());
        std::vector<double> speeds;
        for (int round = 0; round < settings.rounds; round++) {
            std::vector<double> took(calls.size());
            for (size_t k = 0; k < calls.size(); k++) {
                const size_t turn = (k + static_cast<size_t>(round)) % calls.size();
                took[turn] = seconds(calls[turn]);
            }
            for (size_t k = PASSES; k < calls.size(); k++)
                shares[k].push_back(took[k < FIRST_WITH_ORIGINS ? 0 : 1] / took[k]);
            speeds.push_back(2e-9 * static_cast<double>(bytes) / took[0]);
        }
        for (size_t k = PASSES; k < calls.size(); k++) std::printf(" %.2f |", median(shares[k]));
        std::printf(" %.0f |\n", median(speeds));
        std::fflush(stdout);
        return true;
    }
};

std::vector<std::string> split(const std::string &text) {
    std::vector<std::string> parts;
    std::stringstream stream(text);
    for (std::string part; std::getline(stream, part, ',');) parts.push_back(part);
    return parts;
}

template <class T> bool measure_type(const Settings &settings, const char *name, tally_type type) {
    bool is_right = true;
    Merge<T> merge(settings, name, type);
    for (const std::string &data : split(settings.data))
        for (const std::string &count : split(settings.arrays))
            is_right &= merge.measure(std::atoll(count.c_str()), data);
    return is_right;
}

} // namespace

int main(int argc, char **argv) {
    Settings settings;
    for (int i = 1; i + 1 < argc; i += 2) {
        const std::string option = argv[i];
        if (option == "--log2") settings.log2 = std::atoi(argv[i + 1]);
        if (option == "--rounds") settings.rounds = std::atoi(argv[i + 1]);
        if (option == "--type") settings.types = argv[i + 1];
        if (option == "--arrays") settings.arrays = argv[i + 1];
        if (option == "--data") settings.data = argv[i + 1];
    }
    cudaDeviceProp device;
    CHECK(cudaGetDeviceProperties(&device, 0));
    const char *const shape = std::getenv("TALLY_MERGE_SHAPE");
    if (shape != nullptr) std::printf("TALLY_MERGE_SHAPE=%s\n", shape);
    std::printf("%s, 2^%d values (half as many of 8 bytes), %d rounds, CUB %d.%d.%d\n\n", device.name, settings.log2,
                settings.rounds, CUB_MAJOR_VERSION, CUB_MINOR_VERSION, CUB_SUBMINOR_VERSION);
    std::printf("| type | data | arrays | Tally | CUB merges | CUB sort | Tally, origins | CUB merges, origins | pass, "
                "GB/s |\n| --- | --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |\n");
    bool is_right = true;
    for (const std::string &type : split(settings.types)) {
        if (type == "u8") is_right &= measure_type<uint8_t>(settings, "u8", TALLY_U8);
        if (type == "i16") is_right &= measure_type<int16_t>(settings, "i16", TALLY_I16);
        if (type == "u32") is_right &= measure_type<uint32_t>(settings, "u32", TALLY_U32);
        if (type == "f32") is_right &= measure_type<float>(settings, "f32", TALLY_F32);
        if (type == "i64") is_right &= measure_type<int64_t>(settings, "i64", TALLY_I64);
        if (type == "f64") is_right &= measure_type<double>(settings, "f64", TALLY_F64);
    }
    return is_right ? 0 : 1;
}
