#!/usr/bin/env python3
"""The checks of scripts/test.sh and scripts/weekly.sh can fail: each kind of fault that is planted here must show.

Usage: stages_test.py SOURCE_FOLDER. The scripts run in a small tree of their own, where other programs stand for CMake,
clang-tidy, the fuzz targets and the longer scripts; CTest is the real one.
"""

import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

SOURCE = pathlib.Path(sys.argv[1]).resolve()
REAL = ("stages.sh", "weekly_record.sh", "weekly.sh", "test.sh", "gpu.sh", "left_out_tests.py")

# Configures, or builds what `cmake-builds` says; it is broken for a preset if there is a file broken-PRESET.
CMAKE = """#!/usr/bin/env bash
set -euo pipefail
preset=dev
while (($# > 0)); do
  if [[ $1 == --preset ]]; then preset=$2; fi
  if [[ $1 == --build && $2 == build/* ]]; then preset=${2#build/}; fi
  if [[ $1 == --build ]]; then builds=yes; fi
  if [[ $1 == help ]]; then echo "contend_cuda_objects: phony"; exit; fi
  shift
done
mkdir -p "build/$preset"
if [[ -z ${builds-} ]]; then exit; fi
if [[ -e broken-$preset ]]; then echo "a.cpp:1: error: this is broken"; exit 1; fi
for file in $(<cmake-builds); do
  mkdir -p "build/$preset/$(dirname "$file")"
  touch "build/$preset/$file"
  chmod +x "build/$preset/$file"
done
"""
FUZZ = """#!/usr/bin/env bash
echo "INFO: $CONTEND_FUZZ_TARGET"
echo "stat::number_of_executed_units: 1000"
"""
SAYS = {
    "install_deps.sh": "echo ninja-build",
    "lint.sh": "echo 'lint: 7 files, no breach'",
    "check_determinism.sh": "echo 'determinism: 12 files compared'",
    "mutation_sample.py": "echo 'in all         9 of   10 noticed, 90.0%: 9 by a failing test'",
    "each_file_alone.py": "echo '3 of 3 files compile alone'",
    "coverage.py": "echo 'coverage: 3 rooms'",
    "dependants.py": "cat",
}
WEEKLY = ("every file alone", "all CUDA architectures", "mutations", "engine faults", "coverage",
          "clang-tidy on everything", "sanitized tests", "fuzz", "benches", "captured programs", "wheel", "report page", "calibration tests",
          "script tests", "properties")


class Tree:
    """A tree in which every check passes."""

    def __init__(self, path):
        self.path = pathlib.Path(path)
        for name in REAL:
            self.write(f"scripts/{name}", (SOURCE / "scripts" / name).read_text(encoding="utf-8"))
        for name, body in SAYS.items():
            self.write(f"scripts/{name}", f"#!/usr/bin/env bash\n{body}\n")
        self.write("tests/python/wheel_test.py", "#!/usr/bin/env bash\necho 'wheel: 9 checks'\n")
        self.write("bin/cmake", CMAKE)
        self.write("bin/clang-tidy-14", "#!/bin/sh\n")
        self.write("cmake-builds", "a.o calibration/cuda/a.cu.o tests/bench_a")
        self.write("sim/a.cpp", "int a;\n")
        self.write("tests/sim/a_test.cpp", "TEST_CASE(\"a\") {}\n")
        self.write("tests/fuzz/corpus/text/words/one", "1")
        self.write("tests/bench/bench_a.cpp", "int main() {}\n")
        self.write("tests/capture/captured_programs.py", "print('did: 11 captured programs')\n")
        self.write("tests/certificate/engine_faults.py", "#!/bin/sh\necho 'engine faults: 4 of 4 found'\n")
        self.write(".gitignore", "/build/\n/broken-*\n")
        for preset in ("release", "checked"):
            self.tests(preset)
            self.write(f"build/{preset}/compile_commands.json", f'[{{\n  "file": "{self.path}/sim/a.cpp"\n}}]\n')
        self.fuzz(FUZZ)
        self.git("init", "-q")
        self.commit()

    def write(self, name, text):
        file = self.path / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
        file.chmod(0o755)

    def tests(self, preset, a="/bin/true", more=""):
        """The tests of a build; `a` is the program of the first."""
        lines = [f'add_test(sim/a {a} "--source-file=*tests/sim/a_test.cpp")',
                 "set_tests_properties(sim/a PROPERTIES SKIP_RETURN_CODE 77)",
                 f"add_test(fuzz/text/words /bin/true {self.path}/tests/fuzz/corpus/text/words)",
                 "add_test(report_page /bin/true)", "add_test(policies/a_property /bin/true)",
                 "add_test(stages /bin/true)", "add_test(cli/calibrate /bin/true)", more]
        self.write(f"build/{preset}/CTestTestfile.cmake", "\n".join(lines) + "\n")

    def fuzz(self, text):
        self.write("build/checked/tests/fuzz/fuzz_text", text)

    def git(self, *words):
        return subprocess.run(["git", "-c", "user.name=a", "-c", "user.email=a@b", *words], cwd=self.path, check=True,
                              capture_output=True, text=True).stdout

    def commit(self):
        self.git("add", "-A")
        self.git("commit", "-q", "--allow-empty", "-m", "a state")

    def run(self, *words, **variables):
        own = {name: value for name, value in os.environ.items() if name not in ("CI", "CONTEND_EFFORT", "MUTANTS", "SEED")}
        return subprocess.run(words, cwd=self.path, env={**own, "PATH": f"{self.path}/bin:{os.environ['PATH']}", **variables},
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=60, check=False)

    def stages(self, text):
        return self.run("bash", "-c", f"source scripts/stages.sh\nsource scripts/weekly_record.sh\n{text}\nfinish")

    def verdicts(self):
        """The verdict of each stage of the last run."""
        lines = (self.path / "build/log/durations.txt").read_text(encoding="utf-8").splitlines()
        return {match[1].strip(): match[2] for match in (re.fullmatch(r"(.{32}) +\d+ s  (.+)", line) for line in lines) if match}

    def record(self):
        file = self.path / "scripts/weekly.passed"
        return file.read_text(encoding="utf-8") if file.exists() else ""


