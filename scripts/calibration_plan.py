#!/usr/bin/env python3
"""Calibrates a device line by line, and prints what to expect beside what was found: the first half hour on a new GPU.

  scripts/calibration_plan.py OUT                                  all lines, on the GPU
  scripts/calibration_plan.py OUT --backend cpu --contend PROGRAM  the same on the CPU, to see how it goes
  scripts/calibration_plan.py OUT --only 3,4 --seconds 600         some lines, of at most so long in all

What was found is kept in OUT/plan.json, so a second call goes on where the first one ended; --again begins anew. The
profiles are in OUT. Expectations in figures are those of an H200 and an H100 by their data sheets and by what others have published;
for other devices only shares and times that hold anywhere are expected. A line says `as expected`, `not as expected`,
`no expectation` or why it was not run. Exit code 1 if a line was not as expected, 4 if some were left for another call.
"""

import argparse
import json
import os
import pathlib
import re
import shutil
import signal
import statistics
import subprocess
import sys
import time

LEFT = 4
H200 = {"copy": (4.0e12, 4.6e12), "read": (0.85 * 4.8e12, 4.9e12), "write": (0.85 * 4.8e12, 4.9e12),
        "bf16": (700e12, 830e12), "fp8": (1.1e15, 1.5e15), "fp32": (43e12, 58e12)}
H100 = {**H200, "copy": (2.8e12, 3.2e12), "read": (0.85 * 3.35e12, 3.4e12), "write": (0.85 * 3.35e12, 3.4e12),
        "fp8": (1.1e15, 1.65e15)}
# Operators whose kernels here shall take at most 1.3 times as long as PyTorch's for the largest shape, and those that a
# library tuned for one generation may do faster.
OWN = ["activation", "sum", "layer_norm", "rms_norm", "softmax", "batch_norm", "adam_fused", "sgd_fused", "embedding_backward",
       "cross_entropy", "swiglu"]
TUNED = ["attention", "causal_attention", "convolution"]


class NotRun(Exception):
    """Why a line can't be run here."""


def tables(path):
    """The samples of a profile: {(operator, type): {shape: (seconds, half width)}}."""
    found, key, sizes = {}, None, 0
    for text in path.read_text(encoding="utf-8").splitlines():
        if match := re.match(r"  - op: (\w+)$", text):
            key = [match[1]]
        elif match := re.match(r"    type: (\w+)$", text):
            key = (key[0], match[1])
            found[key] = {}
        elif match := re.match(r"    dimensions: \[(.*)\]$", text):
            sizes = len(match[1].split(", "))
        elif match := re.match(r"      - \[(.*)\]$", text):
            numbers = match[1].split(", ")
            shape = tuple(int(each) for each in numbers[:sizes])
            found[key][shape] = (float(numbers[sizes]), float(numbers[sizes + 1]))
    return found


def head(path, key):
    match = re.search(rf"^{key}: (.*)$", path.read_text(encoding="utf-8"), re.M)
    return match[1].strip('"') if match else ""


