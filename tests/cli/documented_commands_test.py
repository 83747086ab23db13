#!/usr/bin/env python3
"""Runs the commands that README.md and docs/ show, and compares what they print with what the pages show below them.

Usage: documented_commands_test.py PROGRAM [repository root] [--part K/N | PAGE...]

Commands are the code blocks whose first line begins with "$ " or with a known program. The commands of a page run in
order in one folder, which has the scenarios, scripts and pages of the repository, and `contend` on the path.
- In a block with "$ " the lines below a command are its output. "..." stands for any text in a line, and for any
  number of lines if it is alone. A command without such lines must succeed.
- A block below a paragraph that ends with the name of a file and a colon (`jobs.csv`:) is that file, and so is what is
  below "$ cat FILE" if the file does not exist yet.
With --part, only the K-th of N parts of the pages, so that the parts can run side by side.
Prints page:line for each difference and exits with 1 if there is one.
"""

import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys
import tempfile

# What this test cannot run, and why. Every entry must match a command of some page.
NOT_RUN = [
    (r"scripts/(quickstart|test|weekly|new_policy|install_deps)\.sh|sudo|contend --plugin|g\+\+ -shared|build/my_contend|cmake|ctest|python3 python/wheel_builder|python3 -m venv|here/bin/|.* size-limit\.yaml",
     "builds or installs the program"),
    (r"FUZZ_SECONDS|CONTEND_EFFORT|scripts/mutation_sample|build/release/tests/|PYTHONPATH=\S+ /usr/bin/python3 tests/bench/",
     "takes minutes"),
    (r"contend run .* --repeat 30|contend (sweep|results) .*study\.(yaml|sqlite)", "takes minutes"),
    (r"contend sweep scenarios/parallel/shared-fabric\.yaml|contend results fabric\.sqlite", "is run by generated_figures"),
    (r"contend sweep scenarios/overlapping-jobs|contend results (iteration|contention|flow)\.sqlite|scripts/plot_overlapping_jobs",
     "takes minutes"),
    (r"contend validate|scripts/(scheduler_page|mixed_cluster_study)|contend results mixed\.sqlite|D=|contend calibrate network --(osu-log|csv) \$", "needs published data"),
    (r"contend calibrate (-o|model|merge|compare|import)|contend run study\.yaml|PROGRAMS=", "measures a device"),
    (r"scripts/(calibrate_here|calibration_plan|(measure|compare)_t)|contend calibrate network --profile", "measures a device"),
    (r"contend capture|contend run captured\.yaml", "needs PyTorch"),
    (r"mpirun|contend calibrate network --nccl-log|contend collective .* --compare", "measures a network"),
    (r"parallel|contend (sweep (work|.* --(slurm|shard))|merge)|scripts/slurm_testbed", "runs on a cluster"),
]
# The commands that take longest. They run where CONTEND_EFFORT is set, as scripts/weekly.sh does.
SLOW = [
    (r"contend sweep scenarios/network/(placement-by-traffic|routing-and-placement)|contend results (traffic|vclos|routing)\.sqlite",
     "takes tens of seconds"),
    (r"contend tune scenarios/parallel/llama-3-405b\.yaml", "takes ten seconds"),
    (r"contend sweep scenarios/sweeps/compression-map-resnet50\.yaml -o map\.sqlite|contend report map\.sqlite",
     "takes ten seconds, on two pages"),
    (r"contend run scenarios/network/routing-and-placement\.yaml -o who|contend report who", "takes ten seconds"),
    (r"contend run scenarios/traces/philly-like\.yaml --repeat 20 -o (before|after)|contend compare before after",
     "takes ten seconds"),
    (r"PYTHONPATH=build/release/python python3 evolve\.py", "takes a quarter of a minute"),
    (r"contend tune scenarios/ada-srsf/base\.yaml --(minimise|maximise)", "takes three to seven seconds, three times"),
    (r"contend compare scenarios/traces/philly-like\.yaml", "takes five seconds"),
    (r"contend sweep scenarios/serving/(lend-at-night|post-training|polca)\.yaml|contend (results|report) (lend|rl|row)\.sqlite", "takes three to eight seconds"),
    (r"contend evaluate '\{policy: srtf, preemptive: true\}' --weeks 3", "takes five seconds"),
]
if "CONTEND_EFFORT" not in os.environ:
    NOT_RUN += SLOW
PROGRAMS = r"(contend|build/release/\S+|scripts/\S+|cmake|ctest|mpirun|parallel|export|sed|[A-Z_]+=\S+)(\s|$)"
FILE_ABOVE = re.compile(r"`([\w./-]+\.\w+)`:$")
SHARED = ["scenarios", "scripts", "docs", "python"]  # folders of the repository that the commands find
SECONDS_PER_COMMAND = 120


