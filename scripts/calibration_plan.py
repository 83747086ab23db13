#!/usr/bin/env python3
"""Calibrates a device line by line, and prints what to expect beside what was found: the first half hour on a new
GPU.

  scripts/calibration_plan.py OUT                                  all lines, on the GPU
  scripts/calibration_plan.py OUT --backend cpu --contend PROGRAM  the same on the CPU, to see how it goes
  scripts/calibration_plan.py OUT --only 3,4 --seconds 600         some lines, of at most so long in all

What was found is kept in OUT/plan.json, so a second call goes on where the first one ended; --again begins again. Only
lines whose commands ended as they should are kept: the next call measures the others again, from their beginning. The
profiles are in OUT. Expectations in figures hold for an H200 and an H100, by their data sheets and by what others
have published; for other devices only shares and times that hold anywhere are expected. A line says `as expected`,
`not as expected`, `no expectation`, `shown, not judged`, or why it was not run, failed or was cut off. Exit codes, of
which the first that applies is taken:

  4  the same call again goes on with the lines that were left or cut off
  1  a line was not as expected, failed, or needs more --seconds than this call had
  5  a line was not run, because something that it needs is not here; lines that need a GPU don't count on the CPU
  0  otherwise

A wrong command line ends with 2, a plan.json that is not as this script writes it with 3, an interruption with 130.
"""

import argparse
import json
import os
import pathlib
import re
import shutil
import statistics
import subprocess
import sys
import time

FAILED, DAMAGED, LEFT, MISSING = 1, 3, 4, 5
LAST_LINE = 12
SHORTEST = 5  # seconds, below which no line is begun
SHOWN = "shown"  # in place of whether a line agrees with what was expected, where only the reader can tell
SCRIPTS = pathlib.Path(__file__).resolve().parent
VERDICTS = {True: "as expected", False: "not as expected", None: "no expectation", SHOWN: "shown, not judged"}
H200 = {"copy": (4.0e12, 4.6e12), "read": (0.85 * 4.8e12, 4.9e12), "write": (0.85 * 4.8e12, 4.9e12),
        "bf16": (700e12, 830e12), "fp8": (1.1e15, 1.5e15), "fp32": (43e12, 58e12)}
H100 = {**H200, "copy": (2.8e12, 3.2e12), "read": (0.85 * 3.35e12, 3.4e12), "write": (0.85 * 3.35e12, 3.4e12),
        "fp8": (1.1e15, 1.65e15)}
# Operators whose kernels here shall take at most 1.3 times as long as PyTorch's for the largest shape, and those that a
# library tuned for one generation may do faster.
OWN = ["activation", "sum", "layer_norm", "rms_norm", "softmax", "batch_norm", "adam_fused", "sgd_fused",
       "embedding_backward", "cross_entropy", "swiglu"]
TUNED = ["attention", "causal_attention", "convolution"]


class NotRun(Exception):
    """Something that a line needs is not here."""


class NotOnCpu(NotRun):
    """A line that no CPU can run, which is no fault."""


class Failed(Exception):
    """A command of a line did not end as it should."""


class CutOff(Exception):
    """The time of this call ended while a command of a line ran."""


class Damaged(Exception):
    """A file of results is not as this script writes it."""


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


def last_words(log):
    """The last line of a log, in parentheses, to follow a message."""
    lines = log.read_text(encoding="utf-8", errors="replace").strip().splitlines()
    return f" ({lines[-1]})" if lines else ""


def no_program(words, error):
    """The exception for a program that can't be started."""
    return NotRun(f"{words[0]} can't be started: {error.strerror}")


