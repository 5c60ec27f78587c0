"""scripts/gpu-check on a pack of stand-ins."""

import json
import os
import pathlib
import tarfile
import tempfile
import time
import unittest

import stand_ins

TEST = '''
import os, sys, time
print("require", os.environ["WARPLAB_REQUIRE_GPU"], "in", os.getcwd())
{body}
'''
PROGRAMS = ["sweep", "clocks", "geometry", "order", "tile", "shuffle", "grid_sync", "reduce"]
# Of each step of programs that write reports, their names.
PROGRAM_STEPS = {"geometry": ["geometry", "order", "tile"], "shuffle": ["shuffle", "shuffle-all"], "grid_sync": ["grid_sync"],
                 "reduce": ["reduce", "reduce-sizes", "reduce-types", "reduce-large"]}
PASSING = 'print("test result: ok. 3 passed; 0 failed; 1 ignored; 0 measured")'


class GpuCheck(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def check(self, bodies, *arguments, tools=None):
        """Runs steps over a pack with one test executable per body and the stand-ins that the folder holds."""
        pack = self.folder / "pack"
        pack.mkdir(exist_ok=True)
        manifest = {"schema": "warplab/gpu-pack/1", "workspace": str(self.folder / "built" / "here"),
                    "target": str(self.folder / "built" / "target"), "programs": PROGRAMS, "tests": []}
        with tarfile.open(pack / "programs.tar.xz", "w:xz") as archive:
            for name in PROGRAMS:
                if not (self.folder / name).exists():
                    stand_ins.program(self.folder / name, "pass")
                archive.add(self.folder / name, arcname=f"release/{name}")
            for number, body in enumerate(bodies):
                file = f"release/deps/test{number}"
                archive.add(stand_ins.program(self.folder / f"test{number}", TEST.format(body=body)), arcname=file)
                manifest["tests"].append({"package": "host", "kind": "test", "name": f"test{number}", "file": file})
        (pack / "manifest.json").write_text(json.dumps(manifest))
        path = os.environ["PATH"] if tools is None else f"{tools}:{os.environ['PATH']}"
        return stand_ins.script("gpu-check", pack, *arguments, "--out", self.folder / "out", PATH=path)

    def summary(self):
        return (self.folder / "out" / "summary.md").read_text()

    def log(self):
        return (self.folder / "out" / "gpu-check.log").read_text()

    def test_passing_tests_run_in_their_package_with_the_gpu_required(self):
        done = self.check([PASSING], "tests")
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertIn(f"require 1 in {stand_ins.ROOT / 'host'}", self.log())
        self.assertIn("3 passed, 1 ignored", (self.folder / "out" / "summary.md").read_text())

    def test_a_failure_is_reported_and_the_rest_still_runs(self):
        done = self.check(["sys.exit(101)", PASSING], "tests")
        self.assertEqual(done.returncode, 1)
        summary = (self.folder / "out" / "summary.md").read_text()
        self.assertIn("exit status 101", summary)
        self.assertIn("3 passed", summary)

    def test_success_without_a_test_result_is_a_failure(self):
        self.assertEqual(self.check(["pass"], "tests").returncode, 1)

    def test_paths_compiled_in_exist_while_tests_run_and_are_removed_after(self):
        built = self.folder / "built"
        body = f"assert os.path.isdir({str(built / 'here' / 'host')!r}); assert os.path.isfile({str(built / 'target/release/sweep')!r}); {PASSING}"
        done = self.check([body], "tests")
        self.assertEqual(done.returncode, 0, done.stdout)
        self.assertFalse((built / "here").is_symlink())

    def test_the_budget_ends_what_runs_and_keeps_what_was_printed(self):
        start = time.monotonic()
        done = self.check(["print('before', flush=True); time.sleep(50)", PASSING], "tests", "--budget", "3")
        self.assertLess(time.monotonic() - start, 20)
        self.assertEqual(done.returncode, 1)
        self.assertIn("before", self.log())
        self.assertIn("not run: the time budget is used up", done.stdout)

    def test_a_sweep_that_writes_nothing_fails(self):
        done = self.check([], "sweep")
        self.assertEqual(done.returncode, 1)
        self.assertIn("not written: sweep.json, sweep.svg, sweep.md", done.stdout)

    def clocks(self, clock_of_lane):
        """Runs step `clocks` over a stand-in whose one warp of 3 threads reads these clocks."""
        program = """
import json, sys
option = dict(zip(sys.argv[1:], sys.argv[2:]))
records = [{"row": 0, "block_id": 0, "warp": 0, "clock": clock} for clock in %r]
report = {"command": sys.argv[1:], "device": {"times": "measured"}, "rows": [{"status": "ok", "verified": True}], "records": records}
json.dump(report, open(option["--json"], "w"))
open(option["--svg"], "w").write("<svg/>")
print("the listing")
"""
        stand_ins.program(self.folder / "clocks", program % (clock_of_lane,))
        return self.check([], "clocks")

    def test_listings_come_back_in_one_file(self):
        done = self.clocks([7, 7, 7])
        self.assertEqual(done.returncode, 0, done.stdout)
        self.assertIn("one clock value in 1 of 1 warps of 3 threads", done.stdout)
        with tarfile.open(self.folder / "out" / "clocks.tar.gz") as archive:
            names = archive.getnames()
            listing = archive.extractfile("clocks.txt").read().decode()
        self.assertEqual(names, [f"{name}.{ending}" for name in ("clocks-grid", "clocks", "thread-map")
                                 for ending in ("json", "svg", "txt")])
        self.assertIn("the listing", listing)

    def test_a_warp_with_two_clock_values_fails(self):
        done = self.clocks([7, 8, 7])
        self.assertEqual(done.returncode, 1)
        self.assertIn("one clock value in 0 of 1 warps", done.stdout)

    def test_programs_that_write_no_report_fail_their_rows_and_the_rest_still_runs(self):
        broken = stand_ins.program(self.folder / "broken" / "compute-sanitizer", "raise SystemExit(86)")
        done = self.check([], *PROGRAM_STEPS, tools=broken.parent)
        self.assertEqual((done.returncode, done.stderr), (1, ""))
        for step, names in PROGRAM_STEPS.items():
            for name in names:
                self.assertRegex(self.summary(), rf"\| {step} \| {name} \| \*\*FAILED\*\* \| [0-9.]+ \| not written: {name}\.json")
            for tool in ("memcheck", "racecheck", "initcheck", "synccheck"):
                self.assertRegex(self.summary(), rf"\| {step} \| {names[0]} under {tool} \| .* \| exit status 86 \|")
            with tarfile.open(self.folder / "out" / f"{step}.tar.gz") as archive:
                self.assertEqual(archive.getnames(), sorted(f"{step}/{name}.txt" for name in names))

    def test_a_figure_that_is_missing_fails_its_row(self):
        stand_ins.reporter(self.folder, "shuffle", missing=["svg"])
        self.assertEqual(self.check([], "shuffle").returncode, 1)
        self.assertIn("not written: shuffle-all.svg", self.summary())

    def test_every_step_judges_rows_alike(self):
        good = {"kernel": "one", "status": "ok", "verified": True}
        cases = {
            "2 of 2 rows good, measured": {"rows": [good, {"kernel": "two", "status": "ok"}]},
            "1 of 2 rows good, measured": {"rows": [good, {**good, "verified": False}]},
            "0 of 1 rows good, measured": {"rows": [{**good, "status": "skipped", "verified": False}]},
            "0 of 0 rows good, measured": {"rows": []},
            "1 of 1 rows good, modelled": {"times": "modelled"},
            "what it wrote cannot be read": {"text": "{"},
        }
        for remark, report in cases.items():
            with self.subTest(remark):
                for program in PROGRAMS:
                    stand_ins.reporter(self.folder, program, **report)
                passed = remark.startswith("2 of 2")
                tools = stand_ins.compute_sanitizer(self.folder) if passed else None
                done = self.check([], "sweep", "clocks", *PROGRAM_STEPS, tools=tools)
                reports = [line for line in self.summary().splitlines()[2:] if " under " not in line]
                result = "passed" if passed else "**FAILED**"
                self.assertEqual(len(reports), 14, done.stdout)
                for line in reports:
                    self.assertIn(f" | {result} | ", line)
                    self.assertIn(remark, line)
                self.assertEqual((done.returncode, done.stderr), (int(not passed), ""))

    def test_the_deliberate_race_is_the_one_row_that_is_not_verified(self):
        racy = {"kernel": "tile_neighbour_racy", "status": "ok", "verified": False}
        for program in PROGRAM_STEPS["geometry"]:
            stand_ins.reporter(self.folder, program, [racy])
        for kernels, returncode, remark in [(["tile_neighbour_racy"], 0, "the deliberate race is found"),
                                            (["other"], 1, "the deliberate race is not found"),
                                            (["tile_neighbour_racy", "tile_neighbour"], 1, "the deliberate race is found, and another")]:
            done = self.check([], "geometry", tools=stand_ins.compute_sanitizer(self.folder, *kernels))
            self.assertEqual(done.returncode, returncode, done.stdout)
            self.assertRegex(self.summary(), rf"\| geometry \| tile under racecheck \| .* \| {remark} \|")
        with tarfile.open(self.folder / "out" / "geometry.tar.gz") as archive:
            self.assertEqual(archive.getnames(), [f"geometry/{name}" for name in (
                "geometry.csv", "geometry.json", "geometry.md", "geometry.txt", "order.json", "order.md", "order.svg", "order.txt",
                "tile.json", "tile.md", "tile.txt")])
            self.assertEqual(archive.extractfile("geometry/tile.txt").read(), b"printed\n")

    def test_small_runs_go_through_the_four_tools(self):
        done = self.check([], "sanitizer", tools=stand_ins.compute_sanitizer(self.folder))
        self.assertEqual(done.returncode, 0, done.stdout)
        for name in ("sweep", "clocks", "clocks --map"):
            self.assertIn(f"| sanitizer | {name} under racecheck | passed |", self.summary())
        self.assertEqual(len(self.summary().splitlines()), 2 + 3 * 4)

    def test_an_unknown_step_is_a_usage_error(self):
        done = self.check([], "tset")
        self.assertEqual(done.returncode, 2)
        self.assertIn("there are device, tests, sweep, clocks, peers, geometry, shuffle, grid_sync, reduce, bench, sanitizer", done.stderr)


if __name__ == "__main__":
    unittest.main()
