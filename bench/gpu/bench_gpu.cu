// The benchmark of Tally on one GPU: the plain read, CUB, and Tally exact and fast, over the same bytes in turn.
// JSON lines go to --out, progress to stderr. Exit status 1: some result of Tally had other bits than the CPU's, or
// failed.
#include <cuda_profiler_api.h>

#include <cmath>
#include <cstring>
#include <memory>

#include "bench_gpu.h"
#include "cases.cuh"
#include "data.cuh"
#include "plain_read.cuh"
#include "records.cuh"
#include "tally_contender.cuh"
#include "timing.cuh"

namespace {

const char USAGE[] =
    "bench_gpu [--out FILE] [--seconds N] [--rounds N] [--quick] [--list] [--once] [--commit TEXT]\n"
    "          [--section S] [--op OP] [--type T] [--data D] [--log2-bytes N] [--contenders plain,cub,tally,fast]\n"
    "--seconds drops the least important cases when time is up, and says which; --once makes one call of\n"
    "each contender between cudaProfilerStart and Stop, for ncu --profile-from-start off.\n";

struct Arguments {
    std::string out, commit, section, op, type, data, contenders = "plain,cub,tally,fast", command;
    double seconds = 0;
    int rounds = 9, log2_bytes = 0;
    bool quick = false, list = false, once = false;

    Arguments(int argc, char **argv) {
        for (int k = 0; k < argc; k++) {
            command += (k ? " " : "") + std::string(argv[k]);
        }
        for (int k = 1; k < argc; k++) {
            std::string name = argv[k];
            bool *flag = name == "--quick" ? &quick : name == "--list" ? &list : name == "--once" ? &once : nullptr;
            if (flag) {
                *flag = true;
                continue;
            }
            std::string *text = name == "--out"          ? &out
                                : name == "--commit"     ? &commit
                                : name == "--section"    ? &section
                                : name == "--op"         ? &op
                                : name == "--type"       ? &type
                                : name == "--data"       ? &data
                                : name == "--contenders" ? &contenders
                                                         : nullptr;
            bool number = name == "--seconds" || name == "--rounds" || name == "--log2-bytes";
            if ((!text && !number) || k + 1 >= argc) {
                std::fprintf(stderr, "bench_gpu: %s: not understood\n%s", argv[k], USAGE);
                std::exit(2);
            }
            k++;
            if (text) {
                *text = argv[k];
            } else {
                seconds = name == "--seconds" ? std::atof(argv[k]) : seconds;
                rounds = name == "--rounds" ? std::atoi(argv[k]) : rounds;
                log2_bytes = name == "--log2-bytes" ? std::atoi(argv[k]) : log2_bytes;
            }
        }
    }
    bool wants(const Case &c) const {
        return (section.empty() || c.section == section) && (op.empty() || c.op == op) &&
               (type.empty() || c.type == type) && (data.empty() || c.data == data) &&
               (!log2_bytes || c.bytes == int64_t(1) << log2_bytes) && (!quick || c.priority == 0);
    }
    bool wants(const char *contender) const {
        return ("," + contenders + ",").find("," + std::string(contender) + ",") != std::string::npos;
    }
};

double as_double(const std::string &type, const char *bytes) {
    double value = NAN;
    if (type == "u64") {
        uint64_t x;
        std::memcpy(&x, bytes, sizeof x);
        return static_cast<double>(x);
    }
#define X(name, real)                                                                                \
    if (type == #name) {                                                                             \
        real x;                                                                                      \
        std::memcpy(&x, bytes, sizeof x);                                                            \
        value = sizeof(real) == 8 ? (double)x : (double)(float)x; /* f16 and bf16 know only float */ \
        if (std::is_integral<real>::value) {                                                         \
            value = (double)x;                                                                       \
        }                                                                                            \
    }
    BENCH_TYPES(X)
#undef X
    return value;
}

struct Cub : Contender {
    const CubRow *row;
    int64_t width;
    void *temp;
    size_t temp_bytes;
    cudaStream_t stream;

