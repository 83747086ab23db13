#!/usr/bin/env python3
"""Runs the bad inputs of bad_inputs/ and holds what the program answers to them.

Usage: bad_inputs_test.py PROGRAM SOURCE_FOLDER. Prints file:line of each row whose answer differs, and exits with 1.

files.txt has the files that all inputs find (`@file NAME`, then its lines). The other files have rows:

    CODE | INPUT | WORDS

below a line that says what the input is: `@words` words of the command line; `@set WORDS` the value of a last --set;
`@table WORDS :: FILE` the text of FILE, with \\n between its lines. WORDS is what the messages must hold, parts joined
by &&; a part that begins with ! is what they must not hold, and a part [N] says that there are N messages, where one is
usual, and [stdout] that results were printed before. Further rules hold for all rows: codes 2 and 3 leave standard
output empty, and no message speaks of the inside of the program.
"""

import concurrent.futures
import os
import pathlib
import re
import shlex
import subprocess
import sys
import tempfile

SETUP = ["run queue.yaml -o out -q", "sweep sweep.yaml -o need.sqlite -q"]
INSIDE = re.compile(r'internal error|terminate called|std::|basic_string|bad_alloc|Traceback|\x1b|(?<!")\bnan\b|\.cpp:\d')
LEAST_ROWS = 400


def shared_files(text):
    files, name = {}, None
    for line in text.splitlines():
        if line.startswith("@file "):
            name = line[len("@file "):]
            files[name] = ""
        elif name:
            files[name] += line + "\n"
    return files


def rows_of(path):
    """(place, words of the command, file to write or None, its text, code, parts) of each row."""
    kind, words, table = None, [], None
    for number, line in enumerate(path.read_text().splitlines(), 1):
        if not line or line.startswith("#"):
            continue
        if line.startswith("@"):
            kind, _, rest = line[1:].partition(" ")
            rest, _, table = rest.partition(" :: ")
            words = shlex.split(rest)
            continue
        code, given, parts = (each.strip() for each in line.split(" | ", 2))
        text = given.encode().decode("unicode_escape")
        command = {"words": shlex.split(given) if kind == "words" else [], "set": words + ["--set", given],
                   "table": words}[kind]
        yield (f"{path.name}:{number}", command, table if kind == "table" else None, text + "\n" if text else "",
               int(code), parts.split(" && "))


def faults(code, wanted, out, err, parts):
    lines = [line for line in err.splitlines()
             if not line.startswith(("  ", "Try `", "contend: note:")) and line.strip()]
    messages, count, prints = 1, len(lines), False
    for part in parts:
        if re.fullmatch(r"\[\d+\]", part):
            messages = int(part[1:-1])
        elif part == "[stdout]":
            prints = True
        elif part.startswith("!") and part[1:] in out + err:
            yield f"says {part[1:]!r}"
        elif not part.startswith("!") and part not in out + err:
            yield f"doesn't say {part!r}"
    if code != wanted:
        yield f"ends with {code} in place of {wanted}"
    if code in (2, 3) and bool(out) != prints:
        yield "prints nothing" if prints else "prints on standard output"
    if count != messages:
        yield f"has {count} messages in place of {messages}"
    if found := INSIDE.search(out + err):
        yield f"speaks of {found.group()!r}"


def run(program, folder, words):
    done = subprocess.run([program, *words], cwd=folder, capture_output=True, text=True, errors="replace", timeout=60,
                          stdin=subprocess.DEVNULL, check=False)
    return done.returncode, done.stdout, done.stderr


def answers(program, data, files):
    """Prints what is wrong with the rows of a file, in a folder of its own; returns (rows, faults)."""
    rows = wrong = 0
    with tempfile.TemporaryDirectory() as place:
        folder = pathlib.Path(place)

        def reset():
            for name, text in files.items():
                (folder / name).write_text(text)

        reset()
        for line in SETUP:
            code, _, err = run(program, folder, shlex.split(line))
            assert code == 0, err
        for where, words, table, text, wanted, parts in rows_of(data):
            rows += 1
            if table:
                (folder / table).write_text(text)
            code, out, err = run(program, folder, words)
            reset()
            found = list(faults(code, wanted, out, err, parts))
            wrong += bool(found)
            for each in found:
                print(f"{where}: {each}\n  {shlex.join(words)}\n  {err.strip()}")
    return rows, wrong


def main():
    program, source = os.path.abspath(sys.argv[1]), pathlib.Path(sys.argv[2])
    folder = source / "tests/cli/bad_inputs"
    files = shared_files((folder / "files.txt").read_text())
    tables = sorted(path for path in folder.glob("*.txt") if path.name != "files.txt")
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        counts = list(pool.map(lambda path: answers(program, path, files), tables))
    rows, wrong = (sum(each) for each in zip(*counts))
    print(f"{rows} bad inputs, {wrong} poor answers")
    if wrong or rows < LEAST_ROWS:
        sys.exit(1)


if __name__ == "__main__":
    main()
