#!/usr/bin/env python3
"""Runs the steps of the workflows and of the container file in docs/howto/ as far as one machine can.

Usage: workflows_test.py PROGRAM SOURCE_FOLDER. Exits with 77 (skipped) without PyYAML. Steps that call the program run,
with few seeds and short jobs; the others, which install packages and build, are read by the shell, and the scripts,
presets and folders that they name must exist.
"""

import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

try:
    import yaml
except ImportError:
    print("workflows: skipped, because Python has no yaml")
    sys.exit(77)

PROGRAM, SOURCE = (pathlib.Path(word).resolve() for word in sys.argv[1:3])
# What stands for a longer study here: the same words, and a scenario that includes the one that they name.
SMALL = {"SCENARIO": "small.yaml", "SEEDS": "2"}
INSTALLS = re.compile(r"\b(apt-get|git\b|cmake|scripts/)")


def check_names(text):
    """What a step names of the repository is there."""
    for script in re.findall(r"scripts/[\w.-]+", text):
        assert os.access(SOURCE / script, os.X_OK), f"{script} is no script"
    presets = {each["name"] for each in json.loads((SOURCE / "CMakePresets.json").read_text())["configurePresets"]}
    for preset in re.findall(r"--preset (\S+)", text):
        assert preset in presets, f"there is no preset {preset}"
    options = (SOURCE / "scripts/install_deps.sh").read_text() + (SOURCE / "CMakeLists.txt").read_text()
    for option in re.findall(r"-D(CONTEND_\w+)|install_deps\.sh (--\w+)", text):
        assert "".join(option) in options, f"there is no option {option}"


def shell(text, folder, variables):
    subprocess.run(["bash", "-euo", "pipefail", "-c", text], cwd=folder, check=True, capture_output=True, text=True,
                   env={**os.environ, **variables, "PATH": f"{folder}/bin:{os.environ['PATH']}"})


def run_workflow(path):
    """Runs what can be run of a workflow; returns the number of steps that ran."""
    workflow = {"env": {"SCENARIO": "scenarios/ada-srsf/base.yaml"}, **yaml.safe_load(path.read_text())}
    ran = 0
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        (folder / "scenarios").symlink_to(SOURCE / "scenarios")
        for place in ("bin", "before/build/ci", "build/ci"):
            (folder / place).mkdir(parents=True)
            (folder / place / "contend").symlink_to(PROGRAM)
        assert (SOURCE / workflow["env"]["SCENARIO"]).is_file()
        small = ("schema_version: 1\n" f"include: {SOURCE / workflow['env']['SCENARIO']}\n"
                 "workload: {generate: {iterations: [10, 60], arrivals: 60s}}\n")
        for place in (".", "elsewhere"):
            (folder / place).mkdir(exist_ok=True)
            (folder / place / "small.yaml").write_text(small)
        variables = {**workflow["env"], **SMALL, "GITHUB_STEP_SUMMARY": str(folder / "summary.md")}
        for job in workflow["jobs"].values():
            for step in job["steps"]:
                if "run" not in step:
                    assert re.fullmatch(r"actions/[\w-]+@v\d+", step["uses"]), step
                    continue
                text = re.sub(r"\$\{\{[^}]*\}\}", "x", step["run"])
                subprocess.run(["bash", "-n", "-c", text], check=True)
                check_names(text)
                if INSTALLS.search(text):
                    continue
                shell(text, folder, variables)
                ran += 1
        if "--github" in path.read_text():
            summary = folder / "summary.md"
            assert "### contend compare: all 3 rules passed" in summary.read_text(), "the summary lacks the report"
    return ran


def check_container_file(path):
    text = path.read_text()
    check_names(text)
    for command in re.findall(r"^RUN ((?:.*\\\n)*.*)$", text, re.M):
        subprocess.run(["bash", "-n", "-c", command], check=True)
    packages = set(re.findall(r"/packages/([\w-]+)_", text))
    made = set(re.findall(r"PACKAGE_NAME ([\w-]+)\)", (SOURCE / "scripts/cmake/ContendInstall.cmake").read_text()))
    assert packages <= made, f"{packages - made} are no packages of this project"


def main():
    ran = {path.name: run_workflow(path) for path in sorted((SOURCE / "docs/howto").glob("*-workflow.yml"))}
    assert ran.get("regression-workflow.yml", 0) >= 2 and ran.get("packages-workflow.yml", 0) >= 1, ran
    check_container_file(SOURCE / "docs/howto/Containerfile")
    print(f"workflows: {sum(ran.values())} steps ran")


if __name__ == "__main__":
    try:
        main()
    except subprocess.CalledProcessError as error:
        sys.exit(f"workflows: {error}\n{error.stdout}{error.stderr}")
