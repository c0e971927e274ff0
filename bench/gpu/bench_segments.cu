// Segments on the GPU: Tally beside a plain pass that reads and writes as many bytes, CUB's DeviceSegmentedReduce and
// ReduceByKey. One line of JSON for each measurement; every result of Tally is compared with the CPU's bits over the
// first segments. bench/gpu/run.sh builds and runs it.
//
//     bench_segments [--log2 28] [--rounds 7] [--only TEXT|TEXT] [--shape TEXT] [--quick] [--no-peers] [--check N]
//     [--out FILE]
#include <cmath>
#include <cstring>
#include <functional>
#include <random>
#include <vector>

#include "data.cuh"
#include "plain_pass.cuh"
#include "segments_peers.h"
#include "tally/tally.h"
#include "timing.cuh"

// ---- segmentations ----

struct Segmentation {
    std::string name;
    int64_t count = 0, values = 0;
    void *offsets = nullptr, *wide = nullptr, *lengths = nullptr, *segment_ids = nullptr; // i32, i64, i32, i32
};

static __global__ void segment_ids_kernel(const int32_t *offsets, int64_t segments, int64_t values,
                                          int32_t *segment_ids) {
    int64_t step = static_cast<int64_t>(gridDim.x) * blockDim.x;
    for (int64_t i = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x; i < values; i += step) {
        int64_t low = 0, high = segments; // the last segment that begins at or before i
        while (high - low > 1) {
            int64_t middle = (low + high) / 2;
            (offsets[middle] <= i ? low : high) = middle;
        }
        segment_ids[i] = static_cast<int32_t>(low);
    }
}
static __global__ void widen_kernel(const int32_t *offsets, int64_t count, int64_t *wide, int32_t *lengths) {
    int64_t step = static_cast<int64_t>(gridDim.x) * blockDim.x;
    for (int64_t i = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x; i <= count; i += step) {
        wide[i] = offsets[i];
        if (i < count) {
            lengths[i] = offsets[i + 1] - offsets[i];
        }
    }
}

static std::vector<int32_t> offsets_of(const std::string &name, int64_t values) {
    if (name[0] == '=') {
        const int64_t each = std::atoi(name.c_str() + 1);
        std::vector<int32_t> equal(static_cast<size_t>((values + each - 1) / each) + 1);
        for (size_t i = 0; i < equal.size(); i++)
            equal[i] = static_cast<int32_t>(std::min(values, static_cast<int64_t>(i) * each));
        return equal;
    }
    std::vector<int32_t> offsets(1, 0);
    std::mt19937_64 random(7);
    offsets.reserve(static_cast<size_t>(values / 2) + 16);
    while (offsets.back() < values) {
        uint64_t r = random();
        int64_t length = 3, begin = offsets.back();
        if (name == "one")
            length = values;
        else if (name == "10 to 50")
            length = 10 + static_cast<int64_t>(r % 41);
        else if (name == "power")
            length =
                static_cast<int64_t>(std::min(1e8, std::pow(1 - static_cast<double>(r >> 11) * 0x1p-53, -1 / 1.1)));
        else if (name == "80% empty")
            length = (r >> 40) % 5 ? 0 : 1 + static_cast<int64_t>(r % 63);
        else if (name == "half and threes")
            length = begin == 0 ? values / 2 : 3;
        offsets.push_back(static_cast<int32_t>(std::min(values, begin + length)));
    }
    return offsets;
}