    Cub(const CubRow *row_, int64_t width_, void *temp_, size_t temp_bytes_, cudaStream_t stream_)
        : row(row_), width(width_), temp(temp_), temp_bytes(temp_bytes_), stream(stream_) {
        name = "cub";
        via = row->via;
    }
    const char *run(const char *data, int64_t bytes) override {
        size_t room = temp_bytes;
        cudaError_t status = row->run(temp, &room, data, out, bytes / width, stream);
        return status == cudaSuccess ? nullptr : cudaGetErrorString(status);
    }
};

class Bench {
    const Arguments &arguments_;
    FILE *out_;
    int sms_ = 0, device_ = 0;
    int64_t l2_ = 0, room_;
    char *data_ = nullptr, *results_ = nullptr;
    void *temp_ = nullptr;
    size_t temp_bytes_ = 64 << 20;
    cudaStream_t stream_;
    std::unique_ptr<TallyContexts> contexts_;
    Checker checker_;
    std::string filled_;
    int64_t filled_bytes_ = 0;
    double first_check_ = 0;                         // seconds of the last check's call, compiling included
    std::map<std::pair<int64_t, bool>, int> shapes_; // the fastest plain read by bytes and mode

  public:
    int wrong = 0, checks = 0;
    std::map<std::string, double> spent; // seconds by activity

    Bench(const Arguments &arguments, FILE *out, int64_t room) : arguments_(arguments), out_(out), room_(room) {
        CHECK(cudaGetDevice(&device_));
        int l2 = 0;
        CHECK(cudaDeviceGetAttribute(&sms_, cudaDevAttrMultiProcessorCount, device_));
        CHECK(cudaDeviceGetAttribute(&l2, cudaDevAttrL2CacheSize, device_));
        l2_ = l2;
        CHECK(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking));
        CHECK(cudaMalloc(&data_, static_cast<size_t>(room_)));
        CHECK(cudaMalloc(&results_, 64 * OUT_BYTES));
        CHECK(cudaMalloc(&temp_, temp_bytes_));
        contexts_.reset(new TallyContexts(device_, stream_));
        line(about_line(device_, arguments.commit, arguments.rounds, arguments.seconds, arguments.command));
    }
    ~Bench() {
        contexts_.reset();
        cudaFree(temp_);
        cudaFree(results_);
        cudaFree(data_);
        cudaStreamDestroy(stream_);
    }

    void line(const std::string &text) {
        std::fprintf(out_, "%s\n", text.c_str());
        std::fflush(out_);
    }

    Windows windows_of(const Case &c) const {
        int64_t count = c.bytes * 4 <= l2_ || c.bytes >= 4 * l2_ ? 1 : (4 * l2_ + c.bytes - 1) / c.bytes;
        return {data_, c.bytes, static_cast<int>(std::max<int64_t>(1, std::min(count, room_ / c.bytes)))};
    }

    void provide(const Case &c, const Windows &windows) {
        double start = now();
        int64_t bytes = windows.count * windows.bytes;
        if (filled_ != c.type + c.data || filled_bytes_ < bytes) {
            fill(c.type, c.data, data_, bytes, sms_, stream_);
            checker_.forget();
            filled_ = c.type + c.data;
            filled_bytes_ = bytes;
        }
        spent["making data"] += now() - start;
    }

    int best_shape(const Case &c, const Windows &windows) {
        auto key = std::make_pair(c.bytes, c.graph);
        if (!shapes_.count(key)) {
            double start = now();
            std::vector<std::unique_ptr<PlainRead>> reads;
            std::vector<std::unique_ptr<Entrant>> owned;
            std::vector<Entrant *> entrants;
            for (const ReadShape &shape : READ_SHAPES) {
                reads.emplace_back(new PlainRead(shape, sms_, stream_));
                reads.back()->out = results_;
                owned.emplace_back(new Entrant(reads.back().get()));
                entrants.push_back(owned.back().get());
                owned.back()->prepare(windows, c.graph, stream_);
            }
            race(entrants, windows, 5, stream_);
            int best = 0;
            for (int k = 1; k < READ_SHAPE_COUNT; k++) {
                best = median(entrants[static_cast<size_t>(k)]->seconds) <
                               median(entrants[static_cast<size_t>(best)]->seconds)
                           ? k
                           : best;
            }
            shapes_[key] = best;
            spent["choosing the plain read"] += now() - start;
        }
        return shapes_[key];
    }

    void read_out(const Contender &contender, char *to) {
        CHECK(cudaStreamSynchronize(stream_));
        CHECK(cudaMemcpy(to, contender.out, OUT_BYTES, cudaMemcpyDeviceToHost));
    }

