"""scripts/compare-peers against stand-ins whose figures are known."""

import json
import pathlib
import tempfile
import unittest

import stand_ins


class ComparePeers(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def compare(self, ours=None, theirs=None, *options, comparison="vector_add", **settings):
        stand_ins.sweep(self.folder, gb_per_s=ours or {"vector_add": 2500, "vector_add_x4": 4400}, **settings)
        peer = stand_ins.peer(self.folder, gb_per_s=theirs or {"scalar": 2500, "float4": 4400}, verified=settings.get("peer_verified", True),
                              prints=settings.get("peer_prints", ""))
        return stand_ins.script("compare-peers", comparison, "--bin", self.folder, "--peer", peer, "--out", self.folder / "out",
                                "--rounds", "2", "--block", "32,256", *options)

    def test_equal_figures_reach_their_bounds_and_are_written(self):
        done = self.compare()
        self.assertEqual(done.returncode, 0, done.stderr)
        written = json.loads((self.folder / "out" / "peers.json").read_text())
        self.assertEqual([(row["kernel"], row["case"]) for row in written["rows"]],
                         [("vector_add", "32"), ("vector_add", "256"), ("vector_add_x4", "32"), ("vector_add_x4", "256")])
        for row in written["rows"]:
            self.assertAlmostEqual(row["ratio"], 1.0)
            self.assertEqual((len(row["rounds_ours"]), len(row["rounds_theirs"])), (2, 2))
        self.assertEqual((self.folder / "out" / "peers.md").read_text(), done.stdout)

    def test_a_missed_bound_fails_by_name_and_is_still_written(self):
        done = self.compare({"vector_add": 2500, "vector_add_x4": 4300})
        self.assertEqual(done.returncode, 1)
        self.assertIn("vector_add_x4 at block 32 (0.977, required at least 1.00)", done.stderr)
        self.assertNotIn("vector_add at", done.stderr)
        self.assertIn("missed", (self.folder / "out" / "peers.md").read_text())

    def test_scalar_may_be_one_percent_slower_but_no_more(self):
        self.assertEqual(self.compare({"vector_add": 2476, "vector_add_x4": 4400}).returncode, 0)
        self.assertEqual(self.compare({"vector_add": 2460, "vector_add_x4": 4400}).returncode, 1)

    def test_a_bound_can_be_given(self):
        slow = {"vector_add": 2500, "vector_add_x4": 4000}
        self.assertEqual(self.compare(slow, None, "--bound", "vector_add_x4=0.9").returncode, 0)
        self.assertEqual(self.compare(slow, None, "--bound", "saxpy=0.9").returncode, 2)

    def test_only_verified_hot_measurements_count(self):
        cases = [
            ({"times": "modelled"}, "a GPU is required"),
            ({"row": {"verified": False}}, "not verified"),
            ({"row": {"status": "failed", "reason": "element 7 differs"}}, "element 7 differs"),
            ({"row": {"time": {"times": "measured", "cache": "cold", "median_ns": 1.0}}}, "not a hot measurement"),
            ({"row": {"kernel": "other"}}, "no figure from warplab"),
            ({"schema": "warplab/report/9"}, "required is 'warplab/report/1'"),
            ({"exit": 1}, "exit status 1"),
            ({"peer_verified": False}, "the peer's result is wrong"),
            ({"peer_prints": "warm-up\n"}, "the peer's output is no JSON"),
        ]
        for settings, message in cases:
            with self.subTest(message):
                done = self.compare(**settings)
                self.assertEqual(done.returncode, 1)
                self.assertIn(message, done.stderr)
                self.assertNotIn("Traceback", done.stderr)

    def test_usage_errors(self):
        for options in (["--rounds", "0"], ["--block", "2048"], ["--elements", "6"]):
            with self.subTest(options):
                self.assertEqual(self.compare(None, None, *options).returncode, 2)
        for options in (["--shape", "132"], ["--shape", "132x2048"], ["--shape", "0x32"]):
            with self.subTest(options):
                self.assertEqual(self.compare(None, None, *options).returncode, 2)
        done = self.compare(comparison="grid-sync")
        self.assertEqual(done.returncode, 2)
        self.assertIn("there are vector_add, reduce, grid_sync", done.stderr)

    def barriers(self, ours, theirs, *options, peer_verified=True, **settings):
        """Compares barriers of 132x32 and 264x256 with these nanoseconds and microseconds."""
        shapes = ["132x32", "264x256"]
        stand_ins.grid_sync(self.folder, nanoseconds=dict(zip(shapes, ours)), **settings)
        peer = stand_ins.peer(self.folder, microseconds=dict(zip(shapes, theirs)), verified=peer_verified)
        return stand_ins.script("compare-peers", "grid_sync", "--bin", self.folder, "--peer", peer, "--out", self.folder / "out",
                                "--rounds", "3", "--shape", ",".join(shapes), *options)

    def test_a_barrier_may_take_nine_tenths_of_the_peers_time_and_no_more(self):
        done = self.barriers([900, 850], [1.0, 0.95])
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("| `grid_sync_rounds` / cooperative_groups | 132x32 | 900.0 | 900.0 to 900.0 | 1000.0 |", done.stdout)
        self.assertIn("| 0.900 | at most 0.90 | reached |", done.stdout)
        done = self.barriers([910, 850], [1.0, 0.95])
        self.assertEqual(done.returncode, 1)
        self.assertIn("grid_sync_rounds at blocks x threads 132x32 (0.910, required at most 0.90)", done.stderr)
        self.assertNotIn("264x256 (", done.stderr)
        written = json.loads((self.folder / "out" / "peers.json").read_text())
        self.assertEqual([(row["case"], row["reached"]) for row in written["rows"]], [("132x32", False), ("264x256", True)])
        self.assertEqual(self.barriers([910, 850], [1.0, 0.95], "--bound", "grid_sync_rounds=0.95").returncode, 0)

    def test_a_barrier_that_fails_is_no_figure(self):
        for settings, message in [({"row": {"status": "failed", "reason": "at most 132 are resident"}}, "at most 132 are resident"),
                                  ({"row": {"verified": False}}, "grid_sync_rounds at 132x32: ok: not verified"),
                                  ({"peer_verified": False}, "the peer's result is wrong")]:
            with self.subTest(message):
                done = self.barriers([900, 850], [1.0, 0.95], **settings)
                self.assertEqual(done.returncode, 1)
                self.assertIn(message, done.stderr)

    def sums(self, gb_per_s=None, environment=None, **settings):
        stand_ins.reduce(self.folder, gb_per_s=gb_per_s or {}, **settings)
        peer = stand_ins.peer(self.folder)
        return stand_ins.script("compare-peers", "reduce", "--bin", self.folder, "--peer", peer, "--out", self.folder / "out",
                                "--rounds", "1", **(environment or {}))

    def test_each_size_of_a_sum_has_its_bound(self):
        done = self.sums()
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("| `reduce_overlapped_sum_f32` / cub::DeviceReduce::Sum | 2^10 | 1300.0 |", done.stdout)
        self.assertIn("| 1.300 | at least 1.25 | reached |", done.stdout)
        self.assertIn("| `reduce_gather_sum_f32` / cub::DeviceReduce::Sum | 2^28 | 1000.0 | 1000.0 to 1000.0 | 1000.0 | "
                      "1000.0 to 1000.0 | 1.000 | none | |", done.stdout)
        # At the ends as fast as the peer is enough, in the middle it is not.
        for elements, rate, missed in [(2**12, 1000, False), (2**12, 980, True), (2**20, 1200, True), (2**22, 1100, False)]:
            with self.subTest(elements=elements, rate=rate):
                done = self.sums({str(elements): rate})
                self.assertEqual(done.returncode, int(missed), done.stderr)

    def test_short_sums_of_pytorch_are_40_to_a_graph_and_long_ones_8(self):
        done = self.sums(environment={"PYTHONPATH": stand_ins.torch(self.folder)})
        self.assertEqual(done.returncode, 0, done.stderr)
        rows = json.loads((self.folder / "out" / "peers.json").read_text())["rows"]
        figures = {row["case"]: row["theirs"] for row in rows if row["peer"] == "torch.sum"}
        self.assertEqual(len(figures), 10)
        # Of the events' 8 us each launch of a graph bears its share, beside the 1 us that it takes.
        for case, elements, launches in [("2^10", 2**10, 40), ("2^24", 2**24, 40), ("2^26", 2**26, 8)]:
            with self.subTest(case):
                self.assertAlmostEqual(figures[case], 4 * elements / (1 + 8 / launches) / 1e3, places=6)

    def test_a_sum_takes_one_launch(self):
        done = self.sums(launches=2)
        self.assertEqual(done.returncode, 1)
        self.assertIn("more than one launch", done.stderr)

    def test_all_comparisons_go_into_one_file(self):
        stand_ins.reduce(self.folder, gb_per_s={})
        stand_ins.sweep(self.folder, gb_per_s={"vector_add": 2500, "vector_add_x4": 4400})
        stand_ins.grid_sync(self.folder, nanoseconds={"132x32": 800})
        peer = stand_ins.peer(self.folder, gb_per_s={"scalar": 2500, "float4": 4400}, microseconds={"132x32": 1})
        done = stand_ins.script("compare-peers", "--bin", self.folder, "--peer", peer, "--out", self.folder / "out", "--rounds", "1",
                                "--block", "32", "--shape", "132x32")
        self.assertEqual(done.returncode, 0, done.stderr)
        text = (self.folder / "out" / "peers.md").read_text()
        self.assertEqual(text, done.stdout)
        self.assertIn("# Vector add against CUDA C++: Stand-in", text)
        self.assertIn("\n\n# Barrier across the grid against CUDA C++: Stand-in", text)
        rows = json.loads((self.folder / "out" / "peers.json").read_text())["rows"]
        names = list(dict.fromkeys(row["comparison"] for row in rows))
        self.assertEqual(names, ["vector_add", "reduce", "grid_sync"])


if __name__ == "__main__":
    unittest.main()