static Segmentation make_segmentation(const std::string &name, int64_t values, const std::string &forms) {
    Segmentation segmentation;
    std::vector<int32_t> offsets = offsets_of(name, values);
    segmentation.name = name;
    segmentation.count = static_cast<int64_t>(offsets.size()) - 1;
    segmentation.values = values;
    CHECK(cudaMalloc(&segmentation.offsets, offsets.size() * 4));
    CHECK(cudaMemcpy(segmentation.offsets, offsets.data(), offsets.size() * 4, cudaMemcpyHostToDevice));
    if (forms.find('6') != std::string::npos || forms.find('l') != std::string::npos) {
        CHECK(cudaMalloc(&segmentation.wide, offsets.size() * 8));
        CHECK(cudaMalloc(&segmentation.lengths, offsets.size() * 4));
        widen_kernel<<<2048, 256>>>(static_cast<int32_t *>(segmentation.offsets), segmentation.count,
                                    static_cast<int64_t *>(segmentation.wide),
                                    static_cast<int32_t *>(segmentation.lengths));
    }
    if (forms.find('o') != std::string::npos) {
        CHECK(cudaMalloc(&segmentation.segment_ids, static_cast<size_t>(values) * 4));
        segment_ids_kernel<<<4096, 256>>>(static_cast<int32_t *>(segmentation.offsets), segmentation.count, values,
                                          static_cast<int32_t *>(segmentation.segment_ids));
    }
    CHECK(cudaDeviceSynchronize());
    return segmentation;
}
static void free_segmentation(const Segmentation &segmentation) {
    for (void *memory : {segmentation.offsets, segmentation.wide, segmentation.lengths, segmentation.segment_ids})
        cudaFree(memory);
}

// ---- an operator that does not commute: affine maps of 32-bit numbers, one after the other ----

struct Affine {
    uint32_t a, b;
};
static const Affine affine_identity = {1, 0};
static const char *const affine_text = R"(
#define TALLY_COLUMN(X) X(uint32_t, a) X(uint32_t, b)
#define TALLY_NODE(X) TALLY_COLUMN(X)
#define TALLY_START(m) (m).a = 1, (m).b = 0
#define TALLY_JOIN(m, then) (m).b = (then).a * (m).b + (then).b, (m).a = (then).a * (m).a
#include "accumulators/plain.h"
TALLY_FN column_t lift(item_t x, item_t y) {
    column_t map;
    (void)y;
    __builtin_memcpy(&map, &x.raw, sizeof map);
    return map;
}
typedef TALLY_T result_t;
TALLY_FN result_t finish(node_t map, const tally_final *final) {
    result_t result;
    (void)final;
    __builtin_memcpy(&result, &map.a, sizeof result);
    return result;
}
)";
static void affine_lift(void *accs, const void *values, int64_t count, int64_t, void *) {
    std::memcpy(accs, values, static_cast<size_t>(count) * sizeof(Affine));
}
static void affine_combine(void *left, const void *right, int64_t count, void *) {
    Affine *m = static_cast<Affine *>(left);
    const Affine *then = static_cast<const Affine *>(right);
    for (int64_t k = 0; k < count; k++) m[k] = {then[k].a * m[k].a, then[k].a * m[k].b + then[k].b};
}

// The operator's number in the context; affine is defined there.
static tally_status find_operator(tally_context *context, const std::string &name, tally_op *op) {
    *op = tally_op_from_name(name.c_str());
    if (name != "affine") return TALLY_OK;
    tally_operator affine = {};
    affine.size = sizeof affine;
    affine.name = "affine";
    affine.input = affine.result = TALLY_STRUCT;
    affine.input_size = affine.acc_size = affine.result_size = sizeof(Affine);
    affine.identity = &affine_identity;
    affine.lift = affine_lift;
    affine.combine = affine_combine;
    affine.text = affine_text;
    return tally_define(context, &affine, op);
}
static tally_type type_of(const std::string &name) {
    return name == "affine" ? TALLY_STRUCT : tally_type_from_name(name.c_str());
}
static int64_t width_of(const std::string &name) {
    return name == "affine" ? static_cast<int64_t>(sizeof(Affine))
                            : static_cast<int64_t>(tally_type_size(type_of(name)));
}

// ---- measuring ----

struct Bench {
    int rounds = 7, check = 200000;
    bool peers = true;
    std::string only;
    FILE *out = stdout;
    cudaStream_t stream;
    char *values = nullptr, *results = nullptr;
    void *temp = nullptr;
    size_t temp_bytes = 0;
    int wrong = 0;

