#!/usr/bin/env python3
"""Draws mutants of the simulator at random and counts how many of them a test notices.

    scripts/mutation_sample.py [--count 100] [--seed 1] [--at-least 90] [--output mutants.csv]
    scripts/mutation_sample.py --files sim/courier.cpp     # every mutant of a file

A mutant is the tree with one operator changed: comparisons (< and <=, > and >=, == and !=), && and ||, + and -, * and
/, += and -=, `return true` and `return false`, and `+ 1` or `- 1` dropped. The operators are tokens of C++, not matches
in a line: comments, strings, directives, template brackets, unary operators, default arguments, `operator==` and its
like, and what stands in static_assert, CONTEND_CHECK or CONTEND_DCHECK aren't touched.

The mutants are built and tested in a private copy of the working tree under --folder (build/mutation), one copy a job,
with -O1 and, as in the checked build, with CONTEND_DCHECK and the assertions of the standard library: an index one
past the end counts as noticed there too. One build holds all that are drawn, and a variable of the environment chooses
the active one (scripts/mutant_switches.py). Files without mutants are compiled a folder at a time. A mutant in a
header or a constant expression, for example, can't be chosen so and is built alone, after the others; with --alone all
are. A draw in place of a mutant that doesn't compile is built alone, too.

Mutants are drawn from all rooms: the folders that CMakeLists.txt adds, without tests. The test program of python/ is the
test of its package, through CTest. First come the tests of the mutant's own file and folder, then the whole test program
of its room, and then, if that passes, the programs of the rooms that use it, the fastest first (--programs own leaves these
out). A test fails, the program crashes, or it takes four times the processor time of the unchanged tree and ten seconds:
the mutant is noticed. A mutant that doesn't compile is no mutant; another is drawn.

Mutants that change nothing are listed, each with its reason, in scripts/mutation_equivalent.txt and aren't drawn.
Standard library only; needs cmake and ninja, and is much faster with ccache and lld.
"""

import argparse
import csv
import hashlib
import json
import os
import pathlib
import random
import re
import resource
import shutil
import signal
import subprocess
import sys
import threading
import time
from dataclasses import dataclass

sys.dont_write_bytecode = True

from mutant_switches import HEADER, HEADER_TEXT, VARIABLE, switched  # noqa: E402
from mutants import Mutant, equivalents, mutants_of, tokens_of  # noqa: E402

ROOT = pathlib.Path(__file__).resolve().parent.parent
EQUIVALENT = "scripts/mutation_equivalent.txt"
# The rooms: what CMakeLists.txt adds to the program, and the Python package.
ROOTS = tuple(name for name in dict.fromkeys(re.findall(r"^\s*add_subdirectory\((\w+)\)", (ROOT / "CMakeLists.txt").read_text(
    encoding="utf-8"), re.M)) if name != "tests")
PACKAGE = "python"  # the room that is tested as a package
MEMORY_KB = 6 * 1024 * 1024
SKIPPED = 77  # the exit status of a program whose tests passed, some of them skipped for want of data

def sources(roots, headers):
    suffixes = (".cpp", ".hpp") if headers else (".cpp",)
    names = [path.relative_to(ROOT).as_posix() for root in roots for path in sorted((ROOT / root).rglob("*"))
             if path.suffix in suffixes]
    return [name for name in names if "/cuda/" not in name]  # the copies are built without CUDA


def named_sources(text):
    """The files of a list with commas, as --files takes it."""
    names = list(dict.fromkeys(pathlib.PurePosixPath(name).as_posix() for name in text.split(",")))
    known = set(sources(ROOTS, True))
    for name in names:
        if name not in known:
            sys.exit(f"--files: {name}: expected a .cpp or .hpp file below {', '.join(ROOTS)}, such as sim/courier.cpp")
    return names


def all_mutants(names):
    return [it for name in names for it in mutants_of((ROOT / name).read_text(encoding="utf-8"), name)]