def expect(tree, done, code, **verdicts):
    """The exit code, and how the verdicts of some stages begin; _ stands for a space in their names."""
    assert done.returncode == code, f"ended with {done.returncode} instead of {code}:\n{done.stdout}"
    found = tree.verdicts()
    for name, verdict in verdicts.items():
        name = name.replace("_", " ")
        assert found.get(name, "not run").startswith(verdict), f"{name}: {found.get(name)} instead of {verdict}:\n{done.stdout}"


def test_many_tests_with_long_names_pass(tree):
    # More text than a pipe holds: a reader that leaves after ten lines ends the writer, and so fails the stage.
    names = [f"sim/{'long_' * 100}{number}" for number in range(300)]
    tree.tests("release", more="\n".join(f"add_test({name} /bin/true)" for name in names))
    done = tree.stages("stage 'release tests' '' run_tests release")
    expect(tree, done, 0, release_tests="ok, 306 tests")
    slowest = (tree.path / "build/log/slowest-release.txt").read_text(encoding="utf-8").splitlines()
    assert len(slowest) == 10, slowest


def test_a_stage_passes_only_if_all_of_it_did_and_it_did_something(tree):
    faults = {
        "a command in its middle": "false; did 3 things",
        "a command in a pipe": "false | cat; did 3 things",
        "a command in an assignment": "local a; a=$(false; echo 3); did \"$a\" things",
        "a function that it calls": "inner() { false; did 3 things; }; inner",
        "a crash": "bash -c 'kill -SEGV $$'; did 3 things",
        "a crash in a pipe": "bash -c 'kill -SEGV $$' | cat; did 3 things",
        "a missing program": "no_such_program; did 3 things",
        "an empty run": "did 0 things",
        "no number": "true",
        "a number that is not the last line": "did 3 things; echo and more",
    }
    text = "".join(f"body{i}() {{ {body}; }}\nstage 'stage {i}' '' body{i}\n" for i, body in enumerate(faults.values()))
    done = tree.stages(text + "good() { did 3 things; }\nstage good '' good\nlacks() { echo 'skipped: no GPU'; }\n"
                       "stage lacks '' lacks\nstage after good did 1 thing\nstage later 'stage 0' touch later\n"
                       "stage latest later touch later\nstage unknown missing touch later\nstage skips lacks touch later\n")
    expect(tree, done, 1, good="ok, 3 things", lacks="skipped: no GPU", after="ok, 1 thing", later="FAILED: needs stage 0",
           latest="FAILED: needs later", unknown="FAILED: needs missing", skips="FAILED: needs lacks")
    for i, name in enumerate(faults):
        assert tree.verdicts()[f"stage {i}"].startswith("FAILED"), f"{name} does not show:\n{done.stdout}"
    assert not (tree.path / "later").exists(), "a stage ran without what it needs"
    done = tree.stages("good() { did 3 things; }\nstage good '' good || true")
    assert done.returncode == 2 and "errexit does not count" in done.stdout, done.stdout
    expect(tree, tree.stages("good() { did 3 things; }\nstage good '' good"), 0, good="ok")