    double seconds_of(const std::function<bool()> &call, double *share, const std::function<bool()> &plain) {
        cudaEvent_t from, to;
        std::vector<double> times, shares;
        CHECK(cudaEventCreate(&from));
        CHECK(cudaEventCreate(&to));
        auto batch = [&](const std::function<bool()> &f, int calls) {
            CHECK(cudaEventRecord(from, stream));
            for (int k = 0; k < calls; k++) {
                if (!f()) return -1.0;
            }
            CHECK(cudaEventRecord(to, stream));
            CHECK(cudaStreamSynchronize(stream));
            float ms = 0;
            CHECK(cudaEventElapsedTime(&ms, from, to));
            return ms * 1e-3 / calls;
        };
        double once = batch(call, 1), each = once < 0 ? once : batch(call, 1);
        int calls = each < 5e-4 ? 5 : each < 5e-3 ? 2 : 1, turns = each > 0.05 ? 1 : rounds;
        for (int k = 0; k < turns && each >= 0; k++) {
            double pass = plain ? batch(plain, 2) : 0, time = batch(call, calls);
            times.push_back(time);
            shares.push_back(pass / time);
        }
        cudaEventDestroy(from);
        cudaEventDestroy(to);
        *share = median(shares);
        return each < 0 ? -1 : median(times);
    }

    void report(const std::string &who, const std::string &op, const std::string &type, const std::string &form,
                const Segmentation &segmentation, int64_t bytes, double seconds, double share,
                const std::string &note) {
        std::fprintf(out,
                     "{\"segments\": \"%s\", \"who\": \"%s\", \"op\": \"%s\", \"type\": \"%s\", \"form\": \"%s\", "
                     "\"values\": %lld, \"count\": %lld, "
                     "\"bytes\": %lld, \"us\": %.2f, \"gbps\": %.1f, \"share\": %.4f, \"note\": \"%s\"}\n",
                     segmentation.name.c_str(), who.c_str(), op.c_str(), type.c_str(), form.c_str(),
                     static_cast<long long>(segmentation.values), static_cast<long long>(segmentation.count),
                     static_cast<long long>(bytes), seconds * 1e6, static_cast<double>(bytes) / seconds * 1e-9, share,
                     note.c_str());
        std::fflush(out);
    }

    // The first segments, by the CPU.
    std::string verify(const std::string &op_name, const std::string &type_name, tally_accuracy accuracy,
                       const Segmentation &segmentation) {
        int64_t count = std::min<int64_t>(segmentation.count, check), width = width_of(type_name);
        tally_type type = type_of(type_name);
        tally_op op;
        std::vector<int32_t> offsets(static_cast<size_t>(count) + 1);
        size_t bytes = 0;
        tally_context *context = nullptr;
        tally_options options = TALLY_OPTIONS_INIT;
        if (count == 0) return "";
        CHECK(cudaMemcpy(offsets.data(), segmentation.offsets, offsets.size() * 4, cudaMemcpyDeviceToHost));
        while (count > 1 && offsets[static_cast<size_t>(count)] > (1 << 24)) count /= 2;
        int64_t values_here = offsets[static_cast<size_t>(count)];
        std::vector<char> host(static_cast<size_t>(values_here * width));
        CHECK(cudaMemcpy(host.data(), values, host.size(), cudaMemcpyDeviceToHost));
        options.backend = TALLY_BACKEND_CPU;
        options.accuracy = accuracy;
        if (tally_context_create(nullptr, &context) || tally_set_options(context, &options) ||
            find_operator(context, op_name, &op) || tally_result_type(context, op, type, nullptr, &bytes))
            return tally_message();
        std::vector<char> due(static_cast<size_t>(count) * bytes), got(due.size());
        tally_status status = tally_reduce_segments(context, op, tally_in(host.data(), type, values_here),
                                                    tally_offsets(offsets.data(), TALLY_I32, count),
                                                    tally_out(due.data(), TALLY_NATURAL, count));
        tally_context_destroy(context);
        if (status != TALLY_OK && status != TALLY_EMPTY) return tally_message();
        CHECK(cudaMemcpy(got.data(), results, got.size(), cudaMemcpyDeviceToHost));
        if (std::memcmp(got.data(), due.data(), got.size()) == 0) return "";
        wrong++;
        for (int64_t s = 0; s < count; s++)
            if (std::memcmp(&got[static_cast<size_t>(s) * bytes], &due[static_cast<size_t>(s) * bytes], bytes) != 0)
                return "OTHER BITS at segment " + std::to_string(s) + " of " + std::to_string(segmentation.count);
        return "OTHER BITS";
    }