# ----------------------------------------------------------------------------------------------------------- copies

def test_programs():
    """Rooms with a test program, and for each the rooms whose libraries it links, as the CMakeLists.txt say."""
    uses = {}
    for path in ROOT.glob("*/CMakeLists.txt"):
        for room, rest in re.findall(r"\bcontend_room\(\s*(\w+)([^)]*)\)", path.read_text(encoding="utf-8")):
            uses[room] = set(re.findall(r"\bcontend_(\w+)", rest))
    tests = (ROOT / "tests/CMakeLists.txt").read_text(encoding="utf-8")
    first = {room: set(re.findall(r"\bcontend_(\w+)", rest))
             for room, rest in re.findall(r"^contend_room_tests\(\s*(\w+)([^)]*)\)", tests, re.M)}
    links = {}
    for room, todo in {**first, PACKAGE: {PACKAGE, "cli"}}.items():
        reached = set()
        while todo:
            library = todo.pop()
            reached.add(library)
            todo |= uses.get(library, set()) - reached
        links[room] = reached
    return links


def nearest_tests(name):
    """Patterns of the test files that are most likely to notice a mutant of a file: of its name, and of its folder."""
    path = pathlib.PurePosixPath(name)
    patterns = [f"*tests/{path.parts[0]}/*{path.stem}*"]
    return patterns + ([f"*tests/{path.parent}/*"] if len(path.parts) > 2 else [])


def largest_accepted(items, kept, accepts, refused=False):
    """What of `items` can be taken with `kept`, found by halving; `refused`: it is known that not all of it can."""
    if not items or (not refused and accepts(kept + items)):
        return kept + items
    if len(items) == 1:
        return kept
    half = len(items) // 2
    kept = largest_accepted(items[:half], kept, accepts)
    return largest_accepted(items[half:], kept, accepts)