class Block:
    """A code block: the number of its first line, its lines without their common indent, and the paragraph above."""

    def __init__(self, line, lines, above):
        self.line, self.lines, self.above = line, lines, above


class Command:
    """A command of a page, and the lines that the page shows as its output."""

    def __init__(self, line, text, shown):
        self.line, self.text, self.shown = line, text, shown


def dedent(lines):
    indent = min((len(line) - len(line.lstrip()) for line in lines if line.strip()), default=0)
    return [line[indent:].rstrip() for line in lines]


def parts(lines):
    """The parts of an indented block, with the index of their first lines: a file, and the session that follows it."""
    found, begin = [], 0
    for at, line in enumerate(lines):
        follows_file = at > 0 and not lines[at - 1] and not lines[begin].startswith("$ ")
        if line.startswith("$ ") and follows_file:
            found.append((begin, lines[begin:at]))
            begin = at
    found.append((begin, lines[begin:]))
    for _, inside in found:
        while not inside[-1]:
            inside.pop()
    return found


def blocks(text):
    """The code blocks of a page: fenced without a language or with one, and indented by four or more."""
    lines = text.splitlines()
    found, above, at = [], "", 0
    while at < len(lines):
        line = lines[at]
        first = at + 1
        if line.lstrip().startswith("```"):
            while not lines[first].lstrip().startswith("```"):
                first += 1
            found.append(Block(at + 2, dedent(lines[at + 1:first]), above))
            at, above = first + 1, ""
        elif line.startswith("    ") and (at == 0 or not lines[at - 1].strip()):
            while first < len(lines) and (not lines[first].strip() or lines[first].startswith("    ")):
                first += 1
            for begin, inside in parts(dedent(lines[at:first])):
                found.append(Block(at + 1 + begin, inside, above))
                above = ""
            at = first
        else:
            if line.strip():
                above = line.strip()
            at += 1
    return found


def whole_command(lines, at):
    """The command that begins at lines[at], with the lines that continue it, and the index of the line below it."""
    text = lines[at].removeprefix("$ ")
    at += 1
    while at < len(lines):
        try:
            shlex.split(text)
            if not text.endswith("\\"):
                break
        except ValueError:  # a quotation that ends on a later line
            pass
        text += "\n" + lines[at]
        at += 1
    return text, at


def commands(block):
    """The commands of a block; none if it shows something else."""
    session = block.lines[0].startswith("$ ")
    if not session and not re.match(PROGRAMS, block.lines[0]):
        return []
    found, at = [], 0
    while at < len(block.lines):
        line = block.line + at
        text, at = whole_command(block.lines, at)
        shown = []
        while session and at < len(block.lines) and not block.lines[at].startswith("$ "):
            shown.append(block.lines[at])
            at += 1
        while shown and not shown[-1]:
            shown.pop()
        if text.strip():
            found.append(Command(line, text, shown))
    return found


def agrees(shown, printed):
    """True if the lines that a page shows stand for the lines that the command printed."""
    pattern = ""
    for line in shown:
        pattern += r"(.*\n)*?" if line == "..." else ".*".join(map(re.escape, line.split("..."))) + r"\n"
    return re.fullmatch(pattern, "".join(line + "\n" for line in printed)) is not None


def run(command, folder):
    """The exit status of a command in the folder, and the lines that it prints."""
    environment = dict(os.environ, LC_ALL="C.UTF-8", PATH=f"{folder / 'build/release'}:{os.environ['PATH']}")
    done = subprocess.run(["bash", "-o", "pipefail", "-c", command], cwd=folder, env=environment, text=True,
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          timeout=SECONDS_PER_COMMAND, check=False)
    return done.returncode, [line.rstrip() for line in done.stdout.rstrip().splitlines()]


def reasons_not_to_run(command):
    return [entry for entry in NOT_RUN if re.match(entry[0], command.text)]


def check_page(name, text, folder):
    """Runs the commands of a page in the folder and returns its faults and the number of commands that ran."""
    faults, ran = [], 0
    for block in blocks(text):
        file = FILE_ABOVE.search(block.above)
        found = commands(block)
        if file and not found:
            (folder / file[1]).parent.mkdir(parents=True, exist_ok=True)
            (folder / file[1]).write_text("\n".join(block.lines) + "\n", encoding="utf-8")
        for command in found:
            if reasons_not_to_run(command):
                continue
            ran += 1
            written = re.fullmatch(r"cat ([\w./-]+)", command.text)
            if written and not (folder / written[1]).exists():
                (folder / written[1]).write_text("\n".join(command.shown) + "\n", encoding="utf-8")
                continue
            status, printed = run(command.text, folder)
            if command.shown and not agrees(command.shown, printed):
                faults.append(f"{name}:{command.line}: {command.text}\n  the page shows\n" +
                              "".join(f"    {line}\n" for line in command.shown) + "  the command prints\n" +
                              "".join(f"    {line}\n" for line in printed))
            elif not command.shown and status != 0:
                faults.append(f"{name}:{command.line}: {command.text}\n  ends with status {status} and prints\n" +
                              "".join(f"    {line}\n" for line in printed))
    return faults, ran


