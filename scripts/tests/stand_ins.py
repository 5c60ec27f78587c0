"""Small programs that stand in for sweep, the peer and others, so that the scripts run without a GPU."""

import json
import os
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent

SWEEP = '''
import json, sys
settings = json.load(open({settings!r}))
option = dict(zip(sys.argv[1::1], sys.argv[2::1]))
rows = []
for kernel in option["--kernel"].split(","):
    for block in map(int, option["--block"].split(",")):
        elements = int(option["--size"])
        row = {{"kernel": kernel, "elements": elements, "block": {{"x": block, "y": 1, "z": 1}}, "status": "ok",
               "verified": True, "time": {{"times": "measured", "cache": option["--cache"],
                                         "median_ns": 12 * elements / settings["gb_per_s"][kernel]}}}}
        row.update(settings.get("row", {{}}))
        rows.append(row)
json.dump({{"schema": settings.get("schema", "warplab/report/1"),
           "device": {{"name": "Stand-in", "times": settings.get("times", "measured")}}, "rows": rows}}, sys.stdout)
sys.exit(settings.get("exit", 0))
'''

GRID_SYNC = '''
import json, sys
settings = json.load(open({settings!r}))
option = dict(zip(sys.argv[1:], sys.argv[2:]))
assert option["--method"] == "grid_barrier"
shape = option["--blocks"] + "x" + option["--threads"]
row = {{"kernel": "grid_sync_rounds", "elements": 0, "grid": {{"x": int(option["--blocks"])}}, "block": {{"x": int(option["--threads"])}},
       "status": "ok", "verified": True, "time": {{"times": "measured", "cache": "hot", "median_ns": settings["nanoseconds"][shape]}}}}
row.update(settings.get("row", {{}}))
json.dump({{"schema": "warplab/report/1", "device": {{"name": "Stand-in", "times": "measured"}}, "rows": [row]}}, sys.stdout)
'''

REDUCE = '''
import json, sys
settings = json.load(open({settings!r}))
option = dict(zip(sys.argv[1:], sys.argv[2:]))
assert (option["--block"], option["--cache"]) == ("auto", "hot")
rows = [{{"kernel": kernel, "elements": elements, "block": {{"x": 256}}, "launches": settings.get("launches", 1), "status": "ok",
         "verified": True, "time": {{"times": "measured", "cache": "hot", "median_ns": 4 * elements / rate(elements)}}}}
        for elements in map(int, option["--size"].split(","))
        for kernel, rate in [("read_sum_f32", lambda _: 4000), ("reduce_gather_sum_f32", lambda _: 1000),
                             ("reduce_overlapped_sum_f32", lambda n: settings["gb_per_s"].get(str(n), 1300))]]
json.dump({{"schema": "warplab/report/1", "device": {{"name": "Stand-in", "times": "measured"}}, "rows": rows}}, sys.stdout)
'''

PEER = '''
import json, sys
settings = json.load(open({settings!r}))
option = dict(zip(sys.argv[2::2], sys.argv[3::2]))
if sys.argv[1] == "gridsync":
    for shape in option["--shape"].split(","):
        grid, block = map(int, shape.split("x"))
        print(json.dumps({{"part": "gridsync", "kernel": "cooperative_groups", "grid": grid, "block": block,
                          "median_us": settings["microseconds"][shape], "verified": settings.get("verified", True)}}))
    sys.exit(0)
if sys.argv[1] == "reduce":
    for elements in map(int, option["--elements"].split(",")):
        print(json.dumps({{"part": "reduce", "kernel": "cub::DeviceReduce::Sum", "elements": elements, "gb_per_s": 1000,
                          "verified": settings.get("verified", True)}}))
    sys.exit(0)
assert sys.argv[1] == "add"
print(settings.get("prints", ""), end="")
for kernel in option["--kernel"].split(","):
    for block in map(int, option["--block"].split(",")):
        print(json.dumps({{"part": "add", "kernel": kernel, "block": block, "gb_per_s": settings["gb_per_s"][kernel],
                          "verified": settings.get("verified", True)}}))
'''