class Copy:
    """A private copy of the working tree, with a build folder of its own."""

    def __init__(self, folder, threads, options):
        self.tree, self.build_folder, self.threads, self.options = folder, folder / "build/mutants", threads, options
        self.environment = dict(os.environ, CCACHE_BASEDIR=str(folder), CCACHE_NOHASHDIR="1")
        self.environment["CONTEND_PROGRAM"] = str(self.build_folder / "contend")
        self.environment.setdefault("CONTEND_DATA", str(ROOT.parent / "shared/data"))
        self.environment.pop(VARIABLE, None)
        self.switches, self.originals = {}, {}

    def bring_up_to_date(self, switches):
        """Copies the working tree, with a switch for each of some mutants; `switches` gives each its number."""
        listed = subprocess.run(["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"], cwd=ROOT,
                                check=True, capture_output=True, text=True).stdout
        names = {name for name in listed.split("\0") if name and (ROOT / name).is_file()}
        self.switches = dict(switches)
        mutated = sorted({mutant.file for mutant in switches})
        self.originals = {name: (ROOT / name).read_text(encoding="utf-8") for name in mutated}
        contents = {name: self.switched_text(name).encode() for name in mutated}
        if switches:
            contents[HEADER] = HEADER_TEXT.encode()
            names.add(HEADER)
        for old in [path for path in self.tree.rglob("*") if path.is_file()]:
            name = old.relative_to(self.tree).as_posix()
            if name not in names and not name.startswith("build/"):
                old.unlink()
        self.digest = hashlib.sha256(repr(self.options).encode())
        for name in sorted(names):
            source, target = ROOT / name, self.tree / name
            content = contents.get(name) or source.read_bytes()
            self.digest.update(name.encode() + content)
            # A file that is the same keeps its time, so that it isn't compiled again.
            if not target.exists() or target.read_bytes() != content:
                target.parent.mkdir(parents=True, exist_ok=True)
                target.write_bytes(content)
                if source.exists():
                    shutil.copymode(source, target)

    def switched_text(self, name):
        numbers = {mutant: number for mutant, number in self.switches.items() if mutant.file == name}
        return switched(self.originals[name], name, numbers)

    def compiles(self, names):
        """Whether some files compile, each to its object; no program is linked."""
        objects = [f"{self.tree / name}^" for name in names]  # of ninja: what is made first from a file
        return subprocess.run(["ninja", "-C", str(self.build_folder), f"-j{self.threads}", "-k0", *objects],
                              env=self.environment, capture_output=True).returncode == 0

    def drop_what_does_not_compile(self):
        """Takes out the switches that keep a file from compiling; halving its mutants finds them."""
        names = sorted(self.originals)
        if self.compiles(names):
            return
        for name in names:
            if self.compiles([name]):
                continue
            here = {mutant: number for mutant, number in self.switches.items() if mutant.file == name}
            others = {mutant: number for mutant, number in self.switches.items() if mutant.file != name}

            def try_with(mutants):
                self.switches = others | {mutant: here[mutant] for mutant in mutants}
                (self.tree / name).write_text(self.switched_text(name), encoding="utf-8")
                return self.compiles([name])

            kept = largest_accepted(list(here), [], try_with, refused=True)
            try_with(kept)


    def configure(self, compiled_alone):
        """`compiled_alone`: the files that aren't compiled together with the others of their folder."""
        options = ["-DCMAKE_BUILD_TYPE=Release", "-DCMAKE_CXX_FLAGS_RELEASE=-O1 -D_GLIBCXX_ASSERTIONS",
                   "-DCONTEND_CUDA=OFF", "-DCMAKE_UNITY_BUILD=ON", f"-DCONTEND_COMPILED_ALONE={';'.join(compiled_alone)}"]
        if shutil.which("ccache"):
            options.append("-DCMAKE_CXX_COMPILER_LAUNCHER=ccache")
        if shutil.which("ld.lld"):
            options.append("-DCMAKE_EXE_LINKER_FLAGS=-fuse-ld=lld")
        subprocess.run(["cmake", "-S", str(self.tree), "-B", str(self.build_folder), "-G", "Ninja", *options,
                        *self.options], check=True, stdout=subprocess.DEVNULL, env=self.environment)

    def has_package(self):
        """Whether the Python package is built here: it needs pybind11."""
        return subprocess.run(["ninja", "-C", str(self.build_folder), "-t", "query", "contend_python"],
                              capture_output=True).returncode == 0

    def build(self, rooms):
        targets = ["contend_python" if room == PACKAGE else f"test_{room}" for room in rooms]
        targets += ["contend"] if {"cli", PACKAGE} & set(rooms) else []
        return subprocess.run(["ninja", "-C", str(self.build_folder), f"-j{self.threads}", *targets],
                              env=self.environment, capture_output=True, text=True)

    def test(self, room, processor_seconds, wall_seconds, active=None, files=()):
        """None if the tests pass, with the switch of a mutant set if it has one, else how they fail. `files`: patterns
        of the names of the only test files to run; all if there are none."""
        environment = dict(self.environment)
        if active is not None:
            environment[VARIABLE] = str(active)
        limits = f"ulimit -c 0; ulimit -v {MEMORY_KB}; ulimit -t {int(processor_seconds) + 1}; exec \"$@\""
        words = [str(self.build_folder / f"tests/test_{room}"), "--abort-after=1", "--no-colors"]
        if room == PACKAGE:
            words = ["ctest", "--test-dir", str(self.build_folder), "-R", f"^{PACKAGE}$", "--no-tests=error", "-V"]
        elif files:
            words.append(f"--source-file={','.join(files)}")
        with subprocess.Popen(["bash", "-c", limits, "bash", *words], cwd=self.tree, env=environment,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                              errors="replace", start_new_session=True) as process:
            try:
                output, _ = process.communicate(timeout=wall_seconds)
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, signal.SIGKILL)
                process.communicate()
                return "time-out"
        if process.returncode in (0, SKIPPED):
            return None
        if process.returncode in (-signal.SIGXCPU, -signal.SIGKILL):
            return "time-out"
        cases = re.findall(r"^TEST CASE:\s*(.*)$", output, re.M)
        crashed = process.returncode < 0 or re.search(r"test case CRASHED|\*\*\*Exception", output)
        kind = "crash" if crashed else "failure"
        return f"{kind}: {cases[-1].strip()}" if cases else kind


