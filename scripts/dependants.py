#!/usr/bin/env python3
"""Prints the source files of a Ninja build folder through which a tool sees each file named on standard input.

Usage: dependants.py BUILD_FOLDER <files, relative to the current folder. The build must be complete: what an object
depends on is what the compiler wrote down when it was built. Of a header it is one source file without tests that
includes it, in the folder of the header if there is one; of another file all that contain it.
"""

import json
import os
import re
import subprocess
import sys


def main():
    folder = sys.argv[1]
    changed = {os.path.abspath(line.strip()) for line in sys.stdin if line.strip()}
    source_of = {}
    with open(os.path.join(folder, "compile_commands.json"), encoding="utf-8") as file:
        for command in json.load(file):
            source_of[re.search(r" -o (\S+)", command["command"]).group(1)] = command["file"]
    listing = subprocess.run(["ninja", "-C", folder, "-t", "deps"], check=True, capture_output=True, text=True).stdout
    target = None
    touched = {}
    for line in listing.splitlines():
        if line and not line[0].isspace():
            target = line.split(":")[0]
        elif line.strip() and target in source_of:
            file = os.path.normpath(os.path.join(os.path.abspath(folder), line.strip()))
            if file in changed:
                touched.setdefault(file, set()).add(source_of[target])
    shown = set()
    for file, sources in touched.items():
        if file.endswith((".hpp", ".h")):
            room = f"contend_{os.path.relpath(file).split(os.sep)[0]}.dir"
            sources = {min(sources, key=lambda source: ("/tests/" in source, room not in source, source))}
        shown |= sources
    for source in sorted(shown):
        print(source)


if __name__ == "__main__":
    main()