# Writes the files it is asked for, and a report of these rows.
REPORTER = '''
import json, sys
option = dict(zip(sys.argv[1:], sys.argv[2:]))
for ending in ("json", "svg", "csv", "md"):
    if "--" + ending in option and ending not in {missing!r}:
        open(option["--" + ending], "w").write({json!r} if ending == "json" else ending)
print("printed")
'''

# Finds nothing, and in `tile` a race in each of these kernels.
COMPUTE_SANITIZER = '''
import pathlib, sys
tool, program = sys.argv[2], next(pathlib.Path(argument).name for argument in sys.argv[3:] if "/" in argument)
assert sys.argv[1] == "--tool" and "--quiet" in sys.argv
if (program, tool) == ("tile", "racecheck"):
    assert "--error-exitcode" not in sys.argv
    for kernel in {kernels!r}:
        print(f"========= Error: Race reported between Read access at {{kernel}}+0x40")
elif tool == "racecheck":
    print("========= RACECHECK SUMMARY: 0 hazards displayed (0 errors, 0 warnings)")
else:
    print("========= ERROR SUMMARY: 0 errors")
'''

# A PyTorch whose sum takes 1 us, and whose pair of events costs 8 us: an array of n elements is n, its sum n / 2.
TORCH = '''
import contextlib
from unittest.mock import MagicMock

float64 = "float64"
rand = lambda elements, device: elements
launched = 0


class Scalar:
    def __init__(self, value):
        self.value = value

    def item(self):
        return self.value


def full(shape, value, device):
    return Scalar(value)


def sum(values, dim, out=None, dtype=None):
    global launched
    launched += 1
    result = out or Scalar(None)
    result.value = values / 2
    return result


@contextlib.contextmanager
def capture(graph):
    global launched
    launched = 0
    yield


cuda = MagicMock()
cuda.graph = capture
cuda.Event.return_value.elapsed_time = lambda _: (8 + launched) * 1e-3
'''


def program(path, source):
    """Writes an executable Python program."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!{sys.executable}\n{source}")
    path.chmod(0o755)
    return path


def sweep(folder, **settings):
    file = folder / "sweep-settings.json"
    file.write_text(json.dumps(settings))
    return program(folder / "sweep", SWEEP.format(settings=str(file)))


def grid_sync(folder, **settings):
    file = folder / "grid-sync-settings.json"
    file.write_text(json.dumps(settings))
    return program(folder / "grid_sync", GRID_SYNC.format(settings=str(file)))


def reduce(folder, **settings):
    file = folder / "reduce-settings.json"
    file.write_text(json.dumps(settings))
    return program(folder / "reduce", REDUCE.format(settings=str(file)))


def peer(folder, **settings):
    file = folder / "peer-settings.json"
    file.write_text(json.dumps(settings))
    return program(folder / "peer", PEER.format(settings=str(file)))


def reporter(folder, name, rows=({"kernel": "one", "status": "ok", "verified": True},), times="measured", missing=(), text=None):
    """A program that reports these rows and does not write files of the missing endings."""
    report = {"command": [], "device": {"times": times}, "rows": rows, "records": [{"row": 0, "block_id": 0, "warp": 0, "clock": 1}]}
    return program(folder / name, REPORTER.format(json=json.dumps(report) if text is None else text, missing=missing))


def compute_sanitizer(folder, *kernels):
    """A folder to find it in."""
    return program(folder / "tools" / "compute-sanitizer", COMPUTE_SANITIZER.format(kernels=kernels or ["tile_neighbour_racy"])).parent


def torch(folder):
    """A folder to import it from."""
    (folder / "python").mkdir()
    (folder / "python" / "torch.py").write_text(TORCH)
    return folder / "python"


def script(name, *arguments, **environment):
    """Runs one of the scripts to its end, with these variables besides the environment's own."""
    return subprocess.run([sys.executable, ROOT / "scripts" / name, *map(str, arguments)], stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=60, check=False,
                          env={**os.environ, **{name: str(value) for name, value in environment.items()}})