@dataclass
class Verdict:
    mutant: Mutant
    result: str  # noticed, survived, not compiled
    program: str = ""
    how: str = ""
    seconds: float = 0


class Sampler:
    def __init__(self, folder, jobs, programs, threads, options):
        self.copies = [Copy(folder / str(job + 1), threads, options) for job in range(jobs)]
        self.links, self.programs = test_programs(), programs
        self.used_processor, self.used_wall = {}, {}
        self.lock = threading.Condition()

    def programs_of(self, room):
        """The room's own program first, then the programs of the rooms that use it, the fastest first."""
        others = [other for other, libraries in self.links.items() if room in libraries and other != room]
        own = [room] if room in self.links else []
        if self.programs == "own" and own:
            return own
        return own + sorted(others, key=lambda other: self.used_wall.get(other, 0))

    def prepare(self, rooms, switches, compiled_alone):
        """Builds the tree in every copy, with all switches off; in the first its tests must pass, and are timed."""
        for copy in self.copies:  # all first, so that the tree may change while they are built
            copy.bring_up_to_date(switches)
        for copy in self.copies:
            copy.configure(compiled_alone)
        if not self.copies[0].has_package():
            if PACKAGE in rooms:
                sys.exit(f"mutants of {PACKAGE}/ can't be judged, because its package isn't built: install pybind11-dev, "
                         f"or name other rooms with --roots")
            del self.links[PACKAGE]
        needed = [room for room in self.links if any(room in self.programs_of(mutated) for mutated in rooms)]
        for copy in self.copies:
            begin = time.monotonic()
            copy.drop_what_does_not_compile()
            built = copy.build(needed)
            if built.returncode != 0:
                sys.exit(f"the tree without an active mutant does not build in {copy.build_folder}; does it build "
                         f"elsewhere, or with --alone?\n{built.stdout[-4000:]}")
            print(f"{copy.build_folder}: built in {time.monotonic() - begin:.0f} s, with {len(copy.switches)} of the "
                  f"mutants", flush=True)
        times = self.copies[0].build_folder / "mutation_times.json"
        tree = self.copies[0].digest.hexdigest()
        known = json.loads(times.read_text()) if times.exists() else {}
        known = known if known.get("tree") == tree else {"tree": tree}
        for room in needed:
            if room not in known:
                begin, used = time.monotonic(), resource.getrusage(resource.RUSAGE_CHILDREN)
                how = self.copies[0].test(room, 3600, 3600)
                if how is not None:
                    sys.exit(f"the tests of {room} fail without an active mutant: {how}; do they pass with --alone?")
                now = resource.getrusage(resource.RUSAGE_CHILDREN)
                processor = now.ru_utime + now.ru_stime - used.ru_utime - used.ru_stime
                known[room] = [processor, time.monotonic() - begin]
                times.write_text(json.dumps(known))
            self.used_processor[room], self.used_wall[room] = known[room]
            print(f"test_{room}: {self.used_wall[room]:.1f} s without a mutation", flush=True)

    def judge(self, copy, mutant):
        begin, path, active = time.monotonic(), copy.tree / mutant.file, copy.switches.get(mutant)
        before = path.read_text(encoding="utf-8")
        if active is None:
            original = copy.originals.get(mutant.file, before)
            path.write_text(original[:mutant.begin] + mutant.new + original[mutant.end:], encoding="utf-8")
        verdict = Verdict(mutant, "survived")
        try:
            programs = self.programs_of(mutant.room)
            near = [(programs[0], nearest_tests(mutant.file))] if programs[0] != PACKAGE else []
            for room, files in near + [(room, ()) for room in programs]:
                if active is None and copy.build([room]).returncode != 0:
                    verdict = Verdict(mutant, "not compiled")
                    break
                how = copy.test(room, 10 + 4 * self.used_processor[room], 60 + 10 * self.used_wall[room], active, files)
                if how is not None:
                    verdict = Verdict(mutant, "noticed", f"test_{room}", how)
                    break
        finally:
            if active is None:
                path.write_text(before, encoding="utf-8")
        verdict.seconds = time.monotonic() - begin
        return verdict

    def run(self, candidates, count):
        """Verdicts on the first `count` of the candidates that compile."""
        # A mutant that is built alone leaves programs behind that hold it, so those with a switch come first. They
        # change no file, so that several can be judged in a copy at a time.
        candidates = sorted(enumerate(candidates), key=lambda pair: pair[1] not in self.copies[0].switches)
        switched_count = sum(mutant in self.copies[0].switches for _, mutant in candidates)
        verdicts, state = [], {"next": 0, "in flight": 0, "compiled": 0}

        def work(copy, end):
            while True:
                with self.lock:
                    while state["compiled"] + state["in flight"] >= count and state["in flight"] > 0:
                        self.lock.wait()
                    if state["compiled"] >= count or state["next"] >= end:
                        self.lock.notify_all()
                        return
                    index, mutant = candidates[state["next"]]
                    state["next"] += 1
                    state["in flight"] += 1
                try:
                    verdict = self.judge(copy, mutant)
                except BaseException:
                    os.kill(os.getpid(), signal.SIGINT)
                    raise
                with self.lock:
                    state["in flight"] -= 1
                    if verdict.result != "not compiled":
                        state["compiled"] += 1
                    verdicts.append((index, verdict))
                    number = f"{state['compiled']}/{count}" if verdict.result != "not compiled" else "-"
                    how = f"  ({verdict.program}, {verdict.how})" if verdict.program else ""
                    print(f"{number:>9} {verdict.result:<12} {verdict.mutant}{how}  {verdict.seconds:.0f} s", flush=True)
                    self.lock.notify_all()

        for copies, end in (([copy for copy in self.copies for _ in range(copy.threads)], switched_count),
                            (self.copies, len(candidates))):
            threads = [threading.Thread(target=work, args=(copy, end), daemon=True) for copy in copies]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
        return [verdict for _, verdict in sorted(verdicts, key=lambda pair: pair[0])]


