// Tally on the device, and the check of its results: the CPU backend reduces a copy, and the bits must be the same.
#ifndef TALLY_CONTENDER_CUH
#define TALLY_CONTENDER_CUH

#include <cstring>
#include <map>
#include <vector>

#include "bench_gpu.h"
#include "tally/tally.h"

struct Problem { // what a contender needs to know of a case
    tally_op op;
    tally_type type;
    int inputs;
    int64_t width; // bytes of a value

    explicit Problem(const Case &c)
        : op(tally_op_from_name(c.op.c_str())), type(tally_type_from_name(c.type.c_str())), inputs(tally_op_inputs(op)),
          width(static_cast<int64_t>(tally_type_size(type))) {}
    int64_t count(int64_t bytes) const { return bytes / (width * inputs); }
};

inline tally_status reduce(tally_context *context, const Problem &p, const char *left, const char *right, int64_t count,
                           void *out, tally_type out_type) {
    tally_output output = tally_out(out, out_type, 1);
    return p.inputs == 2
               ? tally_reduce_pair(context, p.op, tally_in(left, p.type, count), tally_in(right, p.type, count), output)
               : tally_reduce(context, p.op, tally_in(left, p.type, count), output);
}

inline tally_context *make_context(const tally_options &options) {
    tally_context *context = nullptr;
    if (tally_context_create(nullptr, &context) != TALLY_OK || tally_set_options(context, &options) != TALLY_OK) {
        std::fprintf(stderr, "bench_gpu: no context: %s\n", tally_message());
        std::exit(2);
    }
    return context;
}

// Contexts last for the whole run: compiled kernels are kept in them. [0] exact, [1] fast.
struct TallyContexts {
    tally_context *gpu[2], *cpu[2];

    TallyContexts(int device, cudaStream_t stream) {
        for (int fast = 0; fast < 2; fast++) {
            tally_options options = TALLY_OPTIONS_INIT;
            options.accuracy = fast ? TALLY_FAST : TALLY_BEST;
            options.backend = TALLY_BACKEND_CPU;
            cpu[fast] = make_context(options);
            options.backend = TALLY_BACKEND_AUTO;
            options.device = device;
            options.stream = stream;
            gpu[fast] = make_context(options);
        }
    }
    ~TallyContexts() {
        for (int fast = 0; fast < 2; fast++) {
            tally_context_destroy(gpu[fast]);
            tally_context_destroy(cpu[fast]);
        }
    }
};

struct Tally : Contender {
    Problem problem;
    tally_context *gpu, *cpu;

    Tally(const Case &c, bool fast, const TallyContexts &contexts)
        : problem(c), gpu(contexts.gpu[fast]), cpu(contexts.cpu[fast]) {
        name = fast ? "tally fast" : "tally";
        via = "tally_reduce";
    }
    const char *run(const char *data, int64_t bytes) override {
        tally_status status = reduce(gpu, problem, data, data + bytes / 2, problem.count(bytes), out, TALLY_NATURAL);
        return status == TALLY_OK ? nullptr : tally_message();
    }
    size_t result_bytes() const {
        size_t bytes = 0;
        return tally_result_type(gpu, problem.op, problem.type, nullptr, &bytes) == TALLY_OK ? bytes : 0;
    }
};

// Copies of what lies on the device and the CPU's results of them; both are forgotten when the data change.
class Checker {
    std::vector<char> left_, right_;
    const char *left_of_ = nullptr, *right_of_ = nullptr;
    std::map<std::string, std::vector<char>> known_;

    static void copy(std::vector<char> &to, const char *&of, const char *from, int64_t bytes) {
        if (of != from || static_cast<int64_t>(to.size()) < bytes) {
            to.resize(static_cast<size_t>(bytes));
            CHECK(cudaMemcpy(to.data(), from, static_cast<size_t>(bytes), cudaMemcpyDeviceToHost));
            of = from;
        }
    }

  public:
    void forget() {
        left_of_ = right_of_ = nullptr;
        left_.clear();
        right_.clear();
        known_.clear();
    }

    // The CPU's result over the first `count` values, in `type`; NULL and a reason if there is none.
    const char *expected(tally_context *cpu, const Problem &p, const char *left, const char *right, int64_t count,
                         tally_type type, std::vector<char> &result) {
        std::string key = std::to_string(p.op) + "/" + std::to_string(count) + "/" + std::to_string(type) + "/" +
                          std::to_string(reinterpret_cast<uintptr_t>(cpu)) + "/" +
                          std::to_string(reinterpret_cast<uintptr_t>(left)) + "/" +
                          std::to_string(reinterpret_cast<uintptr_t>(p.inputs == 2 ? right : nullptr));
        auto found = known_.find(key);
        if (found == known_.end()) {
            copy(left_, left_of_, left, count * p.width);
            if (p.inputs == 2) {
                copy(right_, right_of_, right, count * p.width);
            }
            std::vector<char> out(OUT_BYTES, static_cast<char>(0xab));
            if (reduce(cpu, p, left_.data(), right_.data(), count, out.data(), type) != TALLY_OK) {
                return tally_message();
            }
            found = known_.emplace(key, out).first;
        }
        result = found->second;
        return nullptr;
    }
};

#endif