def test_tests(tree):
    run = "stage tests '' run_tests release"
    expect(tree, tree.stages(run), 0, tests="ok, 6 tests")
    tree.tests("release", a="/bin/false")
    expect(tree, tree.stages(run), 1, tests="FAILED: exit status")
    tree.tests("release", a="/no/such/program")
    expect(tree, tree.stages(run), 1, tests="FAILED: exit status")
    tree.tests("release", a="bash", more="add_test(crash bash -c \"kill -SEGV $$\")")
    expect(tree, tree.stages(run), 1, tests="FAILED: exit status")
    expect(tree, tree.stages(run + " -R nothing"), 1, tests="FAILED: exit status")
    tree.write("bin/lacks", "#!/bin/sh\nexit 77\n")
    tree.tests("release", a=f"{tree.path}/bin/lacks")
    expect(tree, tree.stages(run), 0, tests="ok, 5 tests, and 1 skipped")
    expect(tree, tree.stages(run + " -R sim"), 0, tests="skipped: each of the 1 tests")


def test_builds(tree):
    build = "stage build '' build_targets '' checked\nstage tests build run_tests checked\nstage fuzz build fuzz 9"
    expect(tree, tree.stages(build), 0, build="ok, 2 object files", tests="ok", fuzz="ok, 1000 inputs of 1 targets")
    tree.write("broken-checked", "")
    expect(tree, tree.stages(build), 1, build="FAILED: exit status 1", tests="FAILED: needs build", fuzz="FAILED: needs build")
    (tree.path / "broken-checked").unlink()
    for file in (tree.path / "build/checked").rglob("*.o"):
        file.unlink()
    tree.write("cmake-builds", "")
    expect(tree, tree.stages(build), 1, build="FAILED: it does not say", tests="FAILED: needs build")


def test_fuzzing(tree):
    run = "stage fuzz '' fuzz 9"
    expect(tree, tree.stages(run), 0, fuzz="ok, 1000 inputs")
    faults = {
        "a crash": FUZZ + "kill -SEGV $$\n",
        "a finding": FUZZ + "exit 77\n",
        "no coverage": "#!/bin/sh\necho 'ERROR: no interesting inputs were found. Is the code instrumented?'\n"
                       "echo 'stat::number_of_executed_units: 1000'\n",
        "no coverage, and a failure": "#!/bin/sh\necho 'ERROR: no interesting inputs were found.'\nexit 1\n",
        "no input beside the given": FUZZ.replace("1000", "1"),
        "no figures": "#!/bin/sh\necho done\n",
    }
    for name, program in faults.items():
        tree.fuzz(program)
        done = tree.stages(run)
        assert done.returncode == 1 and tree.verdicts()["fuzz"].startswith("FAILED"), f"{name} does not show:\n{done.stdout}"
    tree.fuzz(FUZZ)
    tree.write("tests/fuzz/corpus/text/more/one", "1")
    expect(tree, tree.stages("stage fuzz '' fuzz 1"), 1, fuzz="FAILED")  # no second for each target
    expect(tree, tree.stages(run), 0, fuzz="ok, 2000 inputs of 2 targets")
    tree.write("tests/fuzz/corpus/other/words/one", "1")
    expect(tree, tree.stages(run), 1, fuzz="FAILED")  # its room has no program
    shutil.rmtree(tree.path / "tests/fuzz/corpus")
    expect(tree, tree.stages(run), 1, fuzz="FAILED")


