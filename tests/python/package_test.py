#!/usr/bin/env python3
"""Tests of the package contend against the program.

Usage: package_test.py PROGRAM SOURCE_FOLDER PACKAGE_FOLDER. Exits with 77 (skipped) if the package wasn't built.
"""

import gc
import importlib.util
import os
import pathlib
import pickle
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
import traceback
import unittest
import unittest.mock
import weakref

PROGRAM, SOURCE, PACKAGE = (pathlib.Path(sys.argv.pop(1)).resolve() for _ in range(3))
if not list(PACKAGE.glob("contend/_native*.so")):
    print("python: skipped, because the package isn't built")
    sys.exit(77)
sys.path.insert(0, str(PACKAGE))

import contend  # noqa: E402

try:
    import numpy
except ImportError:
    numpy = None
try:
    import pandas
except ImportError:
    pandas = None

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


class Drawn:
    """Stands for axes of matplotlib: the calls, by name."""

    def __init__(self):
        self.calls = {}

    def __getattr__(self, name):
        return lambda *given, **named: self.calls.setdefault(name, []).append((given, named))


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
        self.assertEqual(runs.tables, ["jobs", "gpus", "links"])
        for name in ("jobs.csv", "gpus.csv", "summary.json", "scenario.yaml"):
            self.assertEqual(pathlib.Path("here", name).read_bytes(), pathlib.Path("there", name).read_bytes())
        # Each column says what its text says.
        header, *rows = [line.split(",") for line in runs.bytes_of("jobs").decode().splitlines()]
        self.assertEqual(list(runs.jobs), header)
        for name, texts in zip(header, zip(*rows)):
            for value, text in zip(runs.jobs[name], texts):
                if text == "":
                    self.assertTrue(value == "" or value != value, name)
                else:
                    self.assertEqual(value, text if isinstance(value, str) else float(text), name)

    def test_columns_are_numbers_where_they_can_be(self):
        runs = contend.run(FIRST_FIT)
        self.assertEqual(list(runs.jobs["job_id"])[:2], ["j0", "j1"])
        self.assertEqual(int(runs.jobs["gpus"][1]), 3)
        self.assertNotEqual(runs.jobs["measured_wait_s"][0], runs.jobs["measured_wait_s"][0])  # nan
        with self.assertRaisesRegex(KeyError, "there is no column 'jtc_s'; did you mean 'jct_s'"):
            runs.jobs["jtc_s"]
        with self.assertRaisesRegex(KeyError, "there is no table 'fabric'; there are .*jobs"):
            runs.table("fabric")
        with self.assertRaisesRegex(TypeError, "runs can't be pickled"):
            pickle.dumps(runs)

    def test_a_policy_without_its_method_says_which(self):
        class Idle(contend.SchedulingPolicy):
            pass

        with self.assertRaisesRegex(contend.PolicyError, r"Idle has no method decide\(self, question\)"):
            contend.run(FIRST_FIT, scheduling=Idle)

    @unittest.skipIf(numpy is None, "NumPy is not installed")
    def test_arrays_share_the_memory_of_the_module(self):
        runs = contend.run(FIRST_FIT, repeat=2)
        self.assertEqual(runs.jobs["gpus"].dtype, numpy.int64)
        self.assertEqual(runs.jobs["jct_s"].dtype, numpy.float64)
        self.assertFalse(runs.jobs["jct_s"].flags.owndata)
        self.assertFalse(runs.jobs["jct_s"].flags.writeable)
        self.assertEqual(list(runs.jobs["replica"]), [1] * 60 + [2] * 60)
        jct = runs[1].jobs["jct_s"]
        del runs
        self.assertGreater(jct.sum(), 0)  # it outlives the runs

    def three_jobs(self, **arguments):
        """On 4 GPUs one behind the other: a ends after 10 s, b after 30 s, c after 35 s, which is 30 s after it came."""
        pathlib.Path("three.csv").write_text("job_id,submit_s,gpus,duration_s,user\na,0,4,10,ann\nb,0,4,20,<b>\nc,5,2,5,ann\n",
                                             encoding="utf-8")
        return contend.run({"cluster": {"servers": 1, "gpus_per_server": 4}, "workload": {"jobs": "three.csv"},
                            "policies": {"scheduling": "fifo", "placement": "first-fit"}}, **arguments)

    def test_load_reads_what_was_written(self):
        runs = contend.run(FIRST_FIT, repeat=2, until="30s", output="here")
        back = contend.load("here")
        self.assertEqual((back.code, back.summary, repr(back)), (4, runs.summary, repr(runs)))
        self.assertEqual(back.tables, runs.tables)
        for made, read in [(runs.table(name), back.table(name)) for name in runs.tables] + [(runs[1].jobs, back[1].jobs)]:
            self.assertEqual((list(read), read.rows), (list(made), made.rows))
            for name in made:
                for one, other in zip(made[name], read[name]):
                    self.assertTrue(one == other or {str(one), str(other)} <= {"", "nan"}, f"{name}: {one} {other}")
        contend.sweep(FIRST_FIT, vary={"policies.scheduling": ["fifo", "sjf"]}, output="s.sqlite")
        self.assertEqual(list(contend.load("s.sqlite")["policies_scheduling"]), ["fifo", "sjf"])
        with open("here/jobs.csv", "a", encoding="utf-8") as file:
            file.write("\n")
        with self.assertRaises(contend.InputError):
            contend.load("here")
        with self.assertRaises(contend.InputError):
            contend.load("nowhere")

    def test_notebooks_show_tables_and_lines(self):
        runs = self.three_jobs()
        self.assertIn("<tr><td>makespan_s</td><td>35</td></tr>", runs._repr_html_())
        page = runs.jobs._repr_html_()
        self.assertIn("<td>&lt;b&gt;</td>", page)
        self.assertIn("<p>3 rows</p>", page)
        drawn = Drawn()
        self.assertIs(runs.plot(ax=drawn), drawn)
        ((values, shares), named), = drawn.calls["step"]
        self.assertEqual((values, shares, named["label"]), ([10.0, 30.0, 30.0], [1 / 3, 2 / 3, 1.0], "seed 1"))
        drawn = Drawn()
        runs.jobs.plot("gpus", "jct_s", ax=drawn)  # two jobs on 4 GPUs: the mean of 10 and 30
        self.assertEqual([list(each) for each in drawn.calls["plot"][0][0]], [[2, 4], [30.0, 20.0]])
        runs.jobs.plot("gpus", "jct_s", by="user", ax=drawn)
        self.assertEqual([named["label"] for _, named in drawn.calls["plot"][1:]], ["user ann", "user <b>"])

    def test_traces_become_job_lists(self):
        self.three_jobs()
        jobs = contend.import_trace("three.csv", output="large.csv", min_gpus=4)
        self.assertEqual((list(jobs["job_id"]), jobs.path, jobs.summary["jobs"]), (["a", "b"], "large.csv", 2))
        self.assertEqual(contend.run({**FIRST_FIT, "workload": {"jobs": jobs.path}}).jobs.rows, 2)

    def test_evaluate_scores_a_class_and_finds_what_is_wrong_with_it(self):
        found = contend.evaluate(Fifo, on=FIRST_FIT, held_out=[FIRST_FIT, FIRST_FIT], baseline="fifo")
        self.assertEqual((found["valid"], found["seen"]["ratio"], found["held_out"]["weeks"]), (True, 1.0, 2))

        class Moody(Fifo):
            objects = []

            def __init__(self):
                self.objects.append(self)
                self.sign = (-1) ** len(self.objects)

            def decide(self, question):
                order = sorted(self.waiting.values(), key=lambda job: self.sign * job["id"])
                return {"start": [job["id"] for job in order], "in_order": True}

        found = contend.evaluate(Moody, on=FIRST_FIT, held_out=FIRST_FIT)
        self.assertFalse(found["valid"])
        self.assertIn("doesn't answer alike", found["reasons"][0])

        class Broken(Fifo):
            def decide(self, question):
                return {"start": [10 ** 6]}

        self.assertEqual(len(contend.evaluate(Broken, on=FIRST_FIT, held_out=FIRST_FIT)["reasons"]), 1)

    @unittest.skipIf(pandas is None, "pandas is not installed")
    def test_frames_copy_no_numbers(self):
        jobs = contend.run(FIRST_FIT).jobs
        frame = jobs.frame()
        self.assertEqual(list(frame.columns), list(jobs))
        self.assertTrue(numpy.shares_memory(frame["jct_s"].to_numpy(), jobs["jct_s"]))
        self.assertEqual(frame.groupby("gpus")["jct_s"].count().sum(), 60)

    def test_tables_of_a_fabric(self):
        scenario = {"cluster": {"servers": 4, "gpus_per_server": 1},
                    "network": {"fidelity": "flow", "nic": "100Gbps",
                                "fabric": {"kind": "leaf-spine", "servers_per_leaf": 2, "spines": 1}},
                    "workload": {"generate": {"sizes": {"4": 3}, "iterations": [3, 5], "arrivals": "1s"}}}
        runs = contend.run(scenario)
        self.assertIn("fabric", runs.tables)
        self.assertGreater(runs.table("fabric").rows, 4)
        self.assertGreater(max(runs.table("fabric")["utilisation"]), 0)

    def test_sweep_and_compare(self):
        points = contend.sweep(FIRST_FIT, vary={"policies.scheduling": ["fifo", "srtf"], "cluster.servers": [3, 4]})
        self.assertEqual(points.rows, 4)
        means = dict(zip(zip(points["policies_scheduling"], map(int, points["cluster_servers"])), points["avg_jct_s"]))
        self.assertEqual(means["srtf", 4], contend.run(FIRST_FIT, set={
            "policies.scheduling": "srtf", "cluster.servers": 4}).summary["avg_jct_s"])
        compared = contend.compare(FIRST_FIT, FIRST_FIT, set_new={"cluster.servers": 2}, repeat=8,
                                   fail_if=["avg_jct > 1%"])
        self.assertTrue(compared.worse)
        self.assertFalse(contend.compare(FIRST_FIT, FIRST_FIT, repeat=2, fail_if=["avg_jct > 1%"]).worse)

    def test_tune(self):
        vary = {"policies.scheduling": ["fifo", "srtf"], "cluster.servers": [2, 3, 4]}
        found = contend.tune(FIRST_FIT, vary=vary, minimise="avg_jct_s", repeat=2, output="t.sqlite")
        self.assertEqual(found.best, {"policies.scheduling": "srtf", "cluster.servers": "4"})
        self.assertEqual(found.report["points"], 6)
        self.assertEqual(found.rows, 6)
        self.assertEqual(found["avg_jct_s"][0], min(found["avg_jct_s"]))
        self.assertTrue(pathlib.Path(found.store).exists())
        front = contend.tune(FIRST_FIT, vary=vary, minimise=["avg_jct_s", "max_jct_s"], trials=3)
        self.assertIn("front", front.report)
        ranges = contend.tune(FIRST_FIT, vary={"cluster.servers": {"from": 2, "to": 4, "step": 1}}, minimise="avg_jct_s",
                              trials=2, set={"policies.scheduling": "srtf"})
        self.assertEqual((ranges.report["points"], ranges.rows), (3, 2))
        with self.assertRaisesRegex(contend.UsageError, "minimise METRIC"):
            contend.tune(FIRST_FIT, vary=vary)

    def test_study(self):
        study = contend.study({"training": {"resnet": {"model": "resnet50", "device": "V100-PCIe"}},
                               "overlap": {"training": "resnet", "workers": [2]},
                               "network": {"alpha": "100us", "beta": "1ns/B", "formula": "measured"}})
        self.assertGreater(len(study), 0)
        with self.assertRaisesRegex(contend.UsageError, "the scenario has no `overlap`, so it is about jobs"):
            contend.study(FIRST_FIT)
        jobs = contend.run({"training": {"resnet": {"model": "resnet50", "device": "V100-PCIe"}},
                            "overlap": {"training": "resnet", "workers": [2], "fusion": "all"}}).jobs
        self.assertIn("2 workers, none, mg-wfbp", list(jobs["job_id"]))
        self.assertGreater(min(jobs["iteration_s"]), min(jobs["compute_s"]) * 0.999)

    def test_sweeps_with_policies_of_python(self):
        mine = contend.sweep(FIRST_FIT, vary={"cluster.servers": [2, 3, 4]}, scheduling=Fifo, placement=FirstFit)
        ours = contend.sweep(FIRST_FIT, vary={"cluster.servers": [2, 3, 4]})
        self.assertEqual(list(mine["avg_jct_s"]), list(ours["avg_jct_s"]))

    def test_two_policies_of_one_name(self):
        def named(base):
            return type("Same", (base,), {})

        both = contend.run(FIRST_FIT, scheduling=named(Fifo), placement=named(FirstFit))
        self.assertEqual(both.bytes_of("jobs"), contend.run(FIRST_FIT).bytes_of("jobs"))
        self.assertIn('command: "inside:Same-2"', both.scenario)

    def test_two_versions_in_one_folder(self):
        shutil.copytree(PACKAGE / "contend", "mixed/contend")
        pathlib.Path("mixed/contend/_build.py").write_text('version = "0.0.7"\nshared_folder = None\n', encoding="utf-8")
        done = subprocess.run([sys.executable, "-c", "import contend"], env={**os.environ, "PYTHONPATH": "mixed"},
                              capture_output=True, text=True, check=False)
        self.assertRegex(done.stderr, r"two versions of contend are mixed in .*: the package is of 0\.0\.7, its compiled "
                                      r"module .* of " + contend.version().split()[1])

    def test_a_package_without_scenarios(self):
        code = "import contend\ntry: contend.run('scenarios/ada-srsf/base.yaml')\n" \
               "except contend.InputError as error: print(error.complaints[0].reason)"
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True,
                              env={**os.environ, "PYTHONPATH": str(PACKAGE), "CONTEND_SHARE": "/nowhere"})
        self.assertIn("shipped scenarios are looked for in /nowhere, which has none", done.stdout)

    def test_policies_in_python_equal_those_of_the_program(self):
        expected = contend.run(FIRST_FIT, repeat=1)
        self.assertGreater(expected.summary["avg_waiting_s"], 1)
        for mine in ({"scheduling": Fifo}, {"placement": FirstFit}, {"scheduling": Fifo, "placement": FirstFit}):
            self.assertEqual(contend.run(FIRST_FIT, **mine).bytes_of("jobs"), expected.bytes_of("jobs"))
        base = str(SOURCE / "scenarios/ada-srsf/base.yaml")
        settings = {"workload.generate.iterations": [10, 60], "workload.generate.arrivals": "60s"}
        ours = {**settings, "policies.communication": {"policy": "srsf", "ways": 2}}
        self.assertEqual(contend.run(base, set=settings, repeat=3, communication=TwoAtOnce).bytes_of("jobs"),
                         contend.run(base, set=ours, repeat=3).bytes_of("jobs"))

    def test_an_exception_of_a_policy_is_the_cause_and_keeps_what_was_simulated(self):
        class Broken(FirstFit):
            def place(self, job, question):
                if job["name"] == "j9":
                    raise LookupError("what now")
                return super().place(job, question)

        with self.assertRaises(contend.PolicyError) as caught:
            contend.run(FIRST_FIT, placement=Broken)
        self.assertIsInstance(caught.exception.__cause__, LookupError)
        frames = traceback.extract_tb(caught.exception.__cause__.__traceback__)
        self.assertEqual((frames[-1].name, frames[-1].line), ("place", 'raise LookupError("what now")'))
        self.assertEqual(caught.exception.code, 6)
        self.assertIn("placement policy `Broken`", caught.exception.text)
        self.assertIn("said: LookupError: what now, asked about job `j9`", caught.exception.text)
        self.assertIn("failure", caught.exception.runs.manifest["replicas"][0])
        self.assertEqual(len(caught.exception.runs.jobs["job_id"]), 60)

    def test_a_policy_that_never_answers_fails_and_keeps_what_was_simulated(self):
        class Endless(FirstFit):
            def place(self, job, question):
                while job["name"] == "j9":
                    pass
                return super().place(job, question)

        with unittest.mock.patch.dict(os.environ, {"CONTEND_POLICY_TIMEOUT": "0.5"}):
            with self.assertRaises(contend.PolicyError) as caught:
                contend.run(FIRST_FIT, placement=Endless)
            self.assertIn("said: TimeoutError: didn't answer within 0.5 s, asked about job `j9`", caught.exception.text)
            self.assertEqual(caught.exception.code, 6)
            self.assertEqual(len(caught.exception.runs.jobs["job_id"]), 60)
            self.assertEqual(contend.run(FIRST_FIT, placement=FirstFit).code, 0)
        with unittest.mock.patch.dict(os.environ, {"CONTEND_POLICY_TIMEOUT": "soon"}):
            with self.assertRaisesRegex(contend.UsageError, 'expected seconds, 0 to 1e9, got "soon"'):
                contend.run(FIRST_FIT, placement=FirstFit)

    def test_a_policy_on_trial_that_ends_its_process_fails_and_keeps_what_was_simulated(self):
        class Deed(FirstFit):
            deed = None

            def place(self, job, question):
                if job["name"] == "j9":
                    type(self).deed()
                return super().place(job, question)

        for deed, words in ((lambda: os._exit(7), "ended with exit code 7"), (lambda: os._exit(0), "ended with exit code 0"),
                            (lambda: os.kill(os.getpid(), signal.SIGSEGV), "was ended by signal 11"),
                            (lambda: time.sleep(1e6), "didn't answer within 1 s")):
            Deed.deed = staticmethod(deed)
            with unittest.mock.patch.dict(os.environ, {"CONTEND_POLICY_TIMEOUT": "1"}):
                with self.assertRaises(contend.PolicyError) as caught:
                    contend.run(FIRST_FIT, placement=Deed, on_trial=True, repeat=2, threads=2)
            self.assertIn("placement policy `Deed`", caught.exception.text)
            self.assertIn(f"said: ChildProcessError: {words}, asked about job `j9`", caught.exception.text)
            self.assertEqual(caught.exception.code, 6)
            self.assertEqual(len(caught.exception.runs.jobs["job_id"]), 120)
        Deed.deed = staticmethod(lambda: None)
        self.assertEqual(contend.run(FIRST_FIT, placement=Deed, on_trial=True).bytes_of("jobs"),
                         contend.run(FIRST_FIT).bytes_of("jobs"))

    def test_a_decision_that_cannot_be_names_policy_job_and_server(self):
        class Greedy(contend.PlacementPolicy):
            def place(self, job, question):
                return range(job["gpus"])

        alive = weakref.ref(Greedy)
        with self.assertRaisesRegex(contend.PolicyError, "`Greedy`.* job `j1` was given GPU 0 of server 0, which other"):
            contend.run(FIRST_FIT, placement=Greedy)
        with self.assertRaisesRegex(TypeError, "not an object of it"):
            contend.run(FIRST_FIT, placement=Greedy())
        del Greedy
        gc.collect()
        self.assertIsNone(alive())  # nothing of a call stays behind

    def test_a_policy_that_exits_or_floods_fails_as_one_that_throws(self):
        class Exits(Fifo):
            def decide(self, question):
                return super().decide(question) if question["now"] < 10**9 else sys.exit(3)

        class Floods(Fifo):
            def decide(self, question):
                return super().decide(question) if question["now"] < 10**9 else {"again": True}

        for policy, said in ((Exits, "said: SystemExit: 3"), (Floods, "asked 20000 times at one instant to be asked again")):
            with self.assertRaises(contend.PolicyError) as caught:
                contend.run(FIRST_FIT, scheduling=policy)
            self.assertEqual(caught.exception.code, 6)
            self.assertIn(f"scheduling policy `{policy.__name__}`", caught.exception.text)
            self.assertIn(said, caught.exception.text)
            self.assertIn("failure", caught.exception.runs.manifest["replicas"][0])
            self.assertEqual(caught.exception.runs.jobs["start_s"][0], 0)

    def test_wrong_arguments_are_named(self):
        for call, text in (
                (lambda: contend.run(FIRST_FIT, set=["seed=2"]), "set: expected a dictionary of keys and values, not"),
                (lambda: contend.sweep(FIRST_FIT, vary={"network.nic": "1Gbps"}), "vary: network.nic: expected a list of"),
                (lambda: contend.sweep(FIRST_FIT, vary={"policies.scheduling": [Fifo]}), "arguments of their own"),
                (lambda: contend.run(5), "expected a scenario, as a path or a dictionary of its keys, not 5"),
                (lambda: contend.run(FIRST_FIT, set={"seed": object()}), "set: seed: expected a number, a text"),
                (lambda: contend.run(FIRST_FIT, set={"policies.scheduling": "sjf"}, scheduling=Fifo), "both choose the"),
                (lambda: contend.sweep(FIRST_FIT, vary={"policies.placement.kappa": [1, 2]}, placement=FirstFit),
                 "policies.placement.kappa and placement=FirstFit both choose the placement policy")):
            with self.assertRaises(contend.UsageError) as caught:
                call()
            self.assertIn(text, str(caught.exception))

    def test_a_message_is_accepted_by_true_or_false(self):
        class Vague(TwoAtOnce):
            def accept(self, server, active, question):
                return "no"

        base = str(SOURCE / "scenarios/ada-srsf/base.yaml")
        with self.assertRaisesRegex(contend.PolicyError, r"accept\(\) must return True or False, and returned 'no'"):
            contend.run(base, set={"workload.generate.iterations": [10, 60]}, repeat=1, communication=Vague)

    def test_a_class_may_have_an_init_of_its_own(self):
        class Counting(Fifo):
            def __init__(self):
                self.asked = 0

        self.assertEqual(contend.run(FIRST_FIT, scheduling=Counting).bytes_of("jobs"),
                         contend.run(FIRST_FIT).bytes_of("jobs"))

    def test_a_search_without_a_value_says_so(self):
        class Broken(Fifo):
            def decide(self, question):
                raise LookupError("what now")

        found = contend.tune(FIRST_FIT, vary={"cluster.servers": [2, 3]}, minimise="avg_jct_s", trials=2, scheduling=Broken)
        with self.assertRaisesRegex(LookupError, "no point has a value"):
            print(found.best)

    @unittest.skipUnless(importlib.util.find_spec("numpy"), "NumPy is not installed")
    def test_numbers_of_numpy(self):
        import numpy
        rows = contend.sweep(FIRST_FIT, vary={"cluster.servers": numpy.arange(2, 4)}, set={"seed": numpy.int64(3)})
        self.assertEqual(sorted(int(each) for each in rows["cluster_servers"]), [2, 3])

        class Arrays(FirstFit):
            def place(self, job, question):
                return numpy.array(super().place(job, question), dtype=int)

        self.assertEqual(contend.run(FIRST_FIT, placement=Arrays).bytes_of("jobs"),
                         contend.run(FIRST_FIT).bytes_of("jobs"))

    def test_a_dictionary_needs_no_file(self):
        expected = contend.run(FIRST_FIT).bytes_of("jobs")
        os.chdir("/proc")  # where nobody can write
        jobs = str(pathlib.Path(self.folder.name).resolve() / "jobs.csv")
        self.assertEqual(contend.run({**FIRST_FIT, "workload": {"jobs": jobs}}).bytes_of("jobs"), expected)

    def test_errors_say_where(self):
        pathlib.Path("bad.yaml").write_text("schema_version: 1\ncluster: {servres: 3}\nseed: x\n", encoding="utf-8")
        with self.assertRaises(contend.InputError) as caught:
            contend.run("bad.yaml")
        first, second = caught.exception.complaints
        self.assertEqual((first.file, first.line, first.column, first.key), ("bad.yaml", 2, 11, "cluster.servres"))
        self.assertEqual(first.hint, 'did you mean "servers"?')
        self.assertEqual((second.line, second.key), (3, "seed"))
        with self.assertRaises(contend.InputError) as caught:
            contend.run("nothing.yaml")
        self.assertEqual(caught.exception.complaints[0].file, "nothing.yaml")
        with self.assertRaises(contend.UsageError):
            contend.run(FIRST_FIT, threads=0)

    def interrupted_after(self, seconds, **arguments):
        """Ctrl-C during a run that would take minutes; returns how long it took to stop."""
        long = {"cluster": CLUSTER, "engine": {"leap": False},
                "workload": {"generate": {"sizes": {"1": 300}, "iterations": [500000, 600000], "arrivals": "10s"}}}
        signal.signal(signal.SIGINT, signal.default_int_handler)  # a parent in the background has it ignored
        before = time.monotonic()
        threading.Timer(seconds, os.kill, (os.getpid(), signal.SIGINT)).start()
        with self.assertRaises(KeyboardInterrupt):
            contend.run(long, **arguments)
        return time.monotonic() - before

    def test_control_c_stops_a_run(self):
        self.assertLess(self.interrupted_after(0.5, output="part"), 60)
        self.assertIn('"exit_state": "interrupted"', pathlib.Path("part/manifest.json").read_text(encoding="utf-8"))
        self.assertLess(self.interrupted_after(0.5, scheduling=Fifo, repeat=2), 60)
        # Python's own handler is back, and the next call isn't stopped.
        self.assertEqual(signal.getsignal(signal.SIGINT), signal.default_int_handler)
        self.assertEqual(contend.run(FIRST_FIT).code, 0)

    def test_other_threads_go_on_during_a_run(self):
        counted = []
        stop = threading.Event()
        counter = threading.Thread(target=lambda: [counted.append(1) for _ in iter(stop.is_set, True)])
        counter.start()
        self.interrupted_after(0.5)
        stop.set()
        counter.join()
        self.assertGreater(len(counted), 1000)
        results = {}
        threads = [threading.Thread(target=lambda i=i: results.update({i: contend.run(FIRST_FIT, placement=FirstFit)}))
                   for i in range(3)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(len({each.bytes_of("jobs") for each in results.values()}), 1)
        self.assertEqual(len(results), 3)

    @unittest.skipUnless(importlib.util.find_spec("mypy"), "mypy is not installed")
    def test_types(self):
        pathlib.Path("user.py").write_text("import contend\n\n\nclass Mine(contend.SchedulingPolicy):\n    pass\n\n\n"
                                           "rows: int = contend.run('a.yaml', scheduling=Mine).jobs.rows\n"
                                           "name: int = contend.run('a.yaml').name\n", encoding="utf-8")
        shutil.copytree(SOURCE / "python/contend", "contend")
        done = subprocess.run([sys.executable, "-m", "mypy", "--strict", "--ignore-missing-imports", "contend", "user.py"],
                              capture_output=True, text=True, check=False)
        self.assertRegex(done.stdout, r"\Auser.py:9: error: Incompatible types in assignment .*\nFound 1 error")

    def test_catalogue(self):
        self.assertIn("fifo", [row["policy"] for row in contend.policies()])
        self.assertTrue(contend.version().startswith("contend "))
        self.assertIn("  servers: 3\n", contend.show(FIRST_FIT))


if __name__ == "__main__":
    unittest.main()
