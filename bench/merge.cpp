// Sorted arrays merged into one: Tally beside std::merge, __gnu_parallel::multiway_merge (a loser tree on each thread)
// and a plain pass, which reads and writes as many bytes. They take turns in one process, on the same memory.
//
//     build/bench/bench_merge [--values N] [--threads N] [--rounds N] [--type f64,...] [--arrays 2,4,...]
//
// Prints a table: shares of the speed of the plain pass in the same round, the median of all rounds.
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <parallel/algorithm>
#include <random>
#include <sstream>
#include <string>
#include <vector>

#include <omp.h>

#include "tally/tally_merge.h"

namespace {

struct settings {
    int64_t values = INT64_C(1) << 27;
    int threads = 2, rounds = 5;
    std::string types = "i16,u32,f32,i64,f64", arrays = "2,3,4,8,16,32,64";
};

double seconds(const std::function<void()> &work) {
    const auto begin = std::chrono::steady_clock::now();
    work();
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

double median(std::vector<double> some) {
    std::sort(some.begin(), some.end());
    return some.empty() ? 0 : some[some.size() / 2];
}

// Reads and writes every byte once, on all threads.
void plain_pass(const void *from, void *to, int64_t bytes, int threads) {
    const int64_t words = bytes / 8;
#pragma omp parallel for num_threads(threads) schedule(static)
    for (int64_t i = 0; i < words; i++)
        static_cast<int64_t *>(to)[i] = static_cast<const int64_t *>(from)[i];
}

template <class T> void fill(std::vector<T> &values) {
    std::mt19937_64 random(1);
    for (T &value : values) {
        if constexpr (std::is_floating_point_v<T>)
            value = static_cast<T>(static_cast<double>(random()) / 1e19 - 0.7);
        else
            value = static_cast<T>(random());
    }
}

template <class T> void measure(const settings &wanted, const char *name, tally_type type, int64_t count) {
    const int64_t n = wanted.values * 4 / static_cast<int64_t>(std::max<size_t>(sizeof(T), 4));
    std::vector<T> values(n), out(n), checked(n);
    std::vector<int64_t> origins(n);
    std::vector<tally_array> arrays;
    std::vector<std::pair<T *, T *>> pairs; // not const: it cannot
    fill(values);
    for (int64_t i = 0; i < count; i++) {
        const int64_t begin = n * i / count, end = n * (i + 1) / count;
        __gnu_parallel::sort(values.begin() + begin, values.begin() + end);
        arrays.push_back(tally_in(values.data() + begin, type, end - begin));
        pairs.emplace_back(values.data() + begin, values.data() + end);
    }
    tally_context *context;
    tally_options options = TALLY_OPTIONS_INIT;
    options.threads = wanted.threads;
    if (tally_context_create(nullptr, &context) != TALLY_OK || tally_set_options(context, &options) != TALLY_OK)
        std::exit(1);
    const tally_output none = {};
    const auto tally = [&](const tally_output &origin) {
        if (tally_merge(context, arrays.data(), count, tally_out(out.data(), type, n), origin) != TALLY_OK) {
            std::fprintf(stderr, "%s\n", tally_message());
            std::exit(1);
        }
    };
    std::vector<double> share[4];
    std::vector<double> speed;
    for (int round = 0; round < wanted.rounds; round++) {
        const int64_t bytes = n * static_cast<int64_t>(sizeof(T));
        const double plain = seconds([&] { plain_pass(values.data(), out.data(), bytes, wanted.threads); });
        speed.push_back(static_cast<double>(bytes) / plain / 1e9);
        share[0].push_back(plain / seconds([&] { tally(none); }));
        if (round == 0)
            checked = out;
        share[1].push_back(plain / seconds([&] { tally(tally_out(origins.data(), TALLY_I64, n)); }));
        omp_set_num_threads(wanted.threads);
        share[2].push_back(plain / seconds([&] {
                               auto lists = pairs;
                               __gnu_parallel::stable_multiway_merge(lists.begin(), lists.end(), out.data(), n,
                                                                     std::less<T>(), __gnu_parallel::parallel_tag());
                           }));
        if (round == 0 && std::memcmp(out.data(), checked.data(), n * sizeof(T)) != 0) {
            std::fprintf(stderr, "%s, %lld arrays: the results differ\n", name, static_cast<long long>(count));
            std::exit(1);
        }
        if (count == 2)
            share[3].push_back(plain / seconds([&] {
                                   std::merge(pairs[0].first, pairs[0].second, pairs[1].first, pairs[1].second,
                                              out.data());
                               }));
    }
    std::printf("| %s | %lld | %.2f | %.2f | %.2f | ", name, static_cast<long long>(count), median(share[0]),
                median(share[1]), median(share[2]));
    if (count == 2)
        std::printf("%.2f", median(share[3]));
    std::printf(" | %.1f |\n", median(speed));
    std::fflush(stdout);
    tally_context_destroy(context);
}

} // namespace

int main(int argc, char **argv) {
    settings wanted;
    for (int i = 1; i + 1 < argc; i += 2) {
        const std::string option = argv[i];
        if (option == "--values") wanted.values = std::atoll(argv[i + 1]);
        if (option == "--threads") wanted.threads = std::atoi(argv[i + 1]);
        if (option == "--rounds") wanted.rounds = std::atoi(argv[i + 1]);
        if (option == "--type") wanted.types = argv[i + 1];
        if (option == "--arrays") wanted.arrays = argv[i + 1];
    }
    std::printf("%lld numbers (half as many of 8 bytes), %d threads, %s, %d rounds\n\n",
                static_cast<long long>(wanted.values), wanted.threads, tally_cpu_isa(), wanted.rounds);
    std::printf("| type | arrays | Tally | Tally with origins | multiway_merge | std::merge, 1 thread | pass, GB/s |\n"
                "| --- | ---: | ---: | ---: | ---: | ---: | ---: |\n");
    std::stringstream types(wanted.types);
    for (std::string type; std::getline(types, type, ',');) {
        std::stringstream counts(wanted.arrays);
        for (std::string count; std::getline(counts, count, ',');) {
            const int64_t k = std::atoll(count.c_str());
            if (type == "i16") measure<int16_t>(wanted, "i16", TALLY_I16, k);
            if (type == "u8") measure<uint8_t>(wanted, "u8", TALLY_U8, k);
            if (type == "u32") measure<uint32_t>(wanted, "u32", TALLY_U32, k);
            if (type == "f32") measure<float>(wanted, "f32", TALLY_F32, k);
            if (type == "i64") measure<int64_t>(wanted, "i64", TALLY_I64, k);
            if (type == "f64") measure<double>(wanted, "f64", TALLY_F64, k);
        }
    }
}
