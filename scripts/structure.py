#!/usr/bin/env python3
"""Measures the structure of the code: lines, long and complex functions, parameters that are too wide, arrows that run up.

Usage: structure.py [--functions | --check | --shrink] [repository root]

--functions also lists the functions that are too long or too complex. --check compares the tree with
scripts/structure.limits, which lists the functions that may be long or complex, and how often the wide parameters and
the other counts may occur, such as words that stand in place of a noun: it prints what is beyond, and what is below its
limit, so that the list only shrinks.
--shrink writes the list again where the tree is below it. The counts read formatted text (clang-format), not
C++: a function is a statement with parentheses that ends with `{`, up to the `}` in the column of its first line. The complexity
of a function is McCabe's: 1, and 1 more for each if, for, while, case, catch, &&, || and ?.
"""

import argparse
import pathlib
import re
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "tests"))
sys.dont_write_bytecode = True
from layering_test import arrows_up  # noqa: E402

ROOMS = ("sim", "text", "network", "models", "calibration", "policies", "traces", "results", "scenarios", "report",
         "validate", "cli", "python")
SUFFIXES = {".cpp", ".hpp", ".h", ".cu"}
HOME = pathlib.Path(__file__).resolve().parent.parent
LIMITS = "scripts/structure.limits"
MOST_LINES, MOST_COMPLEXITY = 60, 25

# What is no head of a function, at the beginning of a statement.
NO_HEAD = re.compile(r"(?:(?:if|for|while|switch|else|do|return|case|namespace|class|struct|enum|union|extern|using)\b|#|//|[{}\[])")
TEMPLATE = re.compile(r"template <[^()]*?> (?=\w)")
BRANCH = re.compile(r"\b(?:if|for|while|case|catch)\b|&&|\|\||\?")
# Words that stand in place of a noun: a reader has to go back and find the noun.
STAND_INS = re.compile(r"\b(?:anew|likewise|(?:that|those) of|what it|the same(?=\s*[,.;:)|]))\b", re.I)
TEXT = re.compile(r'"(?:[^"\\]|\\.)*"|\'(?:[^\'\\]|\\.)+\'|//.*')


def without_text(line):
    return TEXT.sub('""', line)


def functions(lines):
    """Yields (first line, number of lines, complexity, name) of the functions with a body of more than one line."""
    code = ["" if line.lstrip().startswith("//") else without_text(line).rstrip() for line in lines]
    number = 0
    while number < len(code):
        first, line = number, code[number]
        number += 1
        if not line or NO_HEAD.match(line.lstrip()):
            continue
        head = line
        while head[-1] not in "{};:" and number < len(code) and code[number]:
            head += " " + code[number].strip()
            number += 1
        indent = len(line) - len(line.lstrip())
        close = re.compile(" " * indent + r"\}[;,)]*$")
        if not head.endswith("{") or "(" not in head or NO_HEAD.match(TEMPLATE.sub("", head.lstrip())):
            continue
        last = next((end for end in range(number, len(code)) if close.match(code[end])), None)
        if last is None:
            continue
        complexity = 1 + sum(len(BRANCH.findall(each)) for each in code[first:last + 1])
        name = re.search(r"([\w:~]+) ?\(", head)
        yield first + 1, last - first + 1, complexity, name[1] if name else "?"
        number = last + 1


def scenario_parameters(text):
    """The functions that a header declares with a parameter `const Scenario&`."""
    code = "\n".join(without_text(line) for line in text.splitlines())
    return sum("const Scenario&" in statement for statement in re.split(r"[;{}]", code))


def measure(root):
    lines_of, long_ones, complex_ones = dict.fromkeys((*ROOMS, "other folders"), 0), [], []
    counts = dict.fromkeys(("const Scenario& in headers", "overlap.given", "\"has no effect\"", "stand-ins in code",
                            "stand-ins in pages"), 0)
    for path in sorted((*root.glob("*.md"), *root.glob("docs/**/*.md"))):
        counts["stand-ins in pages"] += len(STAND_INS.findall(path.read_text(encoding="utf-8")))
    others = [path.name for path in root.iterdir() if path.name not in (*ROOMS, "tests", "build", ".git")]
    for folder in (*ROOMS, *sorted(others)):
        room = folder if folder in ROOMS else "other folders"
        for path in sorted((root / folder).rglob("*")):
            if path.suffix not in SUFFIXES:
                continue
            text = path.read_text(encoding="utf-8")
            lines = text.splitlines()
            lines_of[room] += len(lines)
            place = path.relative_to(root).as_posix()
            for first, length, complexity, name in functions(lines):
                if length > MOST_LINES:
                    long_ones.append((length, place, first, name))
                if complexity > MOST_COMPLEXITY:
                    complex_ones.append((complexity, place, first, name))
            if path.suffix == ".hpp":
                counts["const Scenario& in headers"] += scenario_parameters(text)
            counts["stand-ins in code"] += len(STAND_INS.findall(text))
            counts["overlap.given"] += sum("overlap.given" in line for line in lines)
            counts["\"has no effect\""] += sum("has no effect" in line.split("//")[0] for line in lines)
    return lines_of, long_ones, complex_ones, counts


def found_by_name(long_ones, complex_ones, counts):
    """{name in the list of limits: (place to print, measure)}, of everything that has a limit."""
    found = {}
    for kind, rows in (("lines", long_ones), ("complexity", complex_ones)):
        for measured, path, first, name in rows:
            key = f"{kind} {path} {name}"
            if key not in found or found[key][1] < measured:
                found[key] = (f"{path}:{first} {name}: {kind}", measured)
    found.update({f"count {name}": (f"{name}:", count) for name, count in counts.items() if count > 0})
    return found


