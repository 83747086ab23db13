#!/usr/bin/env python3
"""Builds the wheel and the source distribution, installs the wheel in a clean virtual environment, and uses it there.

Usage: wheel_test.py SOURCE_FOLDER BUILD_FOLDER, the latter with a release build. A stage of scripts/weekly.sh.
"""

import ast
import json
import os
import pathlib
import subprocess
import sys
import tarfile
import tempfile
import zipfile

SOURCE, BUILD = (pathlib.Path(word).resolve() for word in sys.argv[1:3])
CLEAN = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "CONTEND_"))}
PROGRAM = """
import contend, os
runs = contend.run("scenarios/ada-srsf/base.yaml", until="20s", repeat=1)
assert runs.code == 4 and len(runs.jobs["jct_s"]) == 160, runs
print(contend.version(), os.path.dirname(contend.__file__))
"""
checks = 0


def check(holds, text):
    global checks
    checks += 1
    if not holds:
        sys.exit(f"wheel_test: {text}")


def said(*words, cwd, code=0):
    done = subprocess.run([str(word) for word in words], cwd=cwd, env=CLEAN, text=True, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, check=False)
    check(done.returncode == code, f"{' '.join(map(str, words))} ended with {done.returncode}:\n{done.stdout}")
    return done.stdout


def python_of(build):
    """The Python of a build folder."""
    for line in (build / "CMakeCache.txt").read_text(encoding="utf-8").splitlines():
        if line.startswith("_Python_EXECUTABLE:") or line.startswith("Python_EXECUTABLE:"):
            return line.split("=", 1)[1]
    return sys.exit(f"wheel_test: {build} has no Python")


def run_notebooks(python, folder):
    """Runs the code of the notebooks as scripts, where their data are."""
    data = pathlib.Path(os.environ.get("CONTEND_DATA", SOURCE / "../shared/data")).resolve()
    for notebook in sorted(SOURCE.glob("docs/notebooks/*.ipynb")):
        cells = json.loads(notebook.read_text(encoding="utf-8"))["cells"]
        check(all(not cell.get("outputs") for cell in cells), f"{notebook} keeps outputs")
        script = folder / (notebook.stem + ".py")
        script.write_text("\n".join("".join(cell["source"]) for cell in cells if cell["cell_type"] == "code"), encoding="utf-8")
        if data.is_dir():
            CLEAN["CONTEND_DATA"] = str(data)
            check("1452 jobs" in said(python, script, cwd=folder), f"{notebook} prints no result")
        else:
            print(f"{notebook.name} is skipped: there is no {data} (set CONTEND_DATA)")


def main():
    with tempfile.TemporaryDirectory() as folder:
        place = pathlib.Path(folder)
        python = python_of(BUILD)
        printed = said(python, SOURCE / "python/wheel_builder.py", "dist", BUILD, cwd=place).splitlines()
        sdist, wheel = (place / name for name in printed[-2:])

        # Two builds of one tree are one wheel, and whoever unpacks it finds what RECORD says.
        said(python, "-c", "import sys, wheel_builder; wheel_builder.build_wheel(*sys.argv[1:2], "
             "{'build-folder': sys.argv[2]})", place, BUILD, cwd=SOURCE / "python")
        check((place / wheel.name).read_bytes() == wheel.read_bytes(), "two wheels of one build differ")
        names = zipfile.ZipFile(wheel).namelist()
        check(any(name.startswith("contend/_native") for name in names), f"{wheel} has no module")
        check("contend/_policies.py" in names and "contend/py.typed" in names, f"{wheel} has not the whole package")

        # pip installs it in an environment that has nothing, without a network.
        said(python, "-m", "venv", "--without-pip", "here", cwd=place)
        own = place / "here/bin/python"
        said(python, "-m", "pip", "--python", own, "install", "--no-index", wheel, cwd=place)
        empty = place / "empty"
        empty.mkdir()
        version, where = said(own, "-c", PROGRAM, cwd=empty).rsplit(" ", 1)
        check(pathlib.Path(where.strip()).is_relative_to(place / "here"), f"contend is imported from {where}")
        program = place / "here/bin/contend"
        check(said(program, "--version", cwd=empty).strip() == version, "program and module have two versions")
        said(program, "run", "scenarios/ada-srsf/base.yaml", "--repeat", "1", "--until", "20s", "-q", "--certificate",
             "-o", "out", cwd=empty, code=4)
        said(place / "here/bin/contend-check", "out", cwd=empty)
        CLEAN["PATH"] = f"{place}/here/bin:{CLEAN['PATH']}"  # as in an activated environment
        said(program, "doctor", "python-module", "scenarios", cwd=empty)

        run_notebooks(own, empty)

        # The source distribution is the tree: CMake configures it and knows how to make program and module.
        with tarfile.open(sdist) as archive:
            archive.extractall(place, filter="data") if hasattr(tarfile, "data_filter") else archive.extractall(place)
        tree = place / sdist.name[:-len(".tar.gz")]
        check((tree / "PKG-INFO").is_file() and (tree / "pyproject.toml").is_file(), "the distribution isn't one of Python")
        said("cmake", "-S", tree, "-B", "configured", "-G", "Ninja", "-DCONTEND_TESTS=OFF", f"-DPython_EXECUTABLE={python}",
             cwd=place)
        commands = said("ninja", "-C", "configured", "-t", "commands", "contend", "contend_python", cwd=place)
        check("python/contend/_native" in commands, "the distribution builds no module")

    for file in [*SOURCE.glob("python/**/*.py"), *SOURCE.glob("python/**/*.pyi")]:
        ast.parse(file.read_text(encoding="utf-8"), feature_version=(3, 9))
        check(True, "")
    print(f"wheel: {checks} checks")


if __name__ == "__main__":
    main()
