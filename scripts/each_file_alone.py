#!/usr/bin/env python3
"""Checks that every file compiles by itself, which finds a missing #include that a unity build hides. Nothing is
compiled to the end: the compiler reads each file with the options of the build folder, and its warnings are errors
where the folder says so.

    scripts/each_file_alone.py BUILD_FOLDER [JOBS]

The folder must have been configured with CMAKE_UNITY_BUILD=OFF; it need not have been built. CUDA files, and files that
the build itself writes, are left out.
"""

import concurrent.futures
import json
import pathlib
import shlex
import subprocess
import sys

folder = pathlib.Path(sys.argv[1])
jobs = int(sys.argv[2]) if len(sys.argv) > 2 else 2
entries = [each for each in json.loads((folder / "compile_commands.json").read_text(encoding="utf-8"))
           if not each["file"].endswith(".cu") and folder.resolve() not in pathlib.Path(each["file"]).parents]


def complaint(entry):
    words = shlex.split(entry["command"])
    at = words.index("-o")
    command = words[:at] + words[at + 2:] + ["-fsyntax-only"]
    done = subprocess.run(command, cwd=entry["directory"], capture_output=True, text=True, check=False)
    return "" if done.returncode == 0 else done.stderr or f"{entry['file']}: exit status {done.returncode}"


with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
    complaints = [text for text in pool.map(complaint, entries) if text]
print("\n".join(complaints + [f"{len(entries) - len(complaints)} of {len(entries)} files compile alone"]))
sys.exit(1 if complaints or not entries else 0)
