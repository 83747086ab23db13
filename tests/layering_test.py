#!/usr/bin/env python3
"""Holds the #include lines of the rooms to the architecture: a room may use only the rooms listed for it, and a folder
inside of a room only the folders below it. The README of each room names the rooms that it may use.

Usage: layering_test.py [repository root]. Prints file:line for every arrow that points up and exits 1. Before it looks
at the tree it checks itself against a small tree with known faults, so that a silent scanner can't pass.
"""

import collections
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
# The folders inside of rooms, from below: a folder uses only those in front of it. "" stands for the files beside the
# folders, a name of a file for that file. Every folder with sources stands here.
FLOORS = {
    "network": ("", "topologies", "routing", "collectives", "library"),
    "models": ("", "energy", "fabric", "federated", "reliability", "overlap", "services", "parallel", "serving", "passes",
               "catalogue", "workloads"),
    "calibration": ("", "cuda"),
    "policies": ("", "communication", "compression", "fusion", "pipeline", "placement", "scheduling", "external"),
    "traces": ("layers", "jobs", "recording", "", "clients", "requests", "cluster"),
    "scenarios": ("spec", "yaml", "launch", "", "keys", "run", "training", "study", "sweep", "twin"),
    "report": ("topology", "page", ""),
    "validate": ("", "ada_srsf", "backfill", "beyond", "calibration", "compression", "elastic", "faults", "intervals",
                 "network", "one_job", "overlap", "parallel", "public", "schedulers", "recordings", "rl", "serving",
                 "twin", "workloads",
                 "suites.cpp"),
    "cli": ("", "verbs", "commands.cpp"),
    "python": ("module", ""),
}
# The arrows inside of rooms that still run up: how many includes they have, and why. A number may only fall.
STILL_UP = {
    ("network", "", "routing"): (3, "routes of interfaces are part of the topology that the files describe"),
    ("network", "", "collectives"): (6, "the flow network runs the schedules of collectives"),
    ("policies", "", "fusion"): (1, "the registry names the port of fusion policies, which is no port of the engine"),
    ("policies", "", "pipeline"): (1, "the registry names the port of pipeline schedules, which is no port of the engine"),
    ("policies", "", "scheduling"): (1, "the registry gives each owner of servers an instance of a policy"),
    ("traces", "jobs", ""): (1, "a format of jobs reads the list that it makes"),
    ("scenarios", "keys", "run"): (4, "keys ask the builder for defaults and limits"),
    ("scenarios", "keys", "training"): (2, "the reader checks training entries"),
    ("scenarios", "keys", "study"): (2, "the reader checks studies"),
    ("scenarios", "keys", "sweep"): (1, "the table of keys has those of sweeps"),
    ("scenarios", "run", "training"): (8, "the builder asks training entries for graphs"),
    ("scenarios", "run", "study"): (4, "a study is a run"),
}
SUFFIXES = {".cpp", ".hpp", ".h", ".cu", ".cuh", ".in"}
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


def floor_of(room, path):
    """The folder inside of a room, or the file, that stands in FLOORS for a path; None if it has to stand there."""
    floors, inside = FLOORS.get(room, ("",)), path.split("/")[1:]
    if len(inside) > 1:
        return inside[0] if inside[0] in floors else None
    return inside[0] if inside and inside[0] in floors else ""


def arrows_up(root):
    """Returns {(room, from, to): [file:line of each include]} of the arrows inside of rooms that run up. An arrow from a
    folder that FLOORS does not name has None as its end."""
    found = collections.defaultdict(list)
    for room in MAY_USE:
        floors = FLOORS.get(room, ("",))
        for path in sorted((root / room).rglob("*")):
            if path.suffix not in SUFFIXES:
                continue
            own = path.relative_to(root).as_posix()
            here = floor_of(room, own)
            if here is None:
                found[room, own.split("/")[1], None].append(f"{own}:1")
                continue
            for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1):
                match = INCLUDE.match(line)
                target = match and (match[1] or match[2])
                if not target or not target.startswith(room + "/"):
                    continue
                there = floor_of(room, target)
                if there is not None and floors.index(there) > floors.index(here):
                    found[room, here, there].append(f"{own}:{number}")
    return dict(found)


