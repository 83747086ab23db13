"""The page of pictures: each picture of docs/ with the commands that draw it and the page that explains it.

The commands are those that scripts/generate_docs.sh --figures runs: it runs here with a program that only prints its
arguments. Pictures that other commands draw stand in OTHERS, with the file that has the command.
"""

import os
import pathlib
import re
import shlex
import subprocess
import sys
import tempfile

# {picture: (commands, the file that names them, a note)}. A command may go on there.
OTHERS = {
    "docs/images/mixed-cluster.svg": (["scripts/mixed_cluster_study.py draw mixed.csv mixed-cluster.svg"],
                                      "docs/validation/mixed-cluster.md", ""),
    "docs/validation/overlapping_jobs.svg": (
        ["scripts/plot_overlapping_jobs.py contention.csv flow.csv docs/validation/overlapping_jobs.svg"],
        "docs/validation/overlapping-jobs.md", ""),
    "docs/validation/ada_dual_gain.svg": (["scripts/plot_ada_dual.py"], "docs/validation/ada-srsf.md", ""),
    "docs/howto/federated.svg": (
        ["contend sweep scenarios/federated/phones.yaml -o phones.sqlite",
         "contend results phones.sqlite --metric updates,round_s,updates_lost"],
        "docs/howto/federated.md", "Drawn by hand from the figures that the commands print."),
    "docs/howto/six-places.svg": (
        ["contend sweep scenarios/energy/six-places.yaml -o six.sqlite",
         "contend results six.sqlite --metric makespan_s,cost,job_energy_kwh,carbon_g"],
        "docs/howto/six-places.md", "Drawn by hand from the figures that the commands print."),
    "docs/images/pipeline-schedules.svg": (
        ["CONTEND_WRITE_FIGURES=1 ctest --preset release -R pipeline_drawing"], "", "Without the variable the test compares."),
    "docs/images/report-timeline.png": (
        ["contend report out"], "docs/howto/report.md", "A photograph of the page in a browser."),
}
PICTURE = re.compile(r"!\[([^\]]*)\]\(([^)\s]+)\)")
PRINTER = """#!/usr/bin/env python3
import shlex, sys
print("RAN", shlex.join(["contend", *sys.argv[1:]]), file=sys.stderr)
"""


def drawn(root):
    """{picture: its commands}, as scripts/generate_docs.sh runs them."""
    with tempfile.TemporaryDirectory() as folder:
        program = pathlib.Path(folder, "contend")
        program.write_text(PRINTER, encoding="utf-8")
        program.chmod(0o755)
        done = subprocess.run(["bash", root / "scripts/generate_docs.sh", "--check", "--figures", program], text=True,
                              capture_output=True, check=False,
                              env={**os.environ, "CONTEND_EFFORT": "1", "TMPDIR": folder})
        local = re.compile(re.escape(folder) + r"/tmp\.\w+/")
    commands, waiting, last = {}, [], []
    for line in done.stderr.splitlines():
        if line.startswith("RAN "):
            command = local.sub("", line[4:]).replace(f"{root}/", "")
            waiting.append(shlex.join(word for word in shlex.split(command) if word != "-q"))
        elif match := re.match(r"(docs/images/\S+) is out of date", line):
            last = waiting or last
            commands[match[1]], waiting = last, []
    return commands, waiting


def named_on(docs):
    """{picture: (text, page)} of the pictures that pages of docs/ show."""
    found = {}
    for page in sorted(docs.rglob("*.md")):
        for text, address in PICTURE.findall(page.read_text(encoding="utf-8")):
            found.setdefault((page.parent / address).resolve(), (text, page))
    return found


def page(root, docs):
    """The text of gallery.md. Ends the program if a picture has no command."""
    commands, rest = drawn(root)
    shown = named_on(docs)
    if rest:
        commands["docs/images/timeline.svg"] = [*rest, "scripts/plot_timeline.py out/timeline.json timeline.svg --jobs out/jobs.csv --to 2"]
    text = ["# Gallery", "", "Each picture of these pages, with the commands that draw it. The commands are those that the tests run: "
            "`scripts/generate_docs.sh --figures` draws most of them again.", ""]
    pictures = sorted(path for path in docs.rglob("*") if path.suffix in (".svg", ".png"))
    for picture in pictures:
        name = "docs/" + picture.relative_to(docs).as_posix()
        caption, where = shown.get(picture, (picture.stem, None))
        lines = commands.get(name)
        note = ""
        if lines is None and name in OTHERS:
            lines, source, note = OTHERS[name]
            if source and not all(line in (docs.parent / source).read_text(encoding="utf-8") for line in lines):
                sys.exit(f"gallery: {source} doesn't name `{lines[0]}`, which draws {name}")
        if lines is None:
            sys.exit(f"gallery: no command is known that draws {name}; add it to scripts/site/gallery.py")
        text += [f"## {picture.stem.replace('-', ' ').replace('_', ' ')}", "", f"![{caption}]({name[5:]})", ""]
        if where is not None:
            text += [f"{caption}: [{where.read_text(encoding='utf-8').splitlines()[0].lstrip('# ')}]"
                     f"({where.relative_to(docs).as_posix()}).", ""]
        text += ["```sh", *lines, "```", "", note, ""]
    return "\n".join(text)