def test_clang_tidy(tree):
    run = "stage tidy '' tidy checked all"
    expect(tree, tree.stages(run), 0, tidy="ok, 1 units")
    tree.write("build/checked/compile_commands.json", "[]\n")
    expect(tree, tree.stages(run), 1, tidy="FAILED")
    tree.write("build/checked/compile_commands.json", f'[{{\n  "file": "{tree.path}/sim/a.cpp"\n}}]\n')
    tree.write("scripts/dependants.py", "#!/bin/sh\nexit 1\n")
    expect(tree, tree.stages("stage tidy '' tidy checked changed"), 1, tidy="FAILED")
    tree.write("bin/clang-tidy-14", "#!/bin/sh\nexit 1\n")
    expect(tree, tree.stages(run), 1, tidy="FAILED")


def test_the_weekly_run_records_what_passed_and_how_much_it_did(tree):
    head = tree.git("rev-parse", "HEAD").strip()
    tree.write("scripts/weekly.passed", f"{head} fuzz\n")  # no number proves that it ran
    tree.commit()
    head = tree.git("rev-parse", "HEAD").strip()
    expect(tree, tree.run("scripts/weekly.sh", "fuzz"), 0, fuzz="ok")
    assert tree.record() == f"{head} fuzz: 1000 inputs of 1 targets\n", tree.record()
    expect(tree, tree.run("scripts/weekly.sh"), 0, release_tests="ok", every_test_runs="ok")
    recorded = dict(re.findall(rf"^{head} ([^:]+): ([1-9]\d* .+)$", tree.record(), re.M))
    assert set(recorded) == set(WEEKLY), tree.record()
    assert recorded["mutations"] == "10 mutants" and recorded["every file alone"] == "3 files", recorded
    done = tree.run("scripts/weekly.sh", "fuzz", "mutations")
    assert done.returncode == 0 and done.stdout.count("has passed on this commit") == 2, done.stdout


def test_the_weekly_run_fails_with_each_of_its_stages(tree):
    built = ("clang-tidy on everything", "sanitized tests", "fuzz")
    released = WEEKLY[WEEKLY.index("benches"):]
    plants = [
        (lambda: tree.write("broken-checked", ""), built),
        (lambda: tree.write("broken-release", ""), released),
        (lambda: tree.tests("checked", a="/bin/false"), ("sanitized tests",)),
        (lambda: tree.tests("release", more="add_test(sim/b_property /bin/false)"), ("properties",)),
        (lambda: tree.write("tests/capture/captured_programs.py", "raise SystemExit(1)\n"), ("captured programs",)),
        (lambda: tree.fuzz(FUZZ + "kill -ABRT $$\n"), ("fuzz",)),
        (lambda: tree.write("scripts/mutation_sample.py", "#!/bin/sh\necho 'in all  0 of  0 noticed, 0%'\n"), ("mutations",)),
        (lambda: tree.write("tests/certificate/engine_faults.py", "#!/bin/sh\nexit 1\n"), ("engine faults",)),
        (lambda: tree.write("scripts/coverage.py", "#!/bin/sh\necho 'test_sim ends with 1'; exit 1\n"), ("coverage",)),
        (lambda: tree.write("scripts/each_file_alone.py", "#!/bin/sh\necho '0 of 0 files compile alone'\n"),
         ("every file alone",)),
        (lambda: tree.write("tests/python/wheel_test.py", "#!/bin/sh\necho 'wheel: 0 checks'\n"), ("wheel",)),
        (lambda: tree.write("broken-dev", ""), ("all CUDA architectures",)),
        (lambda: tree.write("scripts/install_deps.sh", "#!/bin/sh\nexit 1\n"), WEEKLY),
    ]
    sound = {file: file.read_text(encoding="utf-8") for name in ("scripts", "build", "bin", "tests/python", "tests/capture", "tests/certificate")
             for file in (tree.path / name).rglob("*") if file.is_file()}
    for plant, stages in plants:
        plant()
        tree.commit()
        head = tree.git("rev-parse", "HEAD").strip()
        done = tree.run("scripts/weekly.sh")
        recorded = set(re.findall(rf"^{head} ([^:]+): ", tree.record(), re.M))
        assert done.returncode == 1, done.stdout
        assert recorded == set(WEEKLY) - set(stages), f"{stages} should have failed, and not {set(WEEKLY) - recorded}:\n{done.stdout}"
        for file in tree.path.glob("broken-*"):
            file.unlink()
        for file, text in sound.items():
            tree.write(file.relative_to(tree.path), text)