def check_self():
    """Checks a page with known faults, so that a test that compares nothing can't pass."""
    page = "\n".join([
        "Two numbers, `numbers.txt`:", "", "    7", "    8", "", "Text.", "",
        "    $ cat numbers.txt", "    7", "    8", "    $ echo 'a", "      b' \\", "      c | tail -1", "      b c", "",
        "- An item:", "", "      $ cat numbers.txt", "      9", "      $ cat other.txt", "      x", "      $ cat other.txt",
        "      x", "", "```", "$ seq 9", "1", "...", "9", "$ seq 9", "1", "...", "8", "$ echo took 5 s", "took ... s",
        "```", "", "    scripts/missing.sh    # fails", "    export A=1", "",
        "A file and a session, `letter.txt`:", "", "    a", "", "    $ cat letter.txt", "    b", ""])
    with tempfile.TemporaryDirectory() as folder:
        faults, ran = check_page("page.md", page, pathlib.Path(folder))
    places = [fault.split(": ")[0] for fault in faults]
    if places != ["page.md:18", "page.md:30", "page.md:38", "page.md:45"] or ran != 11:
        sys.exit(f"documented_commands: the check itself is broken: {ran} commands, faults {faults}")


def unmatched_patterns(texts):
    """The entries of NOT_RUN that match no command of these pages."""
    matched = {entry for text in texts for block in blocks(text) for command in commands(block)
               for entry in reasons_not_to_run(command)}
    return [entry for entry in NOT_RUN if entry not in matched]


def part_of(pages, text):
    """The K-th of N parts of the pages, where `text` is K/N; every page is in one of the N."""
    match = re.fullmatch(r"(\d+)/(\d+)", text)
    if not match or not 1 <= int(match[1]) <= int(match[2]):
        sys.exit(f"documented_commands: --part: expected K/N with K from 1 to N, such as 1/4, got {text!r}")
    return pages[int(match[1]) - 1::int(match[2])]


def main():
    check_self()
    program = pathlib.Path(sys.argv[1]).resolve()
    root = pathlib.Path(sys.argv[2] if len(sys.argv) > 2 else __file__.rsplit("/tests/", 1)[0]).resolve()
    all_pages = ["README.md"] + sorted(str(page.relative_to(root)) for page in root.glob("docs/**/*.md"))
    texts = {page: (root / page).read_text(encoding="utf-8") for page in all_pages}
    chosen = sys.argv[3:]
    pages = part_of([page for page in all_pages if any(map(commands, blocks(texts[page])))], chosen[1]) \
        if chosen[:1] == ["--part"] else chosen or all_pages
    # A package that was built, and that Python can't import, is a fault of the commands that use it.
    if not list(program.parent.glob("python/contend/_native*.so")):
        NOT_RUN.append((r"PYTHONPATH=build/release/python", "needs the Python package, which isn't built here"))
    faults = [f"documented_commands: no page has a command like {pattern} ({reason})"
              for pattern, reason in unmatched_patterns(texts.values())]
    ran = 0
    with tempfile.TemporaryDirectory() as name:
        shared = pathlib.Path(name) / "shared"  # one copy for all pages: half of the time were copies for each
        for part in SHARED:
            shutil.copytree(root / part, shared / part)
        (shared / "build/release").mkdir(parents=True)
        (shared / "build/release/contend").symlink_to(program)
        (shared / "build/release/contend-check").symlink_to(root / "scripts/contend_check.py")
        (shared / "build/release/python").symlink_to(program.parent / "python")
        for page in pages:
            folder = pathlib.Path(name) / "page"
            folder.mkdir()
            for part in [*SHARED, "build"]:
                (folder / part).symlink_to(shared / part)
            found, count = check_page(page, texts.get(page) or (root / page).read_text(encoding="utf-8"), folder)
            shutil.rmtree(folder)
            faults += found
            ran += count
    if ran == 0:
        faults.append("documented_commands: no command ran")
    print("\n".join(faults), end="")
    if faults:
        sys.exit(f"documented_commands: {len(faults)} faults")
    print(f"documented_commands: {ran} commands print what the pages show")


if __name__ == "__main__":
    main()