class Plan:
    def __init__(self, options):
        self.options = options
        self.out = pathlib.Path(options.out)
        self.deadline = time.monotonic() + options.seconds
        self.gpu = options.backend == "cuda"

    def left(self):
        return self.deadline - time.monotonic()

    def run(self, words, most, name):
        """Runs a command, which must end within `most` seconds; returns its exit code and seconds. Its output goes to a
        log. A command that is still running when the time of this call is over cuts the line off."""
        begin, left = time.monotonic(), max(self.left(), 1)
        with open(self.out / f"{name}.log", "w", encoding="utf-8") as log:
            try:
                done = subprocess.run(words, stdout=log, stderr=subprocess.STDOUT, timeout=min(most, left),
                                      check=False)
            except subprocess.TimeoutExpired as error:
                if left < most:
                    raise CutOff from error
                raise Failed(f"{name} did not end within {most} s; its output is in {name}.log") from error
            except OSError as error:
                raise no_program(words, error) from error
        return done.returncode, time.monotonic() - begin

    def failure(self, code, name):
        """The exception for a command that ended with this code."""
        return Failed(f"{name} ended with {code}{last_words(self.out / f'{name}.log')}; its output is in {name}.log")

    def run_well(self, words, most, name):
        """Runs a command that must end with 0; returns its seconds."""
        code, seconds = self.run(words, most, name)
        if code != 0:
            raise self.failure(code, name)
        return seconds

    def calibrate(self, name, *options):
        """A whole profile and the seconds that it took. It is begun again, because a part would tell less than those."""
        path = self.out / f"{name}.yaml"
        path.unlink(missing_ok=True)
        seconds = self.run_well([self.options.contend, "calibrate", "--backend", self.options.backend, "-o", str(path),
                                 *options], 600, name)
        if not path.exists() or head(path, "complete") != "true":
            raise Failed(f"contend calibrate ended well, but {name}.yaml is not complete; its output is in {name}.log")
        return path, seconds

    def quick_profile(self):
        """The profile of line 5, by which others judge."""
        path = self.out / "quick.yaml"
        if not path.exists():
            raise NotRun("quick.yaml is not there; line 5 writes it")
        if head(path, "complete") != "true":
            raise NotRun("quick.yaml is not complete; line 5 writes it")
        return path

    def need_gpu(self, why):
        if not self.gpu:
            raise NotOnCpu(why)

    def lacks(self, what):
        """The exception for a profile that lacks what a line needs. On a CPU much is too slow to be measured."""
        return NotRun(what) if self.gpu else NotOnCpu(what)

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

    # Each line returns what was expected, what was found, and whether that agrees: None without an expectation, and
    # SHOWN if that is not judged.

    def line_1(self):
        """the device, and the tests of the kernels"""
        self.need_gpu("test_gpu needs a GPU")
        self.run(["nvidia-smi", "-q", "-d", "CLOCK,POWER,PERFORMANCE"], 60, "device")
        seconds = self.run_well([self.test_program()], 300, "test_gpu")
        return "passes in less than 2 minutes", f"passed after {seconds:.0f} s", seconds < 120

    def line_2(self):
        """memory errors and races of the kernels"""
        self.need_gpu("compute-sanitizer needs a GPU")
        if not shutil.which("compute-sanitizer"):
            raise NotRun("there is no compute-sanitizer")
        cases = "-tc=*attention*,*top-k*,*signs*,*softmax*,*normalisation*"
        codes = {}
        for name in ("memcheck", "racecheck"):
            words = ["compute-sanitizer", "--error-exitcode", "9", "--tool", name, self.test_program(), cases]
            codes[name], _ = self.run(words, 180, name)
        if failed := [self.failure(code, name) for name, code in codes.items() if code != 0]:
            raise Failed("; ".join(map(str, failed)))
        return "neither errors nor races", "neither", True

    def line_3(self):
        """the rates of memory and of products"""
        path, _ = self.calibrate("anchors", *self.quick(), "--only", "memory,gemm")
        found, best = tables(path), {}
        for op, touches in (("copy", 2), ("read", 1), ("write", 1)):
            if samples := found.get((op, "fp32")):
                largest = max(samples)  # in the caches of no device
                best[op] = touches * largest[0] / samples[largest][0]
        for kind in ("fp32", "bf16", "fp8"):
            rates = [2 * shape[0] * shape[1] * shape[2] * shape[3] / seconds
                     for shape, (seconds, _) in found.get(("gemm", kind), {}).items()]
            if rates:
                best[kind] = max(rates)
        if not best:
            raise self.lacks("anchors.yaml has neither rates of memory nor of products")
        limits = {key: self.expected(path, key) for key in best if self.expected(path, key)}
        says = ", ".join(f"{key} {low / 1e12:.4g} to {high / 1e12:.4g}" for key, (low, high) in limits.items())
        seen = ", ".join(f"{key} {rate / 1e9:.4g} GB/s" if key in ("copy", "read", "write")
                         else f"{key} {rate / 1e12:.4g} TFLOP/s" for key, rate in best.items())
        if not limits:
            return "of this device nothing", seen, None
        return (f"{says} TB/s or TFLOP/s", seen,
                all(low <= best[key] <= high for key, (low, high) in limits.items()))

    def line_4(self):
        """launches"""
        self.need_gpu("a CPU launches nothing")
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
        first = tables(self.quick_profile())
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
        middle, worst = statistics.median(apart), sorted(apart)[int(0.95 * (len(apart) - 1))]
        return ("median within 3%, 95% of the points within the two half widths",
                f"median {100 * middle:.1f}%, {100 * inside / len(apart):.0f}% of {len(apart)} points within the half "
                f"widths; 95% within {100 * worst:.1f}%", middle <= 0.03 and inside >= 0.95 * len(apart))

    def run_torch(self, script, words, most, name):
        """Runs a script that measures PyTorch."""
        code, _ = self.run([sys.executable, str(SCRIPTS / script), *words], most, name)
        if code == MISSING:
            raise NotRun(f"PyTorch measures no GPU here{last_words(self.out / f'{name}.log')}")
        if code != 0:
            raise self.failure(code, name)

    def beside_torch(self, name, operators, most):
        """What operators take beside PyTorch's, for the largest shape of each: (what was found, whether none takes
        longer than so many times as long)."""
        self.need_gpu("PyTorch is measured on a GPU")
        path = self.out / f"{name}.json"
        self.run_torch("measure_torch_operators.py", [str(self.quick_profile()), "-o", str(path), "--shapes", "4",
                                                      "--only", ",".join(operators)], 240, name)
        largest = {}
        for each in json.loads(path.read_text(encoding="utf-8"))["samples"]:
            key = f"{each['op']} {each['type']}"
            if key not in largest or each["profile_s"] > largest[key]["profile_s"]:
                largest[key] = each
        if not largest:
            raise NotRun("no operator was measured in PyTorch")
        ratios = {key: each["profile_s"] / each["torch_s"] for key, each in largest.items()}
        slow = sorted(((ratio, key) for key, ratio in ratios.items() if ratio > most), reverse=True)
        if not slow:
            return f"none of {len(ratios)} above it", True
        return "above it: " + ", ".join(f"{key} {ratio:.2f}" for ratio, key in slow), False

    def line_7(self):
        """operators beside PyTorch's"""
        found, agrees = self.beside_torch("own", OWN, 1.3)
        return "at most 1.3 times PyTorch's time for the largest shape", found, agrees

    def line_8(self):
        """attention and convolutions beside PyTorch's"""
        found, _ = self.beside_torch("tuned", TUNED, 1.3)
        return ("attention here is by kernels of our own, which take 3 to 6 times as long on an H100; "
                "`contend calibrate merge` takes PyTorch's", found, SHOWN)

    def line_9(self):
        """products after seconds of products"""
        path = self.quick_profile()
        found, ratios = tables(path), {}
        for kind in ("fp32", "tf32", "fp16", "bf16", "fp8"):
            both = set(found.get(("gemm_sustained", kind), {})) & set(found.get(("gemm", kind), {}))
            if both:
                largest = max(both, key=lambda shape: shape[0] * shape[1] * shape[2] * shape[3])
                ratios[kind] = found[("gemm_sustained", kind)][largest][0] / found[("gemm", kind)][largest][0]
        if not ratios:
            raise self.lacks("quick.yaml has no product both alone and after seconds of products")
        return ("0.97 to 1.25 times as long", ", ".join(f"{kind} {ratio:.3f}" for kind, ratio in ratios.items()),
                all(0.97 <= ratio <= 1.25 for ratio in ratios.values()))

    def line_10(self):
        """computing and communicating on one device"""
        path = self.quick_profile()
        if not any(op.endswith("_beside_reduce") for op, _ in tables(path)):
            raise self.lacks("quick.yaml has no operation beside a reduction; `contend calibrate --only "
                             "gemm,attention,elementwise,contention` measures them")
        written = self.out / "interference.yaml"
        self.run_well([self.options.contend, "calibrate", "network", "--profile", str(path), "-o", str(written)], 60,
                      "interference")
        factors = re.search(r"interference: \{compute: ([0-9.]+), network: ([0-9.]+)\}",
                            written.read_text(encoding="utf-8"))
        if not factors:
            raise self.lacks("quick.yaml has no operation measured both alone and beside a reduction of 8 blocks")
        return ("both above 0 for the median operation", f"compute {factors[1]}, network {factors[2]}",
                float(factors[1]) > 0 and float(factors[2]) > 0)

    def kill_when_begun(self, words, path):
        """Begins a calibration, and kills it when the first samples are in its file."""
        with open(self.out / "killed.log", "w", encoding="utf-8") as log:
            try:
                process = subprocess.Popen(words, stdout=log, stderr=log)
            except OSError as error:
                raise no_program(words, error) from error
        begun, until = False, time.monotonic() + min(20, max(self.left(), 1))
        try:
            while not begun and time.monotonic() < until and process.poll() is None:
                time.sleep(0.1)
                begun = path.exists() and "samples" in path.read_text(encoding="utf-8")
            code = process.poll()
        finally:
            process.kill()
            process.wait()
        if code is not None:
            raise Failed(f"the calibration ended with {code} before it was killed; its output is in killed.log")
        if not begun:
            if self.left() <= 1:
                raise CutOff
            raise Failed("the calibration wrote no samples in 20 s; its output is in killed.log")

    def line_11(self):
        """a killed calibration goes on"""
        path = self.out / "killed.yaml"
        path.unlink(missing_ok=True)
        words = [self.options.contend, "calibrate", "--backend", self.options.backend, "-o", str(path), "--quick",
                 "--only", "memory,elementwise", "--budget", "20"]
        self.kill_when_begun(words, path)
        before = tables(path)
        self.run_well([*words, "--resume"], 120, "resumed")
        after = tables(path)
        kept = all(after.get(key, {}).get(shape) == value
                   for key, samples in before.items() for shape, value in samples.items())
        count = [sum(len(samples) for samples in each.values()) for each in (before, after)]
        return ("what was measured before is kept", f"{count[0]} points before, {count[1]} after, "
                f"{'all' if kept else 'not all'} kept", kept and count[1] >= count[0])

    def line_12(self):
        """training steps"""
        self.need_gpu("training steps are measured on a GPU")
        profile, steps = self.quick_profile(), self.out / "steps.json"
        self.run_torch("measure_training_steps.py", ["-o", str(steps)], 500, "steps")
        self.run_well([sys.executable, str(SCRIPTS / "compare_training_steps.py"), str(steps), str(profile),
                       "--contend", self.options.contend], 120, "comparison")
        return ("within 10% where the operators are PyTorch's; those of quick.yaml are our own",
                f"the table is in {self.out / 'comparison.log'}", SHOWN)


