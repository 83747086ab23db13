#!/usr/bin/env python3
"""Prints the tests of the tree that none of some builds runs; exits 1 if there is one.

    scripts/left_out_tests.py BUILD_FOLDER[=EXCLUDED]...

EXCLUDED is the regular expression with which the tests of that build are excluded (ctest --exclude-regex). A test is a
file below tests/ whose name ends in _test.cpp, _test.py, _test.sh or run.sh, any other .cpp file there that has a
TEST_CASE, and each folder tests/fuzz/corpus/ROOM/TARGET. It runs if CTest has a test whose command names it, whose
program is made of its folder, or which replays it.
"""

import json
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
# What may be left out, and why.
NEEDS = {
    "tests/calibration/cuda/": "a build with CUDA",
    "tests/python/package_test.py": "pybind11",
    "tests/python/wheel_test.py": "the weekly run, of which it is a stage",
}
TEST_NAME = re.compile(r"_test\.(cpp|py|sh)$|/run\.sh$")


def test_files(root):
    """The tests of a tree, as paths below it."""
    found = []
    for path in sorted((root / "tests").rglob("*")):
        name = path.relative_to(root).as_posix()
        if name.startswith("tests/fuzz/"):
            if path.is_dir() and re.fullmatch(r"tests/fuzz/corpus/\w+/\w+", name):
                found.append(name)
        elif path.is_file() and (TEST_NAME.search(name) or (path.suffix == ".cpp" and re.search(
                r"^\s*(TEST_CASE|SCENARIO)(_\w+)?\(", path.read_text(encoding="utf-8"), re.M))):
            found.append(name)
    return found


def tests_of(build, excluded):
    """The commands of the tests of a build, each as a list of words, and the names of tests that have no program."""
    listing = subprocess.run(["ctest", "--test-dir", str(build), "--show-only=json-v1"], check=True,
                             capture_output=True, text=True).stdout
    commands, broken = [], []
    for test in json.loads(listing)["tests"]:
        if excluded is not None and re.search(excluded, test["name"]):
            continue
        words = test.get("command")
        if not words or not pathlib.Path(words[0]).exists():
            broken.append(f"{build}: the test {test['name']} has no program")
        else:
            commands.append(words)
    return commands, broken


def runs(name, words, root):
    """Whether the command of a test runs the test of this name."""
    if any(word == str(root / name) for word in words):
        return True
    filters = [word.partition("=*")[2] for word in words if word.startswith("--source-file=*")]
    if filters:
        return name in filters
    program = re.fullmatch(r"test_(\w+)", pathlib.Path(words[0]).name)
    folders = {"gpu": "calibration/cuda"}  # of programs that aren't named after theirs
    return program is not None and pathlib.PurePosixPath(name).parent.as_posix() == \
        f"tests/{folders.get(program[1], program[1])}"


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    commands, faults, builds = [], [], []
    for argument in sys.argv[1:]:
        build, equals, excluded = argument.partition("=")
        listed, broken = tests_of(pathlib.Path(build), excluded if equals else None)
        builds.append(build)
        commands += listed
        faults += broken
    names = test_files(ROOT)
    left_out = [name for name in names if not any(runs(name, words, ROOT) for words in commands)]
    for name in left_out:
        reason = next((reason for start, reason in NEEDS.items() if name.startswith(start)), None)
        if reason is None:
            faults.append(f"{name}: no test of {', '.join(builds)} runs it")
        else:
            print(f"{name}: left out, because it needs {reason}")
    print("\n".join(faults))
    if faults or not commands:
        sys.exit(1)
    print(f"did: {len(names) - len(left_out)} tests are run by {', '.join(builds)}")


if __name__ == "__main__":
    main()
