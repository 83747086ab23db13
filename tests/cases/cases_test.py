#!/usr/bin/env python3
"""Runs the scenarios of *.case, all in one process, and compares their results with the tables that stand beside them.

    cases_test.py PROGRAM SOURCE_FOLDER [--actual NAME]

A case says in words how its values were worked out by hand, and then has sections: `-- scenario.yaml`, which needs no
schema_version and name, other files that the scenario names, and `-- expect FILE` for jobs.csv, gpus.csv, links.csv
and summary.json, a table with some of the columns of that file (of summary.json `figure,value`). Its first column says
which row is meant. Empty fields must be empty; numbers may differ by rounding. `--actual` prints what a case gave.

Each documented column of these files has a value in a case, or stands in elsewhere.csv with the test that has one.
Figures of iterations in summary.json are means of the columns of these names.
"""

import csv
import io
import json
import math
import pathlib
import re
import subprocess
import sys
import tempfile

FILES = ("jobs.csv", "gpus.csv", "links.csv", "summary.json")
LEAST_CASES = 20


def read_case(path):
    """The sections of a case by their names; the words stand under an empty name."""
    sections, name = {"": ""}, ""
    for line in path.read_text(encoding="utf-8").splitlines():
        if line.startswith("-- "):
            name = line[3:].strip()
            assert name not in sections, f"{path.name}: two sections {name}"
            sections[name] = ""
        else:
            sections[name] += line + "\n"
    assert sections[""].strip(), f"{path.name} does not say how its values were worked out"
    return sections


def documented(source):
    """The columns of each file, as docs/reference/results.md lists them."""
    text = (source / "docs/reference/results.md").read_text(encoding="utf-8")
    parts = re.split(r"^## (.+)$", text, flags=re.MULTILINE)
    return {name: re.findall(r"^\| `(\w+)` \|", body, re.MULTILINE) for name, body in zip(parts[1::2], parts[2::2])
            if name in FILES}


def table_of(path):
    """The rows of a result file; of summary.json its figures."""
    if path.suffix == ".json":
        figures = json.loads(path.read_text(encoding="utf-8"))["replicas"][0]
        return [{"figure": name, "value": "" if value is None else str(value)} for name, value in figures.items()]
    return list(csv.DictReader(io.StringIO(path.read_text(encoding="utf-8"))))


def is_like(wanted, found):
    """Whether two fields are equal, or numbers that differ by rounding."""
    try:
        return wanted == found or math.isclose(float(wanted), float(found), rel_tol=1e-9, abs_tol=1e-9)
    except ValueError:
        return False


def compare(wanted, rows):
    """Yields what differs, and the columns with values that were compared as (None, column)."""
    wanted = list(csv.DictReader(io.StringIO(wanted.strip() + "\n")))
    key = next(iter(wanted[0]))
    for row in wanted:
        found = next((each for each in rows if each.get(key) == row[key]), None)
        if found is None:
            yield f"no row with {key} {row[key]}", None
            continue
        for column, value in row.items():
            if not is_like(value, found.get(column, "")):
                yield f"{row[key]}: {column} is '{found.get(column)}', by hand '{value}'", None
            elif value and (key != "figure" or column != key):
                yield None, row[key] if key == "figure" else column


def run(program, cases, folder):
    """Runs all cases in one process."""
    for name, sections in cases.items():
        (folder / name).mkdir()
        for file, text in sections.items():
            if file and not file.startswith("expect "):
                (folder / name / file).write_text(text, encoding="utf-8")
        path = folder / name / "scenario.yaml"
        path.write_text(f"schema_version: 2\nname: {name}\n{path.read_text(encoding='utf-8')}", encoding="utf-8")
    words = [program, "run", *(folder / name / "scenario.yaml" for name in cases), "-q", "-o", folder / "out"]
    done = subprocess.run(words, capture_output=True, text=True, timeout=60)
    assert done.returncode in (0, 4), f"ends with {done.returncode}: {done.stderr}"  # 4: jobs that did not finish


def main(program, source, *more):
    source, wrong, compared = pathlib.Path(source).resolve(), [], {name: set() for name in FILES}
    here = source / "tests/cases"
    cases = {path.stem: read_case(path) for path in sorted(here.glob("*.case"))}
    with tempfile.TemporaryDirectory() as name:
        run(program, cases, pathlib.Path(name))
        for case, sections in cases.items():
            tables = {file: table_of(pathlib.Path(name) / "out" / case / file) for file in FILES}
            if more == ("--actual", case):
                print("\n".join(f"{file}: " + " ".join(f"{key}={value}" for key, value in row.items() if value) for
                                file, rows in tables.items() for row in rows))
            expected = {words.split()[1]: text for words, text in sections.items() if words.startswith("expect ")}
            if not expected:
                wrong.append(f"{case}: it expects nothing")
            for file, text in expected.items():
                for fault, column in compare(text, tables[file]):
                    wrong += [f"{case}: {file}: {fault}"] if fault else []
                    compared[file].add(column)
    elsewhere = list(csv.DictReader((here / "elsewhere.csv").open(encoding="utf-8")))
    wrong += [f"elsewhere.csv: {row['test']} has no '{row['text']}'" for row in elsewhere
              if row["text"] not in (source / row["test"]).read_text(encoding="utf-8")]
    named, columns = {(row["file"], row["column"]) for row in elsewhere}, documented(source)
    wrong += [f"{file}: no test has a value of {column} that was worked out by hand" for file in FILES
              for column in columns[file] if column not in compared[file] and (file, column) not in named]
    wrong += [f"elsewhere.csv: {file} has {column} in a case, too, or not at all" for file, column in sorted(named)
              if column in compared[file] or column not in columns[file]]
    if len(cases) < LEAST_CASES:
        wrong.append(f"{len(cases)} cases, of at least {LEAST_CASES}")
    count = sum(len(columns[file]) for file in FILES)
    print("\n".join(wrong) or f"cases: {len(cases)} cases have values of {count - len(named)} of {count} columns, "
          f"other tests of {len(named)}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