    // `only` names parts of labels, any of which will do: A|B.
    bool is_wanted(const std::string &label) const {
        for (size_t at = 0, end; at <= only.size(); at = end + 1) {
            end = std::min(only.find('|', at), only.size());
            if (label.find(only.substr(at, end - at)) != std::string::npos) return true;
        }
        return false;
    }

    void measure(const std::string &op_name, const std::string &type_name, bool exact, char form,
                 const Segmentation &segmentation) {
        tally_op op;
        tally_type type = type_of(type_name);
        int64_t width = width_of(type_name);
        size_t result_bytes = 0;
        const char *form_name = form == '3'   ? "offsets i32"
                                : form == '6' ? "offsets i64"
                                : form == 'l' ? "lengths i32"
                                              : "segment ids i32";
        std::string label =
            op_name + " " + type_name + " " + (exact ? "exact" : "fast") + " " + form_name + " " + segmentation.name;
        if (!is_wanted(label)) return;
        tally_options options = TALLY_OPTIONS_INIT;
        tally_context *context = nullptr;
        options.stream = stream;
        options.accuracy = exact ? TALLY_EXACT : TALLY_FAST;
        if (tally_context_create(nullptr, &context) || tally_set_options(context, &options) ||
            find_operator(context, op_name, &op) || tally_result_type(context, op, type, nullptr, &result_bytes)) {
            std::fprintf(stderr, "%s: %s\n", label.c_str(), tally_message());
            return;
        }
        tally_segments segments = form == '3'   ? tally_offsets(segmentation.offsets, TALLY_I32, segmentation.count)
                                  : form == '6' ? tally_offsets(segmentation.wide, TALLY_I64, segmentation.count)
                                  : form == 'l'
                                      ? tally_lengths(segmentation.lengths, TALLY_I32, segmentation.count)
                                      : tally_segment_ids(segmentation.segment_ids, TALLY_I32, segmentation.count);
        int64_t read = segmentation.values * width +
                       (form == 'o' ? segmentation.values * 4 : segmentation.count * (form == '6' ? 8 : 4)),
                written = segmentation.count * static_cast<int64_t>(result_bytes);
        auto plain = [&] {
            enqueue_plain_pass(values, read, results, written, stream);
            return cudaGetLastError() == cudaSuccess;
        };
        CHECK(cudaMemset(results, 0xab, static_cast<size_t>(written)));
        auto call = [&] {
            return tally_reduce_segments(context, op, tally_in(values, type, segmentation.values), segments,
                                         tally_out(results, TALLY_NATURAL, segmentation.count)) == TALLY_OK;
        };
        std::string note;
        if (!call()) note = tally_message();
        CHECK(cudaStreamSynchronize(stream));
        if (note.empty() && check > 0) note = verify(op_name, type_name, options.accuracy, segmentation);
        double share = 0, seconds = note.empty() || note[0] == 'O' ? seconds_of(call, &share, plain) : -1;
        report(exact ? "tally exact" : "tally", op_name, type_name, form_name, segmentation, read + written, seconds,
               share, note);
        tally_context_destroy(context);
        if (!peers || form != '3') return;
        seconds = seconds_of(plain, &share, nullptr);
        report("plain pass", op_name, type_name, form_name, segmentation, read + written, seconds, 1, "");
        for (int k = 0; k < segment_peer_count(); k++) {
            const SegmentPeer *peer = segment_peer(k);
            if (op_name != peer->op || type_name != peer->type) continue;
            if (peer->by_key && segmentation.segment_ids == nullptr) continue;
            auto theirs = [&] {
                size_t space = temp_bytes;
                return peer->run(temp, &space, values, segmentation.offsets, segmentation.segment_ids, results,
                                 segmentation.count, segmentation.values, stream) == cudaSuccess;
            };
            seconds = seconds_of(theirs, &share, plain);
            int64_t bytes =
                peer->by_key ? segmentation.values * (width + 4) + written + segmentation.count * 4 : read + written;
            const char *const given_by = peer->by_key ? "segment ids i32" : form_name;
            report(peer->via, op_name, type_name, given_by, segmentation, bytes, seconds, share, "");
        }
    }
};

