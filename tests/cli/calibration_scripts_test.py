#!/usr/bin/env python3
"""What scripts/calibration_plan.py and scripts/calibrate_here.sh say when something is wrong, and what they keep.

Usage: calibration_scripts_test.py PROGRAM SOURCE_FOLDER. Another program stands for `contend` where the test decides
how long a calibration takes, how it ends and which figures it finds.
"""

import argparse
import json
import os
import pathlib
import subprocess
import sys
import tempfile

PROGRAM, SOURCE = (pathlib.Path(word).resolve() for word in sys.argv[1:3])
sys.dont_write_bytecode = True
sys.path.insert(0, str(SOURCE / "scripts"))

import calibration_plan  # noqa: E402

# Copies a profile to the file of -o, after some seconds, and ends with a code.
STAND_IN = """#!/usr/bin/env bash
echo "contend: as the test says"
while (($# > 1)); do
  if [[ $1 == -o ]]; then out=$2; fi
  shift
done
folder=$(dirname "$0")
cp "$folder/partial.yaml" "$out"
sleep "${TAKES:-0}"
cp "$folder/${FINDS:-whole.yaml}" "$out"
exit "${ENDS:-0}"
"""


def profile(complete, *operators):
    """A profile with operators of one sample with a half width of 1%: (name, shape, seconds)."""
    lines = [f"complete: {complete}", 'device: "some device"', "operators:"]
    for name, shape, seconds in operators:
        lines += [f"  - op: {name}", "    type: fp32", f"    dimensions: [{', '.join('x' * len(shape))}]",
                  "    samples:", f"      - [{', '.join(map(str, shape))}, {seconds}, 0.01, 10]"]
    return "\n".join(lines) + "\n"


class Folder:
    """A folder with the program that stands for contend, and profiles."""

    def __init__(self, path):
        self.path = pathlib.Path(path)
        self.write("partial.yaml", profile("false", ("copy", (1000,), 1e-6)))
        self.write("whole.yaml", profile("true", ("copy", (1000,), 1e-6), ("read", (1000,), 1e-6)))
        self.write("contend", STAND_IN)
        (self.path / "contend").chmod(0o755)

    def write(self, name, text):
        (self.path / name).parent.mkdir(exist_ok=True)
        (self.path / name).write_text(text, encoding="utf-8")

    def run(self, words, **variables):
        own = {name: value for name, value in os.environ.items()
               if name not in ("ARCH", "BACKEND", "BUDGET", "PIECE", "PROGRAMS", "QUICK_BUDGET")}
        return subprocess.run(words, cwd=self.path, env={**own, **variables}, capture_output=True, text=True,
                              timeout=60, check=False)

    def plan(self, *words, contend="./contend", backend="cpu", **variables):
        return self.run([sys.executable, str(SOURCE / "scripts/calibration_plan.py"), "out", "--backend", backend,
                         "--contend", str(contend), *words], **variables)

    def here(self, *words, **variables):
        return self.run(["bash", str(SOURCE / "scripts/calibrate_here.sh"), *words], **variables)

    def kept(self):
        """The numbers of the lines in plan.json."""
        store = self.path / "out/plan.json"
        return set(json.loads(store.read_text(encoding="utf-8"))) if store.exists() else set()


def expect(done, code, *texts):
    """The exit code and parts of what was printed; no run may end in a traceback."""
    printed = done.stdout + done.stderr
    assert done.returncode == code, f"ended with {done.returncode} instead of {code}:\n{printed}"
    assert "Traceback" not in printed, printed
    for text in texts:
        assert text in printed, f"{text!r} is not in:\n{printed}"


def test_cut_off_lines_are_measured_again(folder):
    expect(folder.plan("--only", "5", "--seconds", "5", contend=PROGRAM), 1,
           "5. a quick calibration in a minute: cut off after 5 s; call again with more --seconds")
    assert folder.kept() == set()
    expect(folder.plan("--only", "6"), 5, "not run: quick.yaml is not complete; line 5 writes it")
    expect(folder.plan("--only", "5"), 0, "as expected", "2 points")
    assert folder.kept() == {"5"}
    # Where other lines took the time, the same call again is enough.
    expect(folder.plan("--only", "3,6", "--seconds", "5", "--again", TAKES="1"), 4, "3. the rates of memory",
           "6. the same again: left for the next call")
    expect(folder.plan("--only", "3,6", "--seconds", "5", TAKES="1"), 0, "6. the same again: as expected")