# ----------------------------------------------------------------------------------------------------------- report

COLUMNS = ("result", "file", "line", "column", "mutation", "program", "how", "seconds", "text")


def write_list(path, verdicts):
    os.makedirs(os.path.dirname(path) or ".", exist_ok=True)
    with open(path, "w", newline="", encoding="utf-8") as out:
        writer = csv.writer(out)
        writer.writerow(COLUMNS)
        for it in verdicts:
            writer.writerow([it.result, it.mutant.file, it.mutant.line, it.mutant.column, it.mutant.label, it.program,
                             it.how, f"{it.seconds:.1f}", it.mutant.text])


def summarise(verdicts):
    """Prints the shares and the survivors; returns the share noticed."""
    compiled = [it for it in verdicts if it.result != "not compiled"]
    noticed = [it for it in compiled if it.result == "noticed"]
    survivors = [it for it in compiled if it.result == "survived"]
    kinds = {kind: sum(it.how.startswith(kind) for it in noticed) for kind in ("failure", "crash", "time-out")}
    print()
    for room in sorted({it.mutant.room for it in compiled}):
        drawn = [it for it in compiled if it.mutant.room == room]
        caught = sum(it.result == "noticed" for it in drawn)
        print(f"{room:<12} {caught:4d} of {len(drawn):4d} noticed, {100 * caught / len(drawn):.0f}%")
    share = 100 * len(noticed) / max(1, len(compiled))
    print(f"{'in all':<12} {len(noticed):4d} of {len(compiled):4d} noticed, {share:.1f}%: {kinds['failure']} by a failing "
          f"test, {kinds['crash']} by a crash, {kinds['time-out']} by a time-out; "
          f"{len(verdicts) - len(compiled)} more did not compile")
    for it in survivors:
        print(f"survived: {it.mutant}    {it.mutant.text}")
    return share