def beyond(found, limits):
    """What is beyond its limit, or below: the texts to print. Short and simple functions need none."""
    texts = []
    for key, (place, measured) in found.items():
        kind = key.split()[0]
        limit = limits.get(key, {"lines": MOST_LINES, "complexity": MOST_COMPLEXITY}.get(kind, 0))
        if measured > limit:
            texts.append(f"{place} {measured}, and the limit is {limit}")
    for key, limit in limits.items():
        kind, name = key.split(" ", 1)
        measured = found.get(key, ("", 0))[1]
        if measured < limit:
            which = f"{name}:" if kind == "count" else f"{name}: {kind}"
            texts.append(f"{which} {measured}, below its limit {limit}: run scripts/structure.py --shrink")
    return sorted(texts)


def read_limits(path):
    limits = {}
    for line in path.read_text(encoding="utf-8").splitlines():
        if line and not line.startswith("#"):
            number, key = line.split(" ", 1)
            limits[key] = int(number)
    return limits


def shrink(path, found):
    """Lowers the limits to what the tree has; raises none, and adds none."""
    lines = []
    for line in path.read_text(encoding="utf-8").splitlines():
        if line and not line.startswith("#"):
            number, key = line.split(" ", 1)
            measured = found.get(key, ("", 0))[1]
            if measured == 0:
                continue
            line = f"{min(int(number), measured)} {key}"
        lines.append(line)
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


def check_self():
    """A scanner that finds nothing can't pass."""
    body = "".join(f"  if (a && b{n}) call({n});\n" for n in range(60))
    with tempfile.TemporaryDirectory() as folder:
        root = pathlib.Path(folder)
        for room in ROOMS:
            (root / room).mkdir()
        (root / "scenarios" / "keys").mkdir()
        (root / "scenarios" / "run").mkdir()
        (root / "sim" / "a.cpp").write_text("namespace x {\n\nint long_one(int a,\n             int b) {\n" + body +
                                            "}\n\nint short_one() {\n  return \"if && ?\";\n}\n}\n", encoding="utf-8")
        (root / "scenarios" / "run" / "b.hpp").write_text("int f(const Scenario& a,\n      const Scenario& b);\n",
                                                          encoding="utf-8")
        (root / "scenarios" / "keys" / "c.cpp").write_text('#include "scenarios/run/b.hpp"  // the same, anew\n',
                                                           encoding="utf-8")
        (root / "page.md").write_text("Those of a job.\n", encoding="utf-8")
        lines_of, long_ones, complex_ones, counts = measure(root)
        up = arrows_up(root)
        limits = {"lines sim/a.cpp long_one": 62, "complexity sim/a.cpp long_one": 130, "lines sim/b.cpp gone": 70}
        judged = beyond(found_by_name(long_ones, complex_ones, counts), limits)
    if (lines_of["sim"], long_ones, complex_ones) != \
            (70, [(63, "sim/a.cpp", 3, "long_one")], [(121, "sim/a.cpp", 3, "long_one")]) \
            or (counts["const Scenario& in headers"], counts["stand-ins in code"], counts["stand-ins in pages"]) != (1, 2, 1) \
            or list(up) != [("scenarios", "keys", "run")]:
        sys.exit(f"structure: the measure itself is broken: {lines_of} {long_ones} {complex_ones} {counts} {up}")
    if judged != ["const Scenario& in headers: 1, and the limit is 0",
                  "sim/a.cpp long_one: complexity 121, below its limit 130: run scripts/structure.py --shrink",
                  "sim/a.cpp:3 long_one: lines 63, and the limit is 62",
                  "sim/b.cpp gone: lines 0, below its limit 70: run scripts/structure.py --shrink",
                  "stand-ins in code: 2, and the limit is 0", "stand-ins in pages: 1, and the limit is 0"]:
        sys.exit(f"structure: the check itself is broken: {judged}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("root", nargs="?", type=pathlib.Path, default=HOME)
    parser.add_argument("--functions", action="store_true", help="list the long and the complex functions, too")
    parser.add_argument("--check", action="store_true", help="print what is beyond its limit or below, and fail if anything is")
    parser.add_argument("--shrink", action="store_true", help="lower the limits to what the tree has")
    chosen = parser.parse_args()
    check_self()
    lines_of, long_ones, complex_ones, counts = measure(chosen.root)
    if chosen.check or chosen.shrink:
        found = found_by_name(long_ones, complex_ones, counts)
        if chosen.shrink:
            shrink(chosen.root / LIMITS, found)
        texts = beyond(found, read_limits(chosen.root / LIMITS))
        print("\n".join(texts), end="\n" if texts else "")
        sys.exit(1 if texts else 0)
    up = arrows_up(chosen.root)
    for room, lines in lines_of.items():
        print(f"{room:<32}{lines:>8,} lines")
    print(f"{'all but tests/':<32}{sum(lines_of.values()):>8,} lines")
    print(f"functions over {MOST_LINES} lines{len(long_ones):>18}")
    print(f"functions of complexity over {MOST_COMPLEXITY}{len(complex_ones):>9}")
    for name, count in counts.items():
        print(f"{name:<32}{count:>8}")
    print(f"{'includes up between folders':<32}{sum(map(len, up.values())):>8}")
    for (room, here, there), places in sorted(up.items(), key=str):
        print(f"  {room}: {here or '(files)'} -> {there or '(files)'}: {len(places)}")
    if chosen.functions:
        for title, rows in (("lines", long_ones), ("complexity", complex_ones)):
            print(f"\n{title}")
            for count, path, first, name in sorted(rows, reverse=True):
                print(f"{count:>5}  {path}:{first} {name}")


if __name__ == "__main__":
    main()