def line_numbers(text):
    """The numbers of --only."""
    numbers = [int(each) if re.fullmatch(r"[0-9]+", each) else 0 for each in text.split(",")]
    for number, each in zip(numbers, text.split(",")):
        if not 1 <= number <= LAST_LINE:
            raise argparse.ArgumentTypeError(f'there is no line "{each}"; expected numbers from 1 to {LAST_LINE} with '
                                             "commas between them, such as 3,4")
    return numbers


def seconds_of_call(text):
    """The seconds of --seconds."""
    if not re.fullmatch(r"[0-9]*\.?[0-9]+", text) or float(text) < SHORTEST:
        raise argparse.ArgumentTypeError(f'expected at least {SHORTEST} seconds, such as 590, and got "{text}"')
    return float(text)


def whole_seconds(text):
    """The seconds of --budget."""
    if not re.fullmatch(r"[0-9]+", text) or int(text) == 0:
        raise argparse.ArgumentTypeError(f'expected a whole number of seconds above 0, such as 50, and got "{text}"')
    return int(text)


def is_finding(each):
    """Whether this is what save() writes of a line."""
    return isinstance(each, dict) and all(isinstance(each.get(key), str) for key in ("expected", "found", "verdict"))


def load(store):
    """What earlier calls found: {number: finding}."""
    if not store.exists():
        return {}
    advice = "delete it, or begin again with --again"
    try:
        found = json.loads(store.read_text(encoding="utf-8"))
    except ValueError as error:
        raise Damaged(f"{store} is no JSON ({error}); {advice}") from error
    if not isinstance(found, dict) or not all(is_finding(each) for each in found.values()):
        raise Damaged(f"{store} does not give `expected`, `found` and `verdict` of each line; {advice}")
    # Earlier versions kept lines that were not run, too.
    return {number: each for number, each in found.items() if each["verdict"] in VERDICTS.values()}


