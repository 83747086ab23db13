#!/usr/bin/env python3
"""Tests of python/contend against the program.

Usage: package_test.py PROGRAM SOURCE_FOLDER
"""

import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import threading
import time
import unittest

PROGRAM, SOURCE = pathlib.Path(sys.argv.pop(1)).resolve(), pathlib.Path(sys.argv.pop(1)).resolve()
sys.path.insert(0, str(SOURCE / "python"))
os.environ["CONTEND_PROGRAM"] = str(PROGRAM)

import contend  # noqa: E402

JOBS = "job_id,submit_s,gpus,duration_s\n" + "".join(
    f"j{i},{i // 3 * 4},{1 + i * 7 % 5},{3 + i * 11 % 50}\n" for i in range(60))
CLUSTER = {"servers": 3, "gpus_per_server": 4}
FIRST_FIT = {"cluster": CLUSTER, "workload": {"jobs": "jobs.csv"},
             "policies": {"scheduling": "fifo", "placement": "first-fit"}}


class Fifo(contend.SchedulingPolicy):
    """First in, first out."""

    def decide(self, question):
        order = sorted(self.waiting.values(), key=lambda job: (job["submit"], job["tie"]))
        return {"start": [job["id"] for job in order], "in_order": True}


class FirstFit(contend.PlacementPolicy):
    """The first GPUs that fit."""

    refuses_alike = True

    def place(self, job, question):
        fitting = [gpu for gpu in sorted(self.free) if self.fits(gpu, job)]
        return fitting[:job["gpus"]] if len(fitting) >= job["gpus"] else []


class TwoAtOnce(contend.CommunicationPolicy):
    """SRSF(2)."""

    order = "remaining_service"

    def accept(self, server, active, question):
        return len({job for job, left in active} - {question["job"]}) < 2