def test_failed_lines_are_measured_again(folder):
    expect(folder.plan("--only", "3,5", ENDS="3"), 1,
           "failed: anchors ended with 3 (contend: as the test says); its output is in anchors.log",
           "failed: quick ended with 3")
    expect(folder.plan("--only", "3", FINDS="partial.yaml"), 1, "anchors.yaml is not complete")
    expect(folder.plan("--only", "11", ENDS="3"), 1, "failed: the calibration ended with 3 before it was killed")
    assert folder.kept() == set()


def test_what_is_missing_is_not_kept(folder):
    expect(folder.plan("--only", "3,5,11", contend="nowhere/contend"), 5, "3. the rates of memory and of products: not "
           "run: ", "nowhere/contend can't be started: No such file or directory")
    expect(folder.plan("--only", "1", backend="cuda"), 5, "not run")
    assert folder.kept() == set()
    # A CPU lacks nothing that a CPU can have.
    expect(folder.plan("--only", "1,2,4,7,8,12"), 0,
           "8. attention and convolutions beside PyTorch's: not run: PyTorch is measured on a GPU")
    # Earlier versions kept such lines.
    folder.write("out/plan.json", json.dumps({"3": {"expected": "", "found": "", "verdict": "not run: nothing"}}))
    expect(folder.plan("--only", "3"), 0, "3. the rates of memory and of products: no expectation")


def test_repeatability_is_judged_by_both_figures(folder):
    def ten(last):
        """Ten samples, of which the last one takes so many seconds."""
        return profile("true", *[(f"op{i}", (1000,), 1e-6) for i in range(9)], ("op9", (1000,), last))

    folder.write("out/quick.yaml", ten(1e-6))
    for last, code, verdict, points in ((1.015e-6, 0, "as expected", "100% of 10 points"),
                                        (1.025e-6, 1, "not as expected", "90% of 10 points")):
        folder.write("again.yaml", ten(last))
        expect(folder.plan("--only", "6", "--again", FINDS="again.yaml"), code, f"6. the same again: {verdict}\n",
               f"median 0.0%, {points} within the half widths")


def test_interference_is_judged_by_both_figures(folder):
    folder.write("out/quick.yaml", profile("true", ("nccl_all_reduce", (1000, 2), 1e-6)))
    for backend, code in (("cpu", 0), ("cuda", 5)):
        expect(folder.plan("--only", "10", backend=backend), code,
               "not run: quick.yaml has no operation beside a reduction")
    folder.write("out/quick.yaml", profile("true", ("gemm_beside_reduce", (1, 8), 1e-6)))
    folder.write("costs.yaml", "network: {}\n")
    expect(folder.plan("--only", "10", FINDS="costs.yaml"), 0, "both alone and beside a reduction of 8 blocks")
    for compute, network, code in (("0.200", "0.500", 0), ("0.000", "0.500", 1), ("0.200", "0.000", 1)):
        folder.write("costs.yaml", f"network:\n  interference: {{compute: {compute}, network: {network}}}\n")
        expect(folder.plan("--only", "10", "--again", FINDS="costs.yaml"), code,
               f"found:    compute {compute}, network {network}\n")


def test_wrong_calls_of_the_plan(folder):
    for text in ("abc", "3,", "0", "13", "-1", "1.5"):
        expect(folder.plan(f"--only={text}"), 2, "expected numbers from 1 to 12 with commas between them, such as 3,4")
    expect(folder.plan("--seconds", "4"), 2, "expected at least 5 seconds, such as 590, and got \"4\"")
    expect(folder.plan("--seconds", "nan"), 2, "expected at least 5 seconds")
    expect(folder.plan("--budget", "0"), 2, "expected a whole number of seconds above 0, such as 50, and got \"0\"")
    for text in ("{\"3\": ", "[]", "{\"3\": 4}", "\xff"):
        folder.write("out/plan.json", text)
        expect(folder.plan("--only", "3"), 3, "plan.json", "delete it, or begin again with --again")
    expect(folder.plan("--only", "3", "--again"), 0)
    expect(folder.run([sys.executable, str(SOURCE / "scripts/calibration_plan.py"), "whole.yaml"]), 2,
           "whole.yaml can't be the folder of the results")