def test_the_gate(tree):
    gate = ("scripts/test.sh", "--all")
    done = tree.run(*gate)
    expect(tree, done, 0, lint="ok, 7 files", determinism="ok, 12 files", checked_tests="ok", release_tests="ok",
           every_test_runs="ok, 2 tests")
    assert done.stdout.count("has never passed") == len(WEEKLY), done.stdout
    expect(tree, tree.run("scripts/test.sh"), 0, release_tests="ok")
    tree.write("tests/sim/b_test.cpp", "TEST_CASE(\"b\") {}\n")
    tree.write("tests/sim/c.cpp", "TEST_CASE(\"c\") {}\n")
    done = tree.run(*gate)
    expect(tree, done, 1, every_test_runs="FAILED", release_tests="ok")
    for name in ("tests/sim/b_test.cpp", "tests/sim/c.cpp"):
        assert f"{name}: no test of" in done.stdout, done.stdout
    (tree.path / "tests/sim/b_test.cpp").unlink()
    (tree.path / "tests/sim/c.cpp").unlink()
    tree.write("scripts/lint.sh", "#!/bin/sh\necho 'lint: 0 files, no breach'\n")
    expect(tree, tree.run(*gate), 1, lint="FAILED", release_tests="ok")
    tree.write("broken-release", "")
    expect(tree, tree.run(*gate), 1, release_build="FAILED", release_tests="FAILED: needs release build")
    expect(tree, tree.run("scripts/test.sh"), 1, release_tests="FAILED: needs release build")


def test_the_gate_says_what_is_due(tree):
    head = tree.git("rev-parse", "HEAD").strip()
    tree.write("scripts/weekly.passed", "".join(f"{head} {name}: 3 things\n" for name in WEEKLY
                                                if name not in ("report page", "properties")) +
               f"{head} report page\n{'0' * 40} properties: 3 things\n")
    for _ in range(150):
        tree.git("commit", "-q", "--allow-empty", "-m", "one more")
    done = tree.stages("say_what_is_due")
    assert done.returncode == 0 and re.findall("due: .*", done.stdout) == [
        f"due: the weekly stage 'properties' passed last on {'0' * 40}, which is not here"], done.stdout
    tree.git("commit", "-q", "--allow-empty", "-m", "one more")
    done = tree.stages("say_what_is_due")
    assert done.stdout.count("passed last 151 commits ago") == len(WEEKLY) - 1, done.stdout
    # A change that can't be told from the record is no reason to leave a check out.
    assert tree.stages("changed_since_weekly 'report page' '^sim/'").stdout.startswith("all ")
    tree.write("sim/a.cpp", "int b;\n")
    assert tree.stages("changed_since_weekly 'report page' '^sim/'").stdout.startswith("sim/a.cpp\n")
    assert tree.stages("changed_since_weekly properties '^tests/sim/'").stdout.startswith("tests/sim/a_test.cpp\n")
    done = tree.stages("changed=$(changed_since_weekly 'report page' '^(sim/')")
    assert done.returncode != 0, done.stdout


def test_the_gate_leaves_out_the_tests_of_files_that_have_not_changed(tree):
    ran = re.compile(r"Test +#\d+: (\S+) ")
    everything = {"sim/a", "fuzz/text/words", "report_page", "policies/a_property", "stages", "cli/calibrate"}
    for name in ("calibration/a.cpp", "report/a.js"):
        tree.write(name, "")
    tree.commit()
    done = tree.run("scripts/test.sh", "--all")
    assert set(ran.findall(done.stdout)) == everything, done.stdout
    expect(tree, tree.run("scripts/weekly.sh", "script tests", "calibration tests"), 0, script_tests="ok, 1 tests")
    done = tree.run("scripts/test.sh", "--all")
    assert set(ran.findall(done.stdout)) == everything - {"stages", "cli/calibrate"}, done.stdout
    for name, test in (("calibration/b.cpp", "cli/calibrate"), ("cli/verbs/calibrate_a.cpp", "cli/calibrate"),
                       ("scripts/a.py", "stages")):
        tree.write(name, "")
        done = tree.run("scripts/test.sh", "--all")
        (tree.path / name).unlink()
        assert test in ran.findall(done.stdout), f"{name}:\n{done.stdout}"


def main():
    faults = 0
    for name, test in globals().copy().items():
        if name.startswith("test_"):
            with tempfile.TemporaryDirectory() as path:
                try:
                    test(Tree(os.path.realpath(path)))
                except AssertionError as fault:
                    print(f"{name}: {fault}")
                    faults += 1
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