class PackageTest(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.addCleanup(os.chdir, os.getcwd())
        os.chdir(self.folder.name)
        pathlib.Path("jobs.csv").write_text(JOBS, encoding="utf-8")

    def test_same_bytes_as_the_program(self):
        base = str(SOURCE / "scenarios/ada-srsf/base.yaml")
        settings = {"workload.generate.iterations": [10, 60], "workload.generate.arrivals": "60s"}
        runs = contend.run(base, set=settings, repeat=2, output="here")
        subprocess.run([PROGRAM, "run", base, "-q", "-o", "there", "--repeat", "2",
                        "--set", "workload.generate.iterations=[10, 60]",
                        "--set", "workload.generate.arrivals=60s"], check=True)
        for name in ("jobs", "gpus", "links"):
            self.assertEqual(runs.bytes_of(name), pathlib.Path(f"there/{name}.csv").read_bytes())
        self.assertEqual([run.seed for run in runs], [1, 2])
        self.assertEqual(len(runs[1].jobs["jct_s"]), 160)
        self.assertEqual(len(runs.jobs["jct_s"]), 320)
        self.assertAlmostEqual(sum(runs[0].jobs["jct_s"]) / 160, runs[0].summary["avg_jct_s"], places=6)
        self.assertAlmostEqual(runs.summary["avg_jct_s"],
                               (runs[0].summary["avg_jct_s"] + runs[1].summary["avg_jct_s"]) / 2, places=9)
        self.assertEqual(runs.code, 0)

    def test_columns_are_numbers_where_they_can_be(self):
        runs = contend.run(FIRST_FIT)
        self.assertEqual(list(runs.jobs["job_id"])[:2], ["j0", "j1"])
        self.assertEqual(int(runs.jobs["gpus"][1]), 3)
        self.assertNotEqual(runs.jobs["measured_wait_s"][0], runs.jobs["measured_wait_s"][0])  # nan
        try:
            import numpy
            self.assertIsInstance(runs.jobs["gpus"], numpy.ndarray)
        except ImportError:
            self.assertIsInstance(runs.jobs["gpus"], list)

    def test_sweep_and_compare(self):
        points = contend.sweep(FIRST_FIT, set={"policies.scheduling": ["fifo", "srtf"], "cluster.servers": [3, 4]})
        self.assertEqual(points.rows, 4)
        means = dict(zip(zip(points["policies_scheduling"], map(int, points["cluster_servers"])), points["avg_jct_s"]))
        self.assertEqual(means["srtf", 4], contend.run(FIRST_FIT, set={
            "policies.scheduling": "srtf", "cluster.servers": 4}).summary["avg_jct_s"])
        compared = contend.compare(FIRST_FIT, FIRST_FIT, set_new={"cluster.servers": 2}, repeat=8,
                                   fail_if=["avg_jct > 1%"])
        self.assertTrue(compared.worse)
        self.assertFalse(contend.compare(FIRST_FIT, FIRST_FIT, repeat=2, fail_if=["avg_jct > 1%"]).worse)

    def test_policies_in_python_equal_those_of_the_program(self):
        expected = contend.run(FIRST_FIT, repeat=1)
        self.assertGreater(expected.summary["avg_waiting_s"], 1)
        for mine in ({"scheduling": Fifo}, {"placement": FirstFit}, {"scheduling": Fifo, "placement": FirstFit}):
            self.assertEqual(contend.run(FIRST_FIT, **mine).bytes_of("jobs"), expected.bytes_of("jobs"))
        base = str(SOURCE / "scenarios/ada-srsf/base.yaml")
        settings = {"workload.generate.iterations": [10, 60], "workload.generate.arrivals": "60s",
                    "policies.communication": {"policy": "srsf", "ways": 2}}
        self.assertEqual(contend.run(base, set=settings, repeat=3, communication=TwoAtOnce).bytes_of("jobs"),
                         contend.run(base, set=settings, repeat=3).bytes_of("jobs"))

    def test_an_exception_of_a_policy_is_the_cause_and_keeps_what_was_simulated(self):
        class Broken(FirstFit):
            def place(self, job, question):
                if job["name"] == "j9":
                    raise LookupError("what now")
                return super().place(job, question)

        with self.assertRaises(contend.PolicyError) as caught:
            contend.run(FIRST_FIT, placement=Broken)
        self.assertIsInstance(caught.exception.__cause__, LookupError)
        self.assertEqual(caught.exception.code, 6)
        self.assertIn("placement policy `Broken`", caught.exception.text)
        self.assertIn("said: LookupError: what now, asked about job `j9`", caught.exception.text)
        self.assertIn("failure", caught.exception.runs.manifest["replicas"][0])
        self.assertEqual(len(caught.exception.runs.jobs["job_id"]), 60)

    def test_a_decision_that_cannot_be_names_policy_job_and_server(self):
        class Greedy(contend.PlacementPolicy):
            def place(self, job, question):
                return range(job["gpus"])

        with self.assertRaisesRegex(contend.PolicyError, "`Greedy`.* job `j1` was given GPU 0 of server 0, which other"):
            contend.run(FIRST_FIT, placement=Greedy)
        with self.assertRaisesRegex(TypeError, "not an object of it"):
            contend.run(FIRST_FIT, placement=Greedy())

    def test_errors_say_where(self):
        pathlib.Path("bad.yaml").write_text("schema_version: 1\ncluster: {servres: 3}\nseed: x\n", encoding="utf-8")
        with self.assertRaises(contend.InputError) as caught:
            contend.run("bad.yaml")
        first, second = caught.exception.complaints
        self.assertEqual((first.file, first.line, first.column, first.key), ("bad.yaml", 2, 11, "cluster.servres"))
        self.assertIn('did you mean "servers"?', first.reason)
        self.assertEqual((second.line, second.key), (3, "seed"))
        with self.assertRaises(contend.InputError) as caught:
            contend.run("nothing.yaml")
        self.assertEqual(caught.exception.complaints[0].file, "nothing.yaml")
        with self.assertRaises(contend.UsageError):
            contend.run(FIRST_FIT, threads=0)

    def test_control_c_stops_the_program(self):
        long = {"cluster": CLUSTER, "engine": {"leap": False},
                "workload": {"generate": {"sizes": {"1": 300}, "iterations": [500000, 600000], "arrivals": "10s"}}}
        before = time.monotonic()
        threading.Timer(1.0, os.kill, (os.getpid(), signal.SIGINT)).start()
        with self.assertRaises(KeyboardInterrupt):
            contend.run(long, output="part")
        self.assertLess(time.monotonic() - before, 300)
        self.assertIn('"exit_state": "interrupted"', pathlib.Path("part/manifest.json").read_text(encoding="utf-8"))

    def test_catalogue(self):
        self.assertIn("fifo", [row["policy"] for row in contend.policies()])
        self.assertTrue(contend.version().startswith("contend "))
        self.assertIn("  servers: 3\n", contend.show(FIRST_FIT))


if __name__ == "__main__":
    unittest.main()
