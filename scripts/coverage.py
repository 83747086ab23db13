#!/usr/bin/env python3
"""Says by room which lines and branches of the code its tests run, and names those that they don't.

    scripts/coverage.py [ROOM...] [--folder build/coverage] [--output build/log/coverage.csv]

Without rooms it takes all that have a test program. The tree is built with --coverage, the test programs of these rooms
run, and gcov counts. A line or branch counts as covered if any of these programs ran it; branches are those of the
code, without those that only exceptions take. The output has a table of the rooms and, below it, every file with lines
that no test ran; the CSV file has the lines with branches that were never taken, too.
"""

import argparse
import collections
import csv
import json
import os
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
FLAGS = "-O1 --coverage -fprofile-update=prefer-atomic"
OPTIONS = ["-DCMAKE_BUILD_TYPE=Release", f"-DCMAKE_CXX_FLAGS_RELEASE={FLAGS}", "-DCONTEND_CUDA=OFF",
           "-DCONTEND_PYTHON=OFF", "-DCMAKE_UNITY_BUILD=ON", "-DCONTEND_TESTED_ROOMS=all"]
SKIPPED = 77  # the exit status of a program whose tests passed, some of them skipped for want of data
SECONDS = 3600  # for the tests of a room


def rooms_with_tests():
    """The rooms that have a test program."""
    text = (ROOT / "tests/CMakeLists.txt").read_text(encoding="utf-8")
    return re.findall(r"^contend_room_tests\((\w+)", text, re.MULTILINE)


def build_and_run(folder, rooms, jobs):
    """Builds the test programs of these rooms and runs them; returns what failed."""
    for old in folder.rglob("*.gcda"):
        old.unlink()
    programs = [f"test_{room}" for room in rooms] + (["contend"] if "cli" in rooms else [])
    for words in (["cmake", "-S", ROOT, "-B", folder, "-G", "Ninja", *OPTIONS],
                  ["cmake", "--build", folder, "-j", str(jobs), "--target", *programs]):
        subprocess.run(words, check=True, stdout=subprocess.DEVNULL)
    failed = []
    environment = {**os.environ, "CONTEND_PROGRAM": str(folder / "contend")}
    for room in rooms:
        done = subprocess.run([folder / "tests" / f"test_{room}"], cwd=ROOT, timeout=SECONDS, capture_output=True,
                              text=True, errors="replace", env=environment)
        if done.returncode not in (0, SKIPPED):
            failed.append(f"test_{room} ends with {done.returncode}:\n{done.stdout[-2000:]}{done.stderr[-500:]}")
    return failed


def counts_of(folder):
    """By file and line how often it ran, and how often each of its branches was taken."""
    lines, branches = collections.defaultdict(collections.Counter), collections.defaultdict(dict)
    for path in sorted(folder.rglob("*.gcda")):
        done = subprocess.run(["gcov", "--json-format", "--stdout", "--branch-probabilities", path], check=True,
                              cwd=folder, capture_output=True, text=True)
        for text in filter(None, done.stdout.splitlines()):
            told = json.loads(text)
            for file in told["files"]:
                full = pathlib.Path(told["current_working_directory"], file["file"]).resolve()
                if not full.is_relative_to(ROOT) or full.is_relative_to(folder):
                    continue
                name = full.relative_to(ROOT).as_posix()
                for line in file["lines"]:
                    number = line["line_number"]
                    taken = [each["count"] for each in line["branches"] if not each["throw"]]
                    lines[name][number] += line["count"]
                    before = branches[name].get(number, [])
                    branches[name][number] = [one + two for one, two in zip(before, taken)] if len(before) == len(
                        taken) else before or taken  # of a template several functions
    return lines, branches


def ranges(numbers):
    """Numbers of lines as 3-5 8."""
    spans = []
    for number in sorted(numbers):
        if spans and spans[-1][1] == number - 1:
            spans[-1][1] = number
        else:
            spans.append([number, number])
    return " ".join(str(first) if first == last else f"{first}-{last}" for first, last in spans)


def report(rooms, lines, branches, output):
    """Prints the table and what isn't covered, and writes the CSV file."""
    rows, named = [], []
    share = "{:6.1f}%".format
    print(f"{'room':<14} {'files':>6} {'lines':>8} {'run':>7} {'branches':>9} {'taken':>7}")
    for room in rooms:
        files = [name for name in sorted(lines) if name.startswith(f"{room}/")]
        missed = {name: [number for number, count in lines[name].items() if count == 0] for name in files}
        of_lines, of_branches = sum(len(lines[name]) for name in files), [
            count for name in files for each in branches[name].values() for count in each]
        if not of_lines:
            sys.exit(f"coverage: no line of {room}/ was counted")
        run = 1 - sum(map(len, missed.values())) / of_lines
        taken = sum(map(bool, of_branches)) / max(1, len(of_branches))
        print(f"{room:<14} {len(files):>6} {of_lines:>8} {share(100 * run)} {len(of_branches):>9} {share(100 * taken)}")
        for name in files:
            half = [number for number, each in branches[name].items() if lines[name][number] and 0 in each]
            rows.append([room, name, len(lines[name]), len(missed[name]), ranges(missed[name]), ranges(half)])
            named += [f"{name}: {ranges(missed[name])}"] if missed[name] else []
    print("lines that no test runs:", *named, sep="\n  ")
    output.parent.mkdir(parents=True, exist_ok=True)
    with output.open("w", encoding="utf-8", newline="") as file:
        table = csv.writer(file, lineterminator="\n")
        table.writerow(["room", "file", "lines", "not_run", "lines_not_run", "lines_with_branches_not_taken"])
        table.writerows(rows)


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("rooms", nargs="*", metavar="ROOM")
    options.add_argument("--folder", type=pathlib.Path, default=ROOT / "build/coverage")
    options.add_argument("--output", type=pathlib.Path, default=ROOT / "build/log/coverage.csv")
    options.add_argument("--jobs", type=int, default=os.cpu_count())
    chosen = options.parse_args()
    known = rooms_with_tests()
    for room in chosen.rooms:
        if room not in known:
            sys.exit(f"coverage: {room} is no room with tests; these are: {', '.join(known)}")
    rooms = chosen.rooms or known
    failed = build_and_run(chosen.folder.resolve(), rooms, chosen.jobs)
    report(rooms, *counts_of(chosen.folder.resolve()), chosen.output)
    print("\n".join(failed) or f"coverage: {len(rooms)} rooms")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