def read_survivors(path, mutants):
    """The mutants that survived according to a list, as the tree is now: found by file, text of the line, mutation."""
    found = []
    with open(path, newline="", encoding="utf-8") as rows:
        for row in csv.DictReader(rows):
            if row["result"] != "survived":
                continue
            same = [it for it in mutants if (it.file, it.text, it.label) == (row["file"], row["text"], row["mutation"])]
            if not same:
                print(f"{row['file']}:{row['line']}: gone: {row['mutation']} in {row['text']}")
                continue
            found.append(min(same, key=lambda it: abs(it.line - int(row["line"]))))
    return found


# -------------------------------------------------------------------------------------------------------- self-test

def self_test():
    """The tokens that make mutants in texts with all that must not, and the entries of the list of equivalents."""
    def labels(text):
        return [it.label for it in mutants_of(text, "a.cpp")]

    cases = [
        ("if (a < b && c == d) return true;", ["< -> <=", "&& -> ||", "== -> !=", "true -> false"]),
        ('say("a < b" + x); // a < b\n/* a == b */ y = R"x(a < b)" ) < )x";', []),
        ("auto c = '<'; auto d = '\\''; auto e = a < '\"'; f(b > c);", ["< -> <=", "> -> >="]),
        ("#include <a < b>\n  #define A(x) (x < 1) \\\n    && (x == 2)\nint y = a * b;", ["* -> /"]),
        ("template <class T, int N = 3> std::map<std::pair<A, B>, C<T>> f(T&& x, const A* y);", []),
        ("bool operator<(const A& b) const; bool operator==(A) const; auto operator<=>(const A&) const = default;", []),
        ("CONTEND_CHECK(a < b && (c == d), f(e > 1)); static_assert(sizeof(a) == 1); g(h > 1);", ["> -> >="]),
        ("CONTEND_DCHECK(\n    a < b,\n    \"x\");", []),
        ("void f(int a = 1 + 2, bool b = c == d); for (int i = 0; i < n; ++i) g(i);", ["< -> <="]),
        ("x = -1; y = *p; z = &q; p->x += 2; i++; return -x;", ["+= -> -="]),
        ("s += \"text\"; s = s + \"more\"; t << 3;", []),
        ("return a - 1 + b;", ["- -> +", "- 1 dropped", "+ -> -"]),
        ("return a + 1 * b\n + 1'000\n + 1e-9\n + 0x1p-3;", ["+ -> -", "* -> /", "+ -> -", "+ -> -", "+ -> -"]),
        ("return a < b ||\n       a < c || a < d;",
         ["< -> <=", "|| -> &&", "< -> <=", "|| -> &&", "< -> <= (number 2 of the line)"]),
        ("const auto f = [&](int x) { return x >= 1; };\nif (!a) return false;", [">= -> >", "false -> true"]),
        ("a = b /* less */ < c;", ["< -> <="]),
    ]
    for text, expected in cases:
        if labels(text) != expected:
            sys.exit(f"self-test: {text!r}: expected {expected}, got {labels(text)}")
    try:
        tokens_of("int a;\nchar b = \"open;\n")
        sys.exit("self-test: an open string was taken for C++")
    except ValueError as error:
        if "text:2" not in str(error):
            sys.exit(f"self-test: the place of an open string is wrong: {error}")
    it = mutants_of("int a;\nint b = a - 1;\n", "a.cpp")[1]
    if (it.line, it.column, it.begin, it.end, it.old, it.new) != (2, 11, 17, 20, "- 1", ""):
        sys.exit(f"self-test: a mutant in the wrong place: {it!r}")
    self_test_of_switches()
    untested = set(ROOTS) - set(test_programs())
    if untested or len(ROOTS) < 13:
        sys.exit(f"self-test: the rooms are {ROOTS}; without a test program: {untested}")
    known = equivalents(ROOT / EQUIVALENT)
    texts = {file: (ROOT / file).read_text(encoding="utf-8") for file, _, _ in known if (ROOT / file).is_file()}
    there = {(file, it.text, it.label) for file, text in texts.items() for it in mutants_of(text, file)}
    stale = [entry for entry in known if entry not in there]
    for file, line, label in stale:
        print(f"{EQUIVALENT}:1: the tree has no such mutant any more: {file}: {line}: {label}")
    sys.exit(1 if stale else 0)