def save(store, found):
    """Writes what was found so that a call which is killed meanwhile leaves the file before it."""
    new = store.with_suffix(".tmp")
    new.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
    os.replace(new, store)


def measure(plan, number):
    """Measures a line: (what was found, or none; the verdict; the exit code that it asks for)."""
    given = plan.left()
    whole = given > plan.options.seconds - 1  # nothing of note ran before it in this call
    if given < SHORTEST and not whole:
        return None, "left for the next call", LEFT
    try:
        expected, seen, agrees = getattr(plan, f"line_{number}")()
    except CutOff:
        if not whole:
            return None, f"cut off after {given:.0f} s, which others had left to it; call again", LEFT
        return None, f"cut off after {given:.0f} s; call again with more --seconds", FAILED
    except Failed as reason:
        return None, f"failed: {reason}", FAILED
    except NotOnCpu as reason:
        return None, f"not run: {reason}", 0
    except NotRun as reason:
        return None, f"not run: {reason}", MISSING
    return {"expected": expected, "found": seen, "verdict": VERDICTS[agrees]}, VERDICTS[agrees], 0


def go_through(plan, wanted, store, found):
    """Prints the lines, and measures those that are not known; returns the exit codes that they ask for."""
    codes = {0}
    for number in wanted:
        each = found.get(str(number))
        verdict, code = (each["verdict"], 0) if each else ("", 0)
        if not each:
            each, verdict, code = measure(plan, number)
            if each:
                found[str(number)] = each
                save(store, found)
        codes.add(FAILED if verdict == VERDICTS[False] else code)
        print(f"{number:2}. {getattr(plan, f'line_{number}').__doc__}: {verdict}", flush=True)
        if each:
            print(f"      expected: {each['expected']}\n      found:    {each['found']}", flush=True)
    return codes