    // Bit for bit against the CPU, over the whole case or the first 64 MiB of it less three values.
    std::string check(const Case &c, Tally &tally, const Windows &windows) {
        const Problem &p = tally.problem;
        int64_t count = p.count(std::min(c.bytes, CHECKED)) - (c.bytes > CHECKED ? 3 : 0);
        const char *right = windows.data + windows.bytes / 2;
        double start = now();
        CHECK(cudaMemsetAsync(tally.out, 0xab, OUT_BYTES, stream_));
        if (reduce(tally.gpu, p, windows.data, right, count, tally.out, TALLY_NATURAL) != TALLY_OK) {
            return std::string("check: ") + tally_message();
        }
        char got[OUT_BYTES];
        read_out(tally, got);
        first_check_ = now() - start;
        spent["first calls"] += first_check_;
        start = now();
        std::vector<char> expected;
        const char *reason = checker_.expected(tally.cpu, p, windows.data, right, count, TALLY_NATURAL, expected);
        spent["checking on the CPU"] += now() - start;
        if (reason) {
            return std::string("check on the CPU: ") + reason;
        }
        checks++;
        size_t bytes = tally.result_bytes();
        if (std::memcmp(got, expected.data(), bytes) == 0) {
            return "";
        }
        wrong++;
        std::string text = "OTHER BITS over " + std::to_string(count) + " values: GPU " + hex(got, bytes) + ", CPU " +
                           hex(expected.data(), bytes);
        return text;
    }

    // CUB is only asked for roughly the right value.
    std::string check(const Case &c, Cub &cub, const Windows &windows) {
        bool plain_data = c.data != "bits" && c.data != "outliers" && c.data != "normal" && c.data != "lognormal";
        if (!cub.row->gives || !plain_data) {
            return "";
        }
        Problem p(c);
        int64_t count = p.count(std::min(c.bytes, CHECKED)) - (c.bytes > CHECKED ? 3 : 0);
        double start = now();
        const char *failed = cub.run(windows.data, count * p.width);
        if (failed) {
            return failed;
        }
        char got[OUT_BYTES];
        read_out(cub, got);
        std::vector<char> expected;
        const char *reason =
            checker_.expected(contexts_->cpu[0], p, windows.data, windows.data, count, TALLY_F64, expected);
        spent["checking on the CPU"] += now() - start;
        if (reason) {
            return "";
        }
        double is = as_double(cub.row->gives, got), should = as_double("f64", expected.data());
        bool rounded = std::strchr(cub.row->gives, 'f') && (c.op == "sum" || c.op == "sumsq" || c.op == "norm1");
        bool close = std::fabs(is - should) <= (rounded ? 1e-3 : 1e-15) * std::fabs(should);
        return close ? "" : "CUB gives " + format("%.17g", is) + ", Tally " + format("%.17g", should);
    }

    void measure(const Case &c) {
        Windows windows = windows_of(c);
        provide(c, windows);
        Problem p(c);
        std::vector<std::unique_ptr<Contender>> contenders;
        contenders.emplace_back(new PlainRead(READ_SHAPES[best_shape(c, windows)], sms_, stream_));
        if (arguments_.wants("tally")) {
            contenders.emplace_back(new Tally(c, false, *contexts_));
        }
        if (arguments_.wants("fast") && has_fast(c)) {
            contenders.emplace_back(new Tally(c, true, *contexts_));
        }
        CubRows rows = {nullptr, 0};
#define X(name, real) rows = c.type == #name ? cub_rows_##name() : rows;
        BENCH_TYPES(X)
#undef X
        for (int k = 0; k < rows.count && arguments_.wants("cub"); k++) {
            size_t needs = 0;
            if (c.op == rows.row[k].op && p.count(c.bytes) <= INT32_MAX) {
                CHECK(rows.row[k].run(nullptr, &needs, data_, results_, p.count(c.bytes), stream_));
                if (needs > temp_bytes_) {
                    std::fprintf(stderr, "  CUB wants %zu bytes of scratch memory; left out\n", needs);
                    continue;
                }
                contenders.emplace_back(new Cub(&rows.row[k], p.width, temp_, temp_bytes_, stream_));
            }
        }
        std::vector<std::unique_ptr<Entrant>> owned;
        std::vector<Entrant *> entrants;
        std::vector<std::string> warnings;
        for (size_t k = 0; k < contenders.size(); k++) {
            contenders[k]->out = results_ + k * OUT_BYTES;
            owned.emplace_back(new Entrant(contenders[k].get()));
            entrants.push_back(owned.back().get());
            Tally *tally = dynamic_cast<Tally *>(contenders[k].get());
            Cub *cub = dynamic_cast<Cub *>(contenders[k].get());
            warnings.push_back(tally ? check(c, *tally, windows) : cub ? check(c, *cub, windows) : "");
            double start = now();
            bool ready = entrants[k]->prepare(windows, c.graph, stream_);
            spent["first calls"] += now() - start;
            entrants[k]->first = std::max(entrants[k]->first, tally ? first_check_ : 0);
            wrong += !ready && tally;
        }
        double start = now();
        if (arguments_.once) {
            once(entrants, windows);
        } else {
            race(entrants, windows, arguments_.rounds, stream_);
        }
        spent["timing"] += now() - start;
        std::string said;
        for (size_t k = 0; k < entrants.size(); k++) {
            Entrant &e = *entrants[k];
            if (dynamic_cast<Tally *>(e.contender) && e.error.empty() && warnings[k].empty() && !arguments_.once) {
                warnings[k] = repeats(e, windows);
            }
            line(record_line(c, e, windows, warnings[k], l2_));
            said += said.empty() ? "" : ", ";
            said += e.contender->name;
            if (!e.error.empty()) {
                said += " FAILED (" + e.error + ")";
            } else if (c.bytes * 4 <= l2_) {
                said += format(" %.2f us", median(e.seconds) * 1e6);
            } else {
                said += k ? format(" %.3f", median(e.shares))
                          : format(" %.0f GB/s", static_cast<double>(c.bytes) / median(e.seconds) * 1e-9);
            }
            if (!warnings[k].empty()) {
                said += "\n    WARNING: " + warnings[k];
            }
        }
        std::fprintf(stderr, "%s: %s\n", title(c).c_str(), said.c_str());
    }