int main(int argc, char **argv) {
    Bench bench;
    int log2 = 28;
    bool quick = false;
    const char *file = nullptr;
    std::string only_shape;
    for (int k = 1; k < argc; k++) {
        std::string option = argv[k];
        if (option == "--quick")
            quick = true;
        else if (option == "--no-peers")
            bench.peers = false;
        else if (k + 1 < argc && option == "--log2")
            log2 = std::atoi(argv[++k]);
        else if (k + 1 < argc && option == "--rounds")
            bench.rounds = std::atoi(argv[++k]);
        else if (k + 1 < argc && option == "--check")
            bench.check = std::atoi(argv[++k]);
        else if (k + 1 < argc && option == "--only")
            bench.only = argv[++k];
        else if (k + 1 < argc && option == "--shape")
            only_shape = argv[++k];
        else if (k + 1 < argc && option == "--out")
            file = argv[++k];
        else
            return std::fprintf(stderr, "bench_segments: what is %s?\n", argv[k]), 2;
    }
    if (file && !(bench.out = std::fopen(file, "w"))) return std::perror(file), 2;
    struct Job {
        const char *op, *type;
        bool exact;
        const char *forms;
    };
    std::vector<Job> jobs = {
        {"sum", "f32", false, "36lo"}, {"sum", "f32", true, "3"},        {"sum", "f64", false, "3"},
        {"sum", "f64", true, "3"},     {"argmin", "f32", false, "3"},    {"sum", "bf16", false, "3"},
        {"sum", "u8", false, "3"},     {"logsumexp", "f32", false, "3"}, {"affine", "affine", false, "3"}};
    std::vector<std::string> shapes = {"one",       "10 to 50",        "=3",    "=1",  "power",
                                       "80% empty", "half and threes", "=4096", "=300"};
    if (!quick)
        shapes.insert(shapes.end(), {"=2", "=8", "=16", "=32", "=64", "=128", "=1000", "=1500", "=10000", "=100000",
                                     "=1000000", "=10000000", "=100000000"});
    int64_t most = int64_t(1) << log2;
    CHECK(cudaStreamCreateWithFlags(&bench.stream, cudaStreamNonBlocking));
    CHECK(cudaMalloc(&bench.values, static_cast<size_t>(most) *
                                        12)); // 8 bytes each, or 4 and an index of 8: what the plain pass reads
    CHECK(cudaMalloc(&bench.results, static_cast<size_t>(most) * 8));
    bench.temp_bytes = static_cast<size_t>(512) << 20;
    CHECK(cudaMalloc(&bench.temp, bench.temp_bytes));
    std::string filled;
    for (const std::string &shape : shapes) {
        if (!only_shape.empty() && shape != only_shape) continue;
        Segmentation segmentation = make_segmentation(shape, most, "36lo");
        for (const Job &job : jobs) {
            const bool are_bytes = width_of(job.type) == 1 || type_of(job.type) == TALLY_STRUCT;
            if (filled != job.type)
                fill(are_bytes ? "u8" : job.type, are_bytes ? "random" : "normal", bench.values,
                     most * (width_of(job.type) == 8 ? 8 : 4), 132, bench.stream);
            filled = job.type;
            for (const char *form = job.forms; *form; form++)
                bench.measure(job.op, job.type, job.exact, *form, segmentation);
        }
        free_segmentation(segmentation);
    }
    if (bench.wrong)
        std::fprintf(stderr, "bench_segments: %d results of Tally have other bits than the CPU's\n", bench.wrong);
    return bench.wrong != 0;
}