def read_options():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out", help="folder of the results")
    parser.add_argument("--contend", default="build/gpu/contend", help="the program (default: build/gpu/contend)")
    parser.add_argument("--backend", choices=("cuda", "cpu"), default="cuda")
    parser.add_argument("--only", type=line_numbers, default=list(range(1, LAST_LINE + 1)),
                        help="numbers of lines, such as 3,4")
    parser.add_argument("--seconds", type=seconds_of_call, default=590, help="most seconds of this call (default 590)")
    parser.add_argument("--budget", type=whole_seconds, help="seconds of each calibration instead of its default")
    parser.add_argument("--again", action="store_true", help="forget what was found before")
    options = parser.parse_args()
    options.contend = os.path.abspath(options.contend)
    try:
        pathlib.Path(options.out).mkdir(parents=True, exist_ok=True)
    except OSError as error:
        parser.error(f"{options.out} can't be the folder of the results: {error.strerror}")
    return options


def main():
    options = read_options()
    plan = Plan(options)
    store = plan.out / "plan.json"
    try:
        codes = go_through(plan, options.only, store, {} if options.again else load(store))
    except Damaged as fault:
        print(f"calibration_plan: {fault}", file=sys.stderr)
        return DAMAGED
    except KeyboardInterrupt:
        print("calibration_plan: interrupted; the same call measures the interrupted line again", file=sys.stderr)
        return 130
    return next(code for code in (LEFT, FAILED, MISSING, 0) if code in codes)


if __name__ == "__main__":
    sys.exit(main())
