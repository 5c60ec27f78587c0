#!/usr/bin/env python3
"""The PyTorch side of warplab's comparisons: sums of float32 on one GPU, medians of CUDA graph replays.

    python3 peers/torch_peer.py --elements 1024,1048576,268435456

One line of JSON per result, in the form of the CUDA C++ peer. Exit status: 0 every result verified,
1 a wrong result or no GPU, 2 usage.
"""

import argparse
import json
import statistics
import sys

WARM_UP = 3
REPLAYS = 30


def launches_in_graph(elements):
    """The rule of peers/reduce.cuh: short sums need more of them in a graph to outlast the events' cost."""
    return 8 if elements > 1 << 24 else 40


def measure(torch, launch, launches):
    """Microseconds of one launch, one sample per replay of a graph that holds `launches` of them."""
    side = torch.cuda.Stream()
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        launch()
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        for _ in range(launches):
            launch()
    samples = []
    for _ in range(WARM_UP + REPLAYS):
        start, stop = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        # A replay goes ahead, so that the time does not begin with the host's own launch of the graph.
        graph.replay()
        start.record()
        graph.replay()
        stop.record()
        torch.cuda.synchronize()
        samples.append(start.elapsed_time(stop) * 1e3 / launches)
    return samples[WARM_UP:]


def report(elements, samples, verified):
    moved = 4 * elements
    lower, median, upper = statistics.quantiles(samples, n=4, method="inclusive")
    print(json.dumps({
        "part": "sum", "kernel": "torch.sum", "elements": elements, "samples": len(samples),
        "median_us": median, "lower_quartile_us": lower, "upper_quartile_us": upper,
        "bytes": moved, "gb_per_s": moved / median / 1e3, "verified": verified,
    }), flush=True)
    return verified


def total(torch, elements):
    values = torch.rand(elements, device="cuda")
    out = torch.full((), float("nan"), device="cuda")
    samples = measure(torch, lambda: torch.sum(values, dim=0, out=out), launches_in_graph(elements))
    expected = torch.sum(values, dim=0, dtype=torch.float64).item()
    # The bound of peers/reference.cuh: no value passes through more additions than this.
    depth = 64 + elements / 2**18 + 2 * elements.bit_length()
    verified = abs(out.item() - expected) <= depth * 2.0**-24 * expected
    return report(elements, samples, verified)


def element_counts(text):
    counts = [int(item) for item in text.split(",")]
    if min(counts) < 1:
        raise ValueError
    return counts


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--elements", type=element_counts, default=[1 << 28],
                        help="numbers of elements, separated by commas (default: 2^28)")
    arguments = parser.parse_args()
    try:
        import torch
    except ImportError:
        sys.exit("torch_peer: PyTorch is required and not installed (pip install torch)")
    if not torch.cuda.is_available():
        sys.exit("torch_peer: PyTorch sees no CUDA GPU")
    # A list, so that one wrong result does not hide those after it.
    return 0 if all([total(torch, elements) for elements in arguments.elements]) else 1


if __name__ == "__main__":
    sys.exit(main())
