// How things are timed: back-to-back calls between two events, on a stream or as the nodes of a graph in a chain. In each
// round every contender of a case has one batch, in an order that moves on by one, so that a drift of the clocks hits all;
// times are medians of the rounds, shares of the plain read the medians of the shares within the rounds.
#ifndef TIMING_CUH
#define TIMING_CUH

#include <algorithm>
#include <chrono>
#include <vector>

#include "bench_gpu.h"

inline double now() {
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

inline double median(std::vector<double> of) {
    std::sort(of.begin(), of.end());
    size_t half = of.size() / 2;
    return of.empty() ? 0 : of.size() % 2 ? of[half] : (of[half - 1] + of[half]) / 2;
}

// Where the bytes of call k lie: calls go through windows of the array that together exceed the L2, if the case is larger
// than a quarter of the L2; else all read the first, which stays in the L2.
struct Windows {
    const char *data;
    int64_t bytes;
    int count;
    const char *at(int k) const { return data + (k % count) * bytes; }
};

class Entrant { // a contender of a case, with its times
    cudaGraphExec_t graph_ = nullptr;
    cudaEvent_t from_, to_;

  public:
    Contender *contender;
    int calls = 0;
    double first = 0; // seconds of the first call: compiling, loading
    std::vector<double> seconds, shares;
    std::string error, capture; // capture: how a graph could be recorded

    explicit Entrant(Contender *contender_) : contender(contender_) {
        CHECK(cudaEventCreate(&from_));
        CHECK(cudaEventCreate(&to_));
    }
    Entrant(const Entrant &) = delete;
    ~Entrant() {
        if (graph_) {
            cudaGraphExecDestroy(graph_);
        }
        cudaEventDestroy(from_);
        cudaEventDestroy(to_);
    }

    bool enqueue(const Windows &windows, int calls_now) {
        for (int k = 0; k < calls_now; k++) {
            const char *wrong = contender->run(windows.at(k), windows.bytes);
            if (wrong) {
                error = wrong;
                return false;
            }
        }
        return true;
    }

    // Warms up, decides how many calls fill a batch, and records the graph.
    bool prepare(const Windows &windows, bool graph, cudaStream_t stream) {
        double start = now();
        if (!enqueue(windows, 1)) {
            return false;
        }
        CHECK(cudaStreamSynchronize(stream));
        first = now() - start;
        calls = 3;
        if (!enqueue(windows, 1)) {
            return false;
        }
        double each = batch(windows, stream);
        int least = windows.bytes <= int64_t(1) << 28 ? 20 : 5, most = graph ? 100 : 300;
        calls = std::max(least, static_cast<int>(std::min<double>(most, 2e-3 / std::max(each, 1e-9))));
        return !graph || record(windows, stream);
    }

    // Seconds of one call, of a batch.
    double batch(const Windows &windows, cudaStream_t stream) {
        CHECK(cudaEventRecord(from_, stream));
        if (graph_) {
            CHECK(cudaGraphLaunch(graph_, stream));
        } else if (!enqueue(windows, calls)) {
            return 0;
        }
        CHECK(cudaEventRecord(to_, stream));
        CHECK(cudaStreamSynchronize(stream));
        float ms = 0;
        CHECK(cudaEventElapsedTime(&ms, from_, to_));
        return ms * 1e-3 / calls;
    }

  private:
    bool record(const Windows &windows, cudaStream_t stream) {
        const cudaStreamCaptureMode modes[] = {cudaStreamCaptureModeGlobal, cudaStreamCaptureModeRelaxed};
        const char *const names[] = {"global", "relaxed"};
        for (int k = 0; k < 2; k++) { // strict first, as most programs do
            cudaGraph_t recorded = nullptr;
            CHECK(cudaStreamBeginCapture(stream, modes[k]));
            bool enqueued = enqueue(windows, calls);
            cudaError_t status = cudaStreamEndCapture(stream, &recorded);
            if (enqueued && status == cudaSuccess && recorded) {
                status = cudaGraphInstantiate(&graph_, recorded, 0);
            }
            if (recorded) {
                cudaGraphDestroy(recorded);
            }
            cudaGetLastError(); // of a capture that failed; what harms the device shows at the next call
            if (enqueued && status == cudaSuccess && graph_) {
                capture = names[k];
                error.clear();
                CHECK(cudaGraphUpload(graph_, stream));
                CHECK(cudaGraphLaunch(graph_, stream));
                CHECK(cudaStreamSynchronize(stream));
                return true;
            }
            if (error.empty()) {
                error = std::string("capture: ") + cudaGetErrorString(status);
            }
        }
        return false;
    }
};

// All rounds of a case. entrants[0] is the plain read.
inline void race(std::vector<Entrant *> &entrants, const Windows &windows, int rounds, cudaStream_t stream) {
    for (int round = 0; round < rounds; round++) {
        std::vector<double> got(entrants.size(), 0);
        for (size_t k = 0; k < entrants.size(); k++) {
            size_t turn = (k + static_cast<size_t>(round)) % entrants.size();
            Entrant *e = entrants[turn];
            if (e->error.empty() && e->enqueue(windows, 1)) {
                got[turn] = e->batch(windows, stream);
            }
        }
        for (size_t k = 0; k < entrants.size(); k++) {
            if (got[k] > 0) {
                entrants[k]->seconds.push_back(got[k]);
                if (got[0] > 0) {
                    entrants[k]->shares.push_back(got[0] / got[k]);
                }
            }
        }
    }
}

#endif
