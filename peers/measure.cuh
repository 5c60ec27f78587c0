// How a peer is measured: the median over replays of a CUDA graph that holds several launches,
// divided by their number, so that launch latency and the events' own cost stay out. (An event pair
// around one launch reads 5 to 13 us more on an H200.) The first replays are a warm-up.
#pragma once
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <vector>

#define CHECK(call)                                                                                                    \
    do {                                                                                                               \
        cudaError_t error = (call);                                                                                    \
        if (error != cudaSuccess) {                                                                                    \
            fprintf(stderr, "peer: %s:%d: %s: %s\n", __FILE__, __LINE__, #call, cudaGetErrorString(error));            \
            exit(1);                                                                                                   \
        }                                                                                                              \
    } while (0)

// Microseconds of one launch.
struct Timing {
    double median, lower_quartile, upper_quartile;
    size_t samples;
};

inline Timing summarise(std::vector<double> samples) {
    std::sort(samples.begin(), samples.end());
    // Linear interpolation between the two nearest samples.
    auto quantile = [&](double q) {
        double position = q * (samples.size() - 1);
        size_t below = (size_t)position, above = std::min(below + 1, samples.size() - 1);
        return samples[below] + (position - below) * (samples[above] - samples[below]);
    };
    return {quantile(0.5), quantile(0.25), quantile(0.75), samples.size()};
}

class Clock {
  public:
    cudaStream_t stream;

    Clock() {
        CHECK(cudaStreamCreate(&stream));
        CHECK(cudaEventCreate(&begin));
        CHECK(cudaEventCreate(&end));
    }

    ~Clock() {
        cudaEventDestroy(begin);
        cudaEventDestroy(end);
        cudaStreamDestroy(stream);
    }

    // `launch` must launch on `stream` and do nothing else.
    Timing graph(size_t launches, size_t replays, const std::function<void()>& launch) {
        cudaGraph_t graph;
        cudaGraphExec_t executable;
        CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
        for (size_t i = 0; i < launches; i++) launch();
        CHECK(cudaStreamEndCapture(stream, &graph));
        CHECK(cudaGraphInstantiate(&executable, graph, 0));
        auto replay = [&] { CHECK(cudaGraphLaunch(executable, stream)); };
        // A replay goes ahead of each that is timed: on an idle stream the time would begin with the host's
        // own launch of the graph.
        auto timing = repeat(launches, replays, replay, replay);
        CHECK(cudaGraphExecDestroy(executable));
        CHECK(cudaGraphDestroy(graph));
        return timing;
    }

    // Times `work` itself between two events, each time after `lead`; a sample is its time divided by
    // `parts`. For work that a graph cannot hold, and long enough that the events' cost does not matter.
    Timing repeat(size_t parts, size_t replays, const std::function<void()>& work,
                  const std::function<void()>& lead = [] {}) {
        const size_t warm_up = 3;
        std::vector<double> samples;
        for (size_t i = 0; i < warm_up + replays; i++) {
            float milliseconds;
            lead();
            CHECK(cudaEventRecord(begin, stream));
            work();
            CHECK(cudaEventRecord(end, stream));
            CHECK(cudaEventSynchronize(end));
            CHECK(cudaEventElapsedTime(&milliseconds, begin, end));
            if (i >= warm_up) samples.push_back(milliseconds * 1e3 / parts);
        }
        return summarise(samples);
    }

  private:
    cudaEvent_t begin, end;
};

// Prints one result as a line of JSON. `fields` are further members, each written as `"name":value,`.
// A result that is not verified is printed too, and the program ends with status 1.
inline bool report(const char* part, const char* kernel, const std::string& fields, const Timing& timing, double bytes,
                   bool verified) {
    printf("{\"part\":\"%s\",\"kernel\":\"%s\",%s\"samples\":%zu,\"median_us\":%.6g,\"lower_quartile_us\":%.6g,"
           "\"upper_quartile_us\":%.6g,\"bytes\":%.0f,\"gb_per_s\":%.6g,\"verified\":%s}\n",
           part, kernel, fields.c_str(), timing.samples, timing.median, timing.lower_quartile, timing.upper_quartile,
           bytes, bytes / timing.median / 1e3, verified ? "true" : "false");
    fflush(stdout);
    return verified;
}

inline std::string field(const char* name, size_t value) {
    return "\"" + std::string(name) + "\":" + std::to_string(value) + ",";
}
