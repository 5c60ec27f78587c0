"""scripts/gpu-check on a pack of stand-ins."""

import json
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
PASSING = 'print("test result: ok. 3 passed; 0 failed; 1 ignored; 0 measured")'


class GpuCheck(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def check(self, bodies, *arguments, clocks="pass"):
        """Runs steps over a pack with one test executable per body, and `clocks` as given."""
        pack = self.folder / "pack"
        pack.mkdir(exist_ok=True)
        manifest = {"schema": "warplab/gpu-pack/1", "workspace": str(self.folder / "built" / "here"),
                    "target": str(self.folder / "built" / "target"), "programs": ["clocks", "sweep"], "tests": []}
        with tarfile.open(pack / "programs.tar.xz", "w:xz") as archive:
            archive.add(stand_ins.program(self.folder / "sweep", "pass"), arcname="release/sweep")
            archive.add(stand_ins.program(self.folder / "clocks", clocks), arcname="release/clocks")
            for number, body in enumerate(bodies):
                file = f"release/deps/test{number}"
                archive.add(stand_ins.program(self.folder / f"test{number}", TEST.format(body=body)), arcname=file)
                manifest["tests"].append({"package": "host", "kind": "test", "name": f"test{number}", "file": file})
        (pack / "manifest.json").write_text(json.dumps(manifest))
        return stand_ins.script("gpu-check", pack, *arguments, "--out", self.folder / "out")

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
        return self.check([], "clocks", clocks=program % (clock_of_lane,))

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

    def test_of_the_programs_without_a_report_each_fails(self):
        done = self.check([], "geometry")
        self.assertEqual(done.returncode, 1)
        summary = (self.folder / "out" / "summary.md").read_text()
        for program in ("geometry", "order", "tile"):
            self.assertIn(f"| geometry | {program} | **FAILED** |", summary)
        self.assertTrue((self.folder / "out" / "geometry.tar.gz").is_file())

    def test_grid_sync_without_a_report_fails_and_so_do_tools_that_are_missing(self):
        done = self.check([], "grid_sync")
        self.assertEqual(done.returncode, 1)
        summary = (self.folder / "out" / "summary.md").read_text()
        for what in ("grid_sync", "grid_sync under memcheck", "grid_sync under racecheck"):
            self.assertIn(f"| grid_sync | {what} | **FAILED** |", summary)
        self.assertTrue((self.folder / "out" / "grid_sync.tar.gz").is_file())

    def test_a_shuffle_without_a_report_fails(self):
        done = self.check([], "shuffle")
        self.assertEqual(done.returncode, 1)
        summary = (self.folder / "out" / "summary.md").read_text()
        self.assertIn("| shuffle | shuffle | **FAILED** |", summary)
        self.assertIn("| shuffle | shuffle under racecheck | **FAILED** |", summary)
        self.assertTrue((self.folder / "out" / "shuffle.tar.gz").is_file())

    def test_an_unknown_step_is_a_usage_error(self):
        done = self.check([], "tset")
        self.assertEqual(done.returncode, 2)
        self.assertIn("there are device, tests, sweep, clocks, peers, geometry, shuffle, grid_sync, reduce, bench, sanitizer", done.stderr)


if __name__ == "__main__":
    unittest.main()