class Plan:
    def __init__(self, options):
        self.options = options
        self.out = pathlib.Path(options.out)
        self.out.mkdir(parents=True, exist_ok=True)
        self.deadline = time.monotonic() + options.seconds
        self.gpu = options.backend == "cuda"

    def left(self):
        return self.deadline - time.monotonic()

    def run(self, words, most, name):
        """Runs a command for at most `most` seconds; returns its exit code and seconds. Its output goes to a log."""
        begin = time.monotonic()
        with open(self.out / f"{name}.log", "w", encoding="utf-8") as log:
            try:
                done = subprocess.run(words, stdout=log, stderr=subprocess.STDOUT, timeout=min(most, max(self.left(), 1)),
                                      check=False)
                code = done.returncode
            except subprocess.TimeoutExpired:
                code = 124
            except FileNotFoundError as error:
                raise NotRun(str(error)) from error
        return code, time.monotonic() - begin

    def calibrate(self, name, *options):
        path = self.out / f"{name}.yaml"
        words = [self.options.contend, "calibrate", "--backend", self.options.backend, "-o", str(path), *options]
        if path.exists():
            words.append("--resume")
        code, seconds = self.run(words, 600, name)
        if not path.exists():
            raise NotRun(f"contend calibrate ended with {code}; its output is in {name}.log")
        return path, seconds

    def profile(self, name):
        path = self.out / f"{name}.yaml"
        if not path.exists():
            raise NotRun(f"{name}.yaml is not there; the line that writes it comes before")
        return path

    def quick(self):
        budget = ["--budget", str(self.options.budget)] if self.options.budget else []
        return ["--quick", *budget]

    def expected(self, path, key):
        device = head(path, "device")
        return H200.get(key) if "H200" in device else H100.get(key) if "H100" in device else None

    def test_program(self):
        for place in (pathlib.Path(self.options.contend).parent / "tests" / "test_gpu",
                      pathlib.Path(self.options.contend).parent / "test_gpu"):
            if place.exists():
                return str(place)
        raise NotRun("there is no test_gpu beside contend")

    # Each line returns what was expected, what was found, and whether that agrees; None: no expectation.

    def line_1(self):
        """the device, and the tests of the kernels"""
        if not self.gpu:
            raise NotRun("test_gpu needs a GPU")
        self.run(["nvidia-smi", "-q", "-d", "CLOCK,POWER,PERFORMANCE"], 60, "device")
        code, seconds = self.run([self.test_program()], 300, "test_gpu")
        return "passes in less than 2 minutes", f"ended with {code} after {seconds:.0f} s", code == 0 and seconds < 120

    def line_2(self):
        """memory errors and races of the kernels"""
        if not self.gpu:
            raise NotRun("compute-sanitizer needs a GPU")
        if not shutil.which("compute-sanitizer"):
            raise NotRun("there is no compute-sanitizer")
        cases = "-tc=*attention*,*top-k*,*signs*,*softmax*,*normalisation*"
        codes = [self.run(["compute-sanitizer", "--error-exitcode", "9", *tool, self.test_program(), cases], 180, name)[0]
                 for tool, name in (([], "memcheck"), (["--tool", "racecheck"], "racecheck"))]
        return "neither errors nor races", f"ended with {codes[0]} and {codes[1]}", codes == [0, 0]

    def line_3(self):
        """the rates of memory and of products"""
        path, _ = self.calibrate("anchors", *self.quick(), "--only", "memory,gemm")
        found, parts, agrees = tables(path), [], []
        for op, touches in (("copy", 2), ("read", 1), ("write", 1)):
            samples = found.get((op, "fp32"), {})
            if not samples:
                continue
            largest = max(samples)  # in the caches of no device
            best = touches * largest[0] / samples[largest][0]
            parts.append(f"{op} {best / 1e9:.4g} GB/s")
            if limits := self.expected(path, op):
                agrees.append(limits[0] <= best <= limits[1])
        for kind in ("fp32", "bf16", "fp8"):
            rates = [2 * shape[0] * shape[1] * shape[2] * shape[3] / seconds
                     for shape, (seconds, _) in found.get(("gemm", kind), {}).items()]
            if rates:
                parts.append(f"{kind} {max(rates) / 1e12:.4g} TFLOP/s")
                if limits := self.expected(path, kind):
                    agrees.append(limits[0] <= max(rates) <= limits[1])
        known = {key: self.expected(path, key) for key in ("copy", "read", "write", "bf16", "fp8", "fp32")}
        says = ", ".join(f"{key} {limits[0] / 1e12:.4g} to {limits[1] / 1e12:.4g}" for key, limits in known.items()
                         if limits) + " TB/s or TFLOP/s"
        return (says if agrees else "of this device nothing"), ", ".join(parts), all(agrees) if agrees else None

    def line_4(self):
        """launches"""
        if not self.gpu:
            raise NotRun("a CPU launches nothing")
        path, _ = self.calibrate("launch", *self.quick(), "--only", "launch")
        each = min(seconds / shape[0] for shape, (seconds, _) in tables(path)[("launch", "fp32")].items())
        return "1 to 3.5 us one after the other", f"{each * 1e6:.2f} us", 1e-6 <= each <= 3.5e-6

    def line_5(self):
        """a quick calibration in a minute"""
        path, seconds = self.calibrate("quick", *self.quick())
        text = path.read_text(encoding="utf-8")
        points, late = text.count("\n      - ["), text.count("no time left")
        return ("less than 60 s, all groups", f"{seconds:.0f} s, {points} points, {late} entries without time, "
                f"{head(path, 'power_limited_s')} s limited by power", seconds < 60 and points > 0 and late == 0)

    def line_6(self):
        """the same again"""
        first = tables(self.profile("quick"))
        second = tables(self.calibrate("again", *self.quick())[0])
        apart, inside = [], 0
        for key, samples in first.items():
            for shape, (seconds, width) in samples.items():
                if shape not in second.get(key, {}):
                    continue
                other, other_width = second[key][shape]
                apart.append(abs(other / seconds - 1))
                inside += apart[-1] <= width + other_width
        if not apart:
            raise NotRun("no shape is in both profiles")
        worst = sorted(apart)[int(0.95 * (len(apart) - 1))]
        return ("median within 3%, 95% within the two half widths",
                f"median {100 * statistics.median(apart):.1f}%, 95% within {100 * worst:.1f}%; "
                f"{100 * inside / len(apart):.0f}% of {len(apart)} points within the half widths",
                statistics.median(apart) <= 0.03)

    def beside_torch(self, name, operators, most):
        """What operators take beside PyTorch's, for the largest shape of each: (what was found, whether none takes longer
        than so many times as long)."""
        if not self.gpu:
            raise NotRun("PyTorch is measured on a GPU")
        path = self.out / f"{name}.json"
        code, _ = self.run([sys.executable, str(pathlib.Path(__file__).parent / "measure_torch_operators.py"),
                            str(self.profile("quick")), "-o", str(path), "--shapes", "4", "--only", ",".join(operators)],
                           240, name)
        if code == 5:
            raise NotRun("there is no PyTorch")
        if code != 0 or not path.exists():
            raise NotRun(f"scripts/measure_torch_operators.py ended with {code}; its output is in {name}.log")
        largest = {}
        for each in json.loads(path.read_text(encoding="utf-8"))["samples"]:
            key = f"{each['op']} {each['type']}"
            if key not in largest or each["profile_s"] > largest[key]["profile_s"]:
                largest[key] = each
        ratios = {key: each["profile_s"] / each["torch_s"] for key, each in largest.items()}
        slow = sorted(((ratio, key) for key, ratio in ratios.items() if ratio > most), reverse=True)
        found = "above it: " + ", ".join(f"{key} {ratio:.2f}" for ratio, key in slow) if slow else f"none of {len(ratios)}"
        return found, not slow

    def line_7(self):
        """operators beside PyTorch's"""
        found, agrees = self.beside_torch("own", OWN, 1.3)
        return "at most 1.3 times PyTorch's time for the largest shape", found, agrees

    def line_8(self):
        """attention and convolutions beside PyTorch's"""
        found, _ = self.beside_torch("tuned", TUNED, 1.3)
        return ("attention here is by kernels of our own, which take 3 to 6 times as long on an H100; "
                "`contend calibrate merge` takes PyTorch's", found, None)

    def line_9(self):
        """products after seconds of products"""
        path = self.profile("quick")
        found, ratios = tables(path), {}
        for kind in ("fp32", "tf32", "fp16", "bf16", "fp8"):
            both = set(found.get(("gemm_sustained", kind), {})) & set(found.get(("gemm", kind), {}))
            if both:
                largest = max(both, key=lambda shape: shape[0] * shape[1] * shape[2] * shape[3])
                ratios[kind] = found[("gemm_sustained", kind)][largest][0] / found[("gemm", kind)][largest][0]
        if not ratios:
            raise NotRun("no product is in both tables")
        return ("1 to 1.2 times as long", ", ".join(f"{kind} {ratio:.3f}" for kind, ratio in ratios.items()),
                all(0.97 <= ratio <= 1.25 for ratio in ratios.values()))

    def line_10(self):
        """computing and communicating on one device"""
        path = self.profile("quick")
        words = [self.options.contend, "calibrate", "network", "--profile", str(path), "-o",
                 str(self.out / "interference.yaml")]
        code, _ = self.run(words, 60, "interference")
        log = (self.out / "interference.log").read_text(encoding="utf-8")
        if code != 0:
            raise NotRun(log.strip().splitlines()[-1] if log.strip() else f"ended with {code}")
        factors = re.search(r"interference: (\{.*\})", (self.out / "interference.yaml").read_text(encoding="utf-8"))[1]
        return "both above 0 for the median operation", factors, "compute: 0.000" not in factors

    def line_11(self):
        """a killed calibration goes on"""
        path = self.out / "killed.yaml"
        path.unlink(missing_ok=True)
        words = [self.options.contend, "calibrate", "--backend", self.options.backend, "-o", str(path), "--quick",
                 "--only", "memory,elementwise", "--budget", "20"]
        with open(self.out / "killed.log", "w", encoding="utf-8") as log:
            with subprocess.Popen(words, stdout=log, stderr=log) as process:
                until = time.monotonic() + 20
                while time.monotonic() < until and process.poll() is None:
                    if path.exists() and "samples" in path.read_text(encoding="utf-8"):
                        break
                    time.sleep(0.1)
                process.send_signal(signal.SIGKILL)
        if not path.exists():
            raise NotRun("the calibration wrote nothing; its output is in killed.log")
        before = tables(path)
        self.run([*words, "--resume"], 120, "resumed")
        after = tables(path)
        kept = all(after.get(key, {}).get(shape) == value
                   for key, samples in before.items() for shape, value in samples.items())
        count = [sum(len(samples) for samples in each.values()) for each in (before, after)]
        return ("what was measured before is kept", f"{count[0]} points before, {count[1]} after, "
                f"{'all' if kept else 'not all'} kept", kept and count[1] >= count[0])

    def line_12(self):
        """training steps"""
        if not self.gpu:
            raise NotRun("training steps are measured on a GPU")
        scripts = pathlib.Path(__file__).parent
        code, _ = self.run([sys.executable, str(scripts / "measure_training_steps.py"), "-o", str(self.out / "steps.json")],
                           500, "steps")
        if code == 5:
            raise NotRun("there is no PyTorch")
        self.run([sys.executable, str(scripts / "compare_training_steps.py"), str(self.out / "steps.json"),
                  str(self.profile("quick")), "--contend", self.options.contend], 120, "comparison")
        return "within 10%", f"the table is in {self.out / 'comparison.log'}", None


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out", help="folder of the results")
    parser.add_argument("--contend", default="build/gpu/contend", help="the program (default: build/gpu/contend)")
    parser.add_argument("--backend", choices=("cuda", "cpu"), default="cuda")
    parser.add_argument("--only", help="numbers of lines, such as 3,4")
    parser.add_argument("--seconds", type=float, default=590, help="most seconds of this call (default 590)")
    parser.add_argument("--budget", type=int, help="seconds of each calibration instead of its default")
    parser.add_argument("--again", action="store_true", help="forget what was found before")
    options = parser.parse_args()
    options.contend = os.path.abspath(options.contend)
    plan = Plan(options)
    store = plan.out / "plan.json"
    found = {} if options.again or not store.exists() else json.loads(store.read_text(encoding="utf-8"))
    wanted = [int(each) for each in options.only.split(",")] if options.only else list(range(1, 13))
    if unknown := [each for each in wanted if not 1 <= each <= 12]:
        parser.error(f"--only: there is no line {unknown[0]}; there are 1 to 12")
    worst = 0
    for number in wanted:
        line = getattr(plan, f"line_{number}")
        if str(number) not in found:
            if plan.left() < 5:
                print(f"{number:2}. {line.__doc__}: left for the next call")
                worst = LEFT
                continue
            try:
                expected, seen, agrees = line()
                verdict = {True: "as expected", False: "not as expected", None: "no expectation"}[agrees]
                found[str(number)] = {"expected": expected, "found": seen, "verdict": verdict}
            except NotRun as reason:
                found[str(number)] = {"expected": "", "found": "", "verdict": f"not run: {reason}"}
            store.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
        each = found[str(number)]
        print(f"{number:2}. {line.__doc__}: {each['verdict']}")
        if each["expected"]:
            print(f"      expected: {each['expected']}\n      found:    {each['found']}", flush=True)
        if each["verdict"] == "not as expected" and worst == 0:
            worst = 1
    return worst


if __name__ == "__main__":
    sys.exit(main())
