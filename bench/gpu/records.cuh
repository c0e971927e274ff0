// What bench_gpu writes: JSON lines, and titles of cases.
#ifndef BENCH_RECORDS_CUH
#define BENCH_RECORDS_CUH

#include <cub/version.cuh>

#include <algorithm>
#include <ctime>

#include "bench_gpu.h"
#include "tally_contender.cuh"
#include "timing.cuh"

inline std::string quoted(const std::string &text) {
    std::string out = "\"";
    for (char c : text) {
        if (c == '"' || c == '\\') {
            out += '\\';
        }
        out += static_cast<unsigned char>(c) < 32 ? ' ' : c;
    }
    return out + "\"";
}

inline std::string format(const char *how, double x) {
    char text[64];
    std::snprintf(text, sizeof text, how, x);
    return text;
}

inline std::string title(const Case &c) {
    const char *units[] = {"B", "KiB", "MiB", "GiB"};
    int unit = 0;
    int64_t size = c.bytes;
    for (; size >= 1024 && unit < 3; unit++) {
        size /= 1024;
    }
    return c.section + " " + c.op + " " + c.type + " " + c.data + " " + std::to_string(size) + " " + units[unit] +
           (c.graph ? " graph" : " stream");
}

inline std::string hex(const char *bytes, size_t count) {
    std::string out;
    for (size_t k = 0; k < count; k++) {
        char two[3];
        std::snprintf(two, sizeof two, "%02x", static_cast<unsigned>(static_cast<unsigned char>(bytes[k])));
        out += two;
    }
    return out;
}

// The first line: the machine, the versions, and how it was called.
inline std::string about_line(int device_number, const std::string &commit, int rounds, double limit,
                              const std::string &command) {
    cudaDeviceProp device;
    int driver = 0, runtime = 0, clock = 0, sms = 0, l2 = 0;
    CHECK(cudaGetDeviceProperties(&device, device_number));
    CHECK(cudaDriverGetVersion(&driver));
    CHECK(cudaRuntimeGetVersion(&runtime));
    CHECK(cudaDeviceGetAttribute(&clock, cudaDevAttrClockRate, device_number));
    CHECK(cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, device_number));
    CHECK(cudaDeviceGetAttribute(&l2, cudaDevAttrL2CacheSize, device_number));
    char date[32];
    std::time_t seconds = std::time(nullptr);
    std::strftime(date, sizeof date, "%Y-%m-%dT%H:%M:%SZ", std::gmtime(&seconds));
    return "{\"about\": {\"gpu\": " + quoted(device.name) + ", \"sms\": " + std::to_string(sms) +
           ", \"l2_bytes\": " + std::to_string(l2) + ", \"memory_bytes\": " + std::to_string(device.totalGlobalMem) +
           ", \"max_clock_khz\": " + std::to_string(clock) + ", \"capability\": \"" + std::to_string(device.major) +
           "." + std::to_string(device.minor) + "\", \"driver\": " + std::to_string(driver) +
           ", \"runtime\": " + std::to_string(runtime) + ", \"cub\": " + std::to_string(CUB_VERSION) +
           ", \"tally\": " + quoted(tally_version()) + ", \"commit\": " + quoted(commit) +
           ", \"cpu_isa\": " + quoted(tally_cpu_isa()) + ", \"cpu_threads\": " + std::to_string(tally_cpu_threads()) +
           ", \"rounds\": " + std::to_string(rounds) + ", \"seconds\": " + format("%g", limit) +
           ", \"command\": " + quoted(command) + ", \"date\": \"" + date + "\"}}";
}

// A contender's line of a case. `l2`: bytes of the L2.
inline std::string record_line(const Case &c, const Entrant &e, const Windows &windows, const std::string &warning,
                               int64_t l2) {
    Problem p(c);
    std::string text = "{\"section\": " + quoted(c.section) + ", \"op\": " + quoted(c.op) +
                       ", \"type\": " + quoted(c.type) + ", \"data\": " + quoted(c.data) +
                       ", \"count\": " + std::to_string(p.count(c.bytes)) + ", \"mode\": \"" +
                       (c.graph ? "graph" : "stream") + "\", \"where\": \"" + (c.bytes * 4 <= l2 ? "L2" : "memory") +
                       "\", \"contender\": " + quoted(e.contender->name) + ", \"via\": " + quoted(e.contender->via) +
                       ", \"bytes\": " + std::to_string(c.bytes) + ", \"windows\": " + std::to_string(windows.count);
    if (!e.seconds.empty() && e.error.empty()) {
        std::vector<double> sorted = e.seconds;
        std::sort(sorted.begin(), sorted.end());
        double seconds = median(sorted);
        text += ", \"seconds\": " + format("%.6g", seconds) + ", \"least\": " + format("%.6g", sorted.front()) +
                ", \"lower\": " + format("%.6g", sorted[sorted.size() / 4]) +
                ", \"upper\": " + format("%.6g", sorted[sorted.size() * 3 / 4]) +
                ", \"repeats\": " + std::to_string(sorted.size()) + ", \"calls\": " + std::to_string(e.calls) +
                ", \"gb_per_s\": " + format("%.6g", static_cast<double>(c.bytes) / seconds * 1e-9);
        if (!e.shares.empty()) {
            text += ", \"of_plain\": " + format("%.5g", median(e.shares));
        }
        text += ", \"first_call\": " + format("%.4g", e.first);
    } else {
        text += ", \"error\": " + quoted(e.error.empty() ? "not timed" : e.error);
    }
    if (!e.capture.empty()) {
        text += ", \"capture\": " + quoted(e.capture);
    }
    if (!warning.empty()) {
        text += ", \"warning\": " + quoted(warning);
    }
    return text + "}";
}

#endif