def test_wrong_calls_of_the_whole_calibration(folder):
    done = folder.here("--help")
    expect(done, 0, "scripts/calibrate_here.sh OUT [STEP...]")
    assert not done.stderr and "set -e" not in done.stdout and done.stdout.endswith("is no GPU.\n"), done
    expect(folder.here(), 2)
    expect(folder.here("--halp"), 2)
    cpu = {"BACKEND": "cpu", "PROGRAMS": "."}
    expect(folder.here("out", BACKEND="cpuu"), 2, "BACKEND=cpuu: expected cuda or cpu")
    expect(folder.here("out", "quick", PIECE="abc", **cpu), 2, "PIECE=abc: expected a whole number of seconds above 0")
    expect(folder.here("out", "quick", QUICK_BUDGET="0", **cpu), 2, "QUICK_BUDGET=0: expected")
    expect(folder.here("out", "steps", **cpu), 2,
           "there is no step steps with BACKEND=cpu; there are quick plan full repeat")
    expect(folder.here("out", "quick", PIECE="60", **cpu), 2,
           "PIECE=60 is too short for quick: it must be at least 140 seconds, or name other steps")
    expect(folder.here("out", "quick", "steps", PIECE="300"), 2,
           "PIECE=300 is too short for steps: it must be at least 520 seconds")
    expect(folder.here("out", BACKEND="cpu", PROGRAMS="nowhere"), 2, "PROGRAMS=nowhere: there is no such folder")
    (folder.path / "contend").unlink()
    expect(folder.here("out", "quick", **cpu), 2, "there is no program contend in this folder")
    if not (SOURCE / "build/gpu/contend").exists():
        expect(folder.here("out", "quick", BACKEND="cpu"), 2, "nothing is built with BACKEND=cpu: set PROGRAMS")
        expect(folder.here("out", "quick"), 2, "name the step build, too")
    assert not (folder.path / "out").exists()


def test_what_is_left_goes_on(folder):
    call = {"BACKEND": "cpu", "PROGRAMS": ".", "QUICK_BUDGET": "1", "PIECE": "91"}  # the shortest one
    expect(folder.here("out", "quick", **call), 0, "quick ")
    done = folder.here("out", "quick", "full", **call, ENDS="4")
    expect(done, 4, "full ", "goes on in the next call", "left: full; call it again")
    assert "quick " not in done.stdout, done.stdout
    expect(folder.here("out", "quick", "full", **call), 0, "full ")


def test_lines_of_a_gpu(folder):
    for name, code in (("nvidia-smi", 0), ("test_gpu", 0), ("compute-sanitizer", 9)):
        folder.write(name, f"#!/bin/sh\necho says $0\nexit {code}\n")
        (folder.path / name).chmod(0o755)
    path = f"{folder.path}:{os.environ['PATH']}"
    expect(folder.plan("--only", "1,2", backend="cuda", PATH=path), 1, "found:    passed after 0 s",
           "2. memory errors and races of the kernels: failed: memcheck ended with 9", "; racecheck ended with 9")
    assert folder.kept() == {"1"}
    folder.write("compute-sanitizer", "#!/bin/sh\n")
    expect(folder.plan("--only", "1,2", backend="cuda", PATH=path), 0,
           "2. memory errors and races of the kernels: as expected")


def test_what_only_the_reader_can_judge(folder):
    options = argparse.Namespace(out=folder.path, seconds=100, backend="cuda", contend="contend", budget=None)
    plan = calibration_plan.Plan(options)
    (folder.path / "quick.yaml").write_text(profile("true"), encoding="utf-8")
    plan.beside_torch = lambda *_: ("none of 3 above it", True)
    plan.run_torch = plan.run_well = lambda *_: 1.0
    for number in (8, 12):
        _, verdict, code = calibration_plan.measure(plan, number)
        assert (verdict, code) == ("shown, not judged", 0), (number, verdict, code)


def main():
    for name, test in globals().copy().items():
        if name.startswith("test_"):
            with tempfile.TemporaryDirectory() as path:
                try:
                    test(Folder(path))
                except AssertionError as fault:
                    print(f"{name}: {fault}")
                    return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