    // The last call of the last batch, in a graph perhaps, must have left the bits of a call on its own.
    std::string repeats(Entrant &e, const Windows &windows) {
        Tally &tally = static_cast<Tally &>(*e.contender);
        char batch[OUT_BYTES], alone[OUT_BYTES];
        read_out(tally, batch);
        const char *failed = tally.run(windows.at(e.calls - 1), windows.bytes);
        if (failed) {
            return failed;
        }
        read_out(tally, alone);
        checks++;
        if (std::memcmp(batch, alone, tally.result_bytes()) == 0) {
            return "";
        }
        wrong++;
        return "OTHER BITS in a batch, " + hex(batch, tally.result_bytes()) + ", than alone, " +
               hex(alone, tally.result_bytes());
    }

    void once(std::vector<Entrant *> &entrants, const Windows &windows) {
        for (Entrant *e : entrants) {
            if (e->error.empty() &&
                arguments_.wants(e->contender->name == "tally fast" ? "fast" : e->contender->name.c_str())) {
                CHECK(cudaProfilerStart());
                e->enqueue(windows, 1);
                CHECK(cudaStreamSynchronize(stream_));
                CHECK(cudaProfilerStop());
            }
        }
    }
};

} // namespace

int main(int argc, char **argv) {
    Arguments arguments(argc, argv);
    std::vector<Case> cases;
    int64_t room = 1 << 28;
    for (const Case &c : all_cases()) {
        if (arguments.wants(c)) {
            cases.push_back(c);
            room = std::max(room, c.bytes);
        }
    }
    if (arguments.list) {
        for (const Case &c : cases) {
            std::printf("%d %s\n", c.priority, title(c).c_str());
        }
        return 0;
    }
    FILE *out = arguments.out.empty() ? stdout : std::fopen(arguments.out.c_str(), "w");
    if (!out) {
        std::fprintf(stderr, "bench_gpu: cannot write %s\n", arguments.out.c_str());
        return 2;
    }
    double start = now();
    Bench bench(arguments, out, room * 2);
    size_t done = 0;
    for (; done < cases.size() && (arguments.seconds <= 0 || now() - start < arguments.seconds); done++) {
        bench.measure(cases[done]);
    }
    std::string dropped;
    for (size_t k = done; k < cases.size(); k++) {
        dropped += (k > done ? ", " : "") + quoted(title(cases[k]));
        std::fprintf(stderr, "dropped, no time: %s\n", title(cases[k]).c_str());
    }
    std::string spent;
    for (const auto &part : bench.spent) {
        spent += (spent.empty() ? "" : ", ") + quoted(part.first) + ": " + format("%.3f", part.second);
        std::fprintf(stderr, "%8.2f s %s\n", part.second, part.first.c_str());
    }
    bench.line("{\"summary\": {\"cases\": " + std::to_string(done) + ", \"dropped\": [" + dropped +
               "], \"checks\": " + std::to_string(bench.checks) + ", \"wrong\": " + std::to_string(bench.wrong) +
               ", \"spent\": {" + spent + "}, \"seconds\": " + format("%.2f", now() - start) + "}}");
    std::fprintf(stderr, "%8.2f s in all; %zu cases, %zu dropped, %d results checked, %d wrong or failed\n",
                 now() - start, done, cases.size() - done, bench.checks, bench.wrong);
    return bench.wrong ? 1 : 0;
}