def self_test_of_switches():
    """Texts with all their switches, in short: B7 is the type of the switch of mutant 7, and so on."""
    def shortened(text):
        changed = switched(text, "a.cpp", {it: number for number, it in enumerate(mutants_of(text, "a.cpp"))})
        for name, letter in (("Binary", "B"), ("Assigned", "A"), ("on", "on"), ("one", "one"), ("truth", "truth")):
            changed = re.sub(rf"contend_mutant::{name}<(\d+)>", rf"{letter}\1", changed)
        return changed.split("\n", 2)[2] if changed != text else text

    cases = [
        ("int a = b[c];", "int a = b[c];"),
        ("x += y - 1;", "x += A0{} += y - B1{} - one2();"),
        ("f(a <\n  b);", "f(a < B0{} <\n  b);"),
        ("if (a) return true;", "if (a) return truth0(true);"),
        ("return a && b;", "return (on0() ? ( a || b) : ( a && b));"),
        ("x |= !a || b, c;", "x |= (on0() ? ( !a && b) : ( !a || b)), c;"),
        ("y = a && b < c ? d : e;", "y = (on0() ? ( a || b < B1{} < c) : ( a && b < B1{} < c)) ? d : e;"),
        ("z(a && b || c);", "z( (on0() ? (a || b || c) : on1() ? (a && b && c) : (a && b || c)));"),
        ("return a &&  // why\n b;", "return (on0() ? ( a ||  // why\n b\n) : ( a &&  // why\n b\n));"),
        ("if (a) {} *p = b && c;", "if (a) {} *p = (on0() ? ( b || c) : ( b && c));"),
        ("return F{} * x && y;", "return (on1() ? ( F{} * B0{} * x || y) : ( F{} * B0{} * x && y));"),
        ("return a && f([&] { return b || c; });",
         "return (on0() ? ( a || f([&] { return (on1() ? ( b && c) : ( b || c)); }))"
         " : ( a && f([&] { return (on1() ? ( b && c) : ( b || c)); })));"),
    ]
    for text, expected in cases:
        if re.sub(r"\s+", " ", shortened(text)) != re.sub(r"\s+", " ", expected):
            sys.exit(f"self-test: {text!r} with switches: expected {expected!r}, got {shortened(text)!r}")
    for name, patterns in (("sim/courier.cpp", ["*tests/sim/*courier*"]),
                           ("policies/fusion/merging.cpp", ["*tests/policies/*merging*", "*tests/policies/fusion/*"])):
        if nearest_tests(name) != patterns:
            sys.exit(f"self-test: the nearest tests of {name}: {nearest_tests(name)}")
    for refused in ((), (0,), (6,), (2, 3), tuple(range(7))):
        kept = largest_accepted(list(range(7)), [], lambda items: not set(items) & set(refused))
        if kept != [item for item in range(7) if item not in refused]:
            sys.exit(f"self-test: {refused} don't compile, and {kept} were kept of 0 to 6")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, help="mutants to judge (default 100, or with --files all)")
    parser.add_argument("--seed", type=int, default=1, help="seed of the draw (default 1)")
    parser.add_argument("--roots", default=",".join(ROOTS), help="rooms to mutate, such as sim,network (default: all)")
    parser.add_argument("--files", help="instead of rooms: files to mutate, such as sim/courier.cpp,sim/leaper.cpp")
    parser.add_argument("--alone", action="store_true", help="build every mutant alone: slow, to check the usual way")
    parser.add_argument("--headers", action="store_true", help="mutate .hpp too: each rebuilds many files")
    parser.add_argument("--programs", choices=("own", "all"), default="all",
                        help="the test program of the mutant's room, or those of the rooms that use it too (default)")
    parser.add_argument("--jobs", type=int, default=1, help="copies of the tree; those that are built alone are judged one a copy, others one a core (default 1)")
    parser.add_argument("--folder", type=pathlib.Path, default=ROOT / "build/mutation", help="where the copies are")
    parser.add_argument("--cmake", action="append", default=[], metavar="-DNAME=VALUE", help="for the builds of the copies")
    parser.add_argument("--at-least", type=float, default=0, help="exit with 1 if fewer per cent are noticed")
    parser.add_argument("--output", help="file for the list of mutants, as CSV")
    parser.add_argument("--again", help="instead of a draw: the survivors of such a list")
    parser.add_argument("--list", action="store_true", help="print what would be drawn and stop")
    parser.add_argument("--self-test", action="store_true", help="check this script itself and stop; builds nothing")
    arguments = parser.parse_args()
    if arguments.self_test:
        self_test()
    roots = arguments.roots.split(",")
    for root in roots:
        if root not in ROOTS:
            sys.exit(f"--roots: {root}: expected rooms from {', '.join(ROOTS)}")
    known = set(equivalents(ROOT / EQUIVALENT))
    names = named_sources(arguments.files) if arguments.files else \
        sources(roots, arguments.headers or arguments.again is not None)
    mutants = all_mutants(names)
    drawn = [it for it in mutants if (it.file, it.text, it.label) not in known]
    if arguments.again:
        candidates = read_survivors(arguments.again, drawn)
        count = len(candidates)
    else:
        candidates, count = random.Random(arguments.seed).sample(drawn, len(drawn)), len(drawn)
        if arguments.count is not None or not arguments.files:
            count = min(100 if arguments.count is None else arguments.count, count)
        print(f"seed {arguments.seed}: {count} of {len(drawn)} mutants of {arguments.files or ', '.join(roots)}; "
              f"{len(mutants) - len(drawn)} more are known to change nothing")
    if arguments.list:
        for it in candidates[:count]:
            print(f"{it}    {it.text}")
        return
    threads = max(1, (os.cpu_count() or 1) // arguments.jobs)
    sampler = Sampler(arguments.folder.resolve(), arguments.jobs, arguments.programs, threads, arguments.cmake)
    switches = {} if arguments.alone else {it: number for number, it in enumerate(candidates[:count])
                                           if it.file.endswith(".cpp")}
    sampler.prepare(sorted({it.room for it in candidates[:2 * count]}), switches,
                    sorted({it.file for it in candidates[:count] if it.file.endswith(".cpp")}))
    verdicts = sampler.run(candidates, count)
    if arguments.output:
        write_list(arguments.output, verdicts)
    share = summarise(verdicts)
    if all(it.result == "not compiled" for it in verdicts):
        sys.exit("no mutant was judged")
    if share < arguments.at_least:
        sys.exit(f"fewer than {arguments.at_least:g}% were noticed")


if __name__ == "__main__":
    main()