def faults_inside(root, still_up):
    """The faults of the arrows inside of rooms, measured by those that are known."""
    found, arrows = [], arrows_up(root)
    for (room, here, there), places in sorted(arrows.items(), key=str):
        if there is None:
            found.append(f"{places[0]}: FLOORS of tests/layering_test.py does not say where {room}/{here}/ stands")
        elif len(places) > still_up.get((room, here, there), (0,))[0]:
            names = [f"{room}/{each}" if each else f"the files of {room}/" for each in (here, there)]
            found += [f"{place}: {names[0]} may not use {names[1]}, which stands above" for place in places]
    for arrow, (number, _) in still_up.items():
        if len(arrows.get(arrow, ())) < number:
            found.append(f"tests/layering_test.py: STILL_UP[{arrow}] is {len(arrows.get(arrow, ()))} now: lower it")
    return found


def faults_of_readmes(root):
    """The faults of the README of each room: the rooms that it may use, and files that are named and not there."""
    found = []
    for room, allowed in MAY_USE.items():
        path = root / room / "README.md"
        if not path.is_file():
            found.append(f"{room}/README.md is missing: each room has one")
            continue
        text = " ".join(path.read_text(encoding="utf-8").split())
        uses = ", ".join(f"`{each}`" for each in MAY_USE if each in allowed) or "nothing of ours"
        if f"May use: {uses}." not in text:
            found.append(f"{room}/README.md: expected 'May use: {uses}.'")
        found += [f"{room}/README.md: {name} is not there" for name in re.findall(r"`([\w.]+/[\w./]+)`", text)
                  if not (root / name).exists()]
    return found


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
    inside = {
        "scenarios/keys/a.cpp": '#include "scenarios/yaml/a.hpp"\n#include "scenarios/run/a.hpp"\n',
        "scenarios/run/a.cpp": '#include "scenarios/study/a.hpp"\n',
        "scenarios/scenario.hpp": '#include "scenarios/keys/a.hpp"\n',
        "scenarios/new/a.cpp": "",
        "validate/suites.cpp": '#include "validate/faults/a.hpp"\n',
    }
    up = {("scenarios", "run", "study"): (1, ""), ("scenarios", "", "keys"): (2, "")}
    expected_inside = [
        "scenarios/keys/a.cpp:2: scenarios/keys may not use scenarios/run, which stands above",
        "scenarios/new/a.cpp:1: FLOORS of tests/layering_test.py does not say where scenarios/new/ stands",
        "tests/layering_test.py: STILL_UP[('scenarios', '', 'keys')] is 1 now: lower it",
    ]
    with tempfile.TemporaryDirectory() as folder:
        root = pathlib.Path(folder)
        for name, text in bad.items():
            (root / name).parent.mkdir(parents=True, exist_ok=True)
            (root / name).write_text(text, encoding="utf-8")
        found, own = faults(root)
        for name, text in inside.items():
            (root / name).parent.mkdir(parents=True, exist_ok=True)
            (root / name).write_text(text, encoding="utf-8")
        found_inside = faults_inside(root, up)
        (root / "sim/README.md").write_text("May use: nothing of\nours. `sim/engine.cpp`, `sim/gone.cpp`\n", encoding="utf-8")
        (root / "cli/README.md").write_text("May use: `sim`.\n", encoding="utf-8")
        of_readmes = [each for each in faults_of_readmes(root) if "missing" not in each]
    if [each.split(":")[0] for each in of_readmes] != ["sim/README.md", "cli/README.md"] or "gone" not in of_readmes[0]:
        sys.exit(f"layering: the check of READMEs is broken: found {of_readmes}")
    if found != expected or own != 7:
        sys.exit(f"layering: the check itself is broken: {own} includes, found {found}")
    if found_inside != expected_inside:
        sys.exit(f"layering: the check inside of rooms is broken: found {found_inside}")


def main():
    check_self()
    root = pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else pathlib.Path(__file__).resolve().parent.parent
    missing = [room for room in MAY_USE if not (root / room).is_dir()]
    if missing:
        sys.exit(f"layering: {root} has no folder {', '.join(missing)}")
    found, own = faults(root)
    found += faults_inside(root, STILL_UP) + faults_of_readmes(root)
    for fault in found:
        print(fault)
    if found:
        sys.exit(f"layering: {len(found)} arrows point the wrong way")
    up = sum(number for number, _ in STILL_UP.values())
    print(f"layering: {own} includes, all between rooms point down, and inside of rooms all but {up}")


if __name__ == "__main__":
    main()
