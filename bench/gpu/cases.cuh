// What is measured, the most important first: a time budget drops from the end.
#ifndef CASES_CUH
#define CASES_CUH

#include <algorithm>
#include <vector>

#include "bench_gpu.h"

// The data an operator needs so that no reader can stop early and no result overflows.
inline std::string data_for(const std::string &op, const std::string &type) {
    bool is_float = type == "f32" || type == "f64" || type == "f16" || type == "bf16";
    if (op == "any") {
        return "zeros";
    }
    if (op == "all") {
        return "nonzero";
    }
    if (op == "prod") {
        return "signs";
    }
    if (is_float) {
        return "uniform";
    }
    return op == "sumsq" || op == "dot" || op == "norm2" ? "small" : "random";
}

inline std::vector<Case> all_cases() {
    typedef std::vector<std::string> Names;
    const Names types = {"f32", "f64", "bf16", "f16", "i32", "u8", "i64", "i16"};
    const Names main_ops = {"sum", "min", "argmin", "minmax", "mean", "var", "dot", "norm2"};
    const Names more_ops = {"stats", "logsumexp", "max", "argmax", "count", "sumsq",
                            "norm1", "norminf",   "std", "prod",   "any",   "all"};
    const Names bit_ops = {"and", "or", "xor"};
    std::vector<Case> cases;
    auto add = [&](const char *section, const std::string &op, const std::string &type, const std::string &data,
                   int log2_bytes, bool graph, int priority) {
        cases.push_back({section, op, type, data, int64_t(1) << log2_bytes, graph, priority});
    };
    for (int graph = 0; graph < 2; graph++) {
        for (int log2_bytes = 8; log2_bytes <= (graph ? 28 : 32); log2_bytes += 2) {
            add("sizes", "sum", "f32", "uniform", log2_bytes, graph, log2_bytes % 4 && log2_bytes != 30 ? 1 : 0);
        }
    }
    for (const char *type : {"f32", "f64"}) {
        for (const char *data : {"uniform", "normal", "lognormal", "bits", "outliers"}) {
            add("exact", "sum", type, data, 30, false, 0);
        }
    }
    for (const std::string &type : types) {
        for (const std::string &op : main_ops) {
            bool first =
                type == "f32" || type == "f64" || op == "sum" || ((op == "min" || op == "argmin") && type == "u8");
            add("whole", op, type, data_for(op, type), 30, false, first ? 0 : 1);
            add("whole", op, type, data_for(op, type), 28, false, 2);
        }
        for (const std::string &op : more_ops) {
            bool real = type == "f32" || type == "f64" || type == "bf16" || type == "f16";
            if (op == "logsumexp" && !real) {
                continue;
            }
            bool first = type == "f32" && (op == "stats" || op == "logsumexp");
            int priority = first ? 0 : type == "f32" || type == "f64" ? 1 : 3;
            add("whole", op, type, data_for(op, type), 30, false, priority);
            add("whole", op, type, data_for(op, type), 28, false, type == "f32" ? 2 : 4);
        }
        if (type[0] == 'i' || type[0] == 'u') {
            for (const std::string &op : bit_ops) {
                add("whole", op, type, data_for(op, type), 30, false, 3);
            }
        }
    }
    for (const char *op : {"sum", "min", "argmin", "var"}) {
        for (const char *type : {"f32", "f64", "u8", "bf16"}) {
            add("whole", op, type, data_for(op, type), 32, false, 2);
        }
    }
    std::stable_sort(cases.begin(), cases.end(), [](const Case &a, const Case &b) { return a.priority < b.priority; });
    return cases;
}

// Only there does adding exactly differ from adding in order.
inline bool has_fast(const Case &c) {
    bool is_float = c.type == "f32" || c.type == "f64" || c.type == "f16" || c.type == "bf16";
    for (const char *op : {"sum", "mean", "norm1", "sumsq", "norm2", "dot", "var", "std", "stats"}) {
        if (is_float && c.op == op) {
            return true;
        }
    }
    return false;
}

#endif
