#!/usr/bin/env python3
"""Holds the #include lines of the rooms to the architecture: a room may use only the rooms listed for it.

Usage: layering_test.py [repository root]. Prints file:line for every arrow that points up and exits 1. Before it looks
at the tree it checks itself against a small tree with known faults, so that a silent scanner can't pass.
"""

import pathlib
import re
import sys
import tempfile

MAY_USE = {
    "sim": set(),
    "text": {"sim"},
    "network": {"sim"},
    "models": {"sim", "network"},
    "calibration": {"sim", "network", "models"},
    "policies": {"sim", "text", "network", "models"},
    "traces": {"sim", "text", "network", "models", "calibration"},
    "results": {"sim", "text"},
    "scenarios": {"sim", "text", "network", "models", "calibration", "policies", "traces", "results"},
    "report": {"sim", "text", "network", "models", "calibration", "traces", "results", "scenarios"},
    "validate": {"sim", "text", "network", "models", "policies", "traces", "results", "scenarios"},
    "cli": {"sim", "text", "network", "models", "calibration", "policies", "traces", "results", "scenarios", "report",
            "validate"},
    "python": {"sim", "policies", "results", "scenarios", "cli"},
}
SUFFIXES = {".cpp", ".hpp", ".cu", ".cuh", ".in"}
INCLUDE = re.compile(r'^\s*#\s*include\s*(?:"([^"]+)"|<([^>]+)>)')


def faults(root):
    """Returns (faults, number of includes of our own headers)."""
    found, own = [], 0
    for room, allowed in MAY_USE.items():
        for path in sorted((root / room).rglob("*")):
            if path.suffix not in SUFFIXES:
                continue
            for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1):
                match = INCLUDE.match(line)
                if not match:
                    continue
                quoted, angled = match.groups()
                target = (quoted or angled).split("/")[0]
                place = f"{path.relative_to(root)}:{number}"
                if target in MAY_USE:
                    own += 1
                    if target != room and target not in allowed:
                        found.append(f"{place}: {room}/ may not use {target}/")
                elif quoted:
                    found.append(f'{place}: "{quoted}": write the path from the repository root')
    return found, own


def check_self():
    bad = {
        "sim/engine.cpp": '#include "sim/engine.hpp"\n  #  include "policies/registry.hpp"\n#include <vector>\n',
        "network/routes.hpp": '#include <models/workload.hpp>\n#include "sim/ids.hpp"\n',
        "policies/placement/lwf.cpp": '#include "traces/jobs.hpp"\n// #include "cli/main.hpp"\n',
        "traces/jobs.hpp": '#include "../sim/ids.hpp"\n',
        "cli/main.cpp": '#include "validate/cases.hpp"\n#include "sim/ids.hpp"\n',
    }
    expected = [
        "sim/engine.cpp:2: sim/ may not use policies/",
        "network/routes.hpp:1: network/ may not use models/",
        "policies/placement/lwf.cpp:1: policies/ may not use traces/",
        'traces/jobs.hpp:1: "../sim/ids.hpp": write the path from the repository root',
    ]
    with tempfile.TemporaryDirectory() as folder:
        root = pathlib.Path(folder)
        for name, text in bad.items():
            (root / name).parent.mkdir(parents=True, exist_ok=True)
            (root / name).write_text(text, encoding="utf-8")
        found, own = faults(root)
    if found != expected or own != 7:
        sys.exit(f"layering: the check itself is broken: {own} includes, found {found}")


def main():
    check_self()
    root = pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else pathlib.Path(__file__).resolve().parent.parent
    missing = [room for room in MAY_USE if not (root / room).is_dir()]
    if missing:
        sys.exit(f"layering: {root} has no folder {', '.join(missing)}")
    found, own = faults(root)
    for fault in found:
        print(fault)
    if found:
        sys.exit(f"layering: {len(found)} arrows point the wrong way")
    print(f"layering: {own} includes, all point down")


if __name__ == "__main__":
    main()
