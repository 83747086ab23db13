#!/usr/bin/env python3
"""Builds the wheel and the source distribution of Contend, as pip asks for them (PEP 517).

    python3 python/wheel_builder.py [FOLDER [BUILD_FOLDER]]    # both, into FOLDER (default dist)
    pip wheel --no-deps .                                      # the wheel alone
    pip install contend-0.1.0.tar.gz                           # builds the wheel of the distribution, and installs it

The wheel has what `cmake --install` installs of the program and of the package: it is for the Python that builds it, on
machines with the libraries of this one. It is built below `build/wheel`, or in BUILD_FOLDER (pip: `--config-settings
build-folder=...`), and nothing is downloaded.
"""

import base64
import gzip
import hashlib
import io
import os
import pathlib
import re
import shutil
import subprocess
import sys
import sysconfig
import tarfile
import tempfile
import zipfile

SOURCE = pathlib.Path(__file__).resolve().parents[1]
VERSION = re.search(r"project\(contend VERSION ([\d.]+)", (SOURCE / "CMakeLists.txt").read_text(encoding="utf-8")).group(1)
METADATA = f"""Metadata-Version: 2.1
Name: contend
Version: {VERSION}
Summary: Discrete-event simulator of GPU clusters that train deep networks
License-File: LICENSE
Requires-Python: >=3.9
Provides-Extra: tables
Requires-Dist: numpy; extra == "tables"
Requires-Dist: pandas; extra == "tables"
Requires-Dist: matplotlib; extra == "tables"
"""
NOT_SHIPPED = {".git", "build", "dist", "out", ".cache", "__pycache__"}  # of a folder that isn't a clone
EPOCH = (1980, 1, 1, 0, 0, 0)  # of all files, so that two builds of a tree are one wheel


def _installed(build, place):
    """Configures, builds and installs program and package into the folder `place`."""
    options = ["-DCMAKE_BUILD_TYPE=Release", "-DCONTEND_TESTS=OFF", f"-DPython_EXECUTABLE={sys.executable}"]
    configured = (build / "CMakeCache.txt").is_file()
    generator = ["-G", "Ninja"] if shutil.which("ninja") and not configured else []
    # A build folder that is there keeps its options, such as tests.
    commands = [["cmake", "-S", SOURCE, "-B", build, *generator, *([] if configured else options)],
                ["cmake", "--build", build, "-j", str(os.cpu_count() or 1), "--target", "contend", "contend_share",
                 "contend_python"]]
    commands += [["cmake", "--install", build, "--prefix", place, "--strip", "--component", component]
                 for component in ("program", "python")]
    for command in commands:
        subprocess.run([str(word) for word in command], check=True, stdout=sys.stderr)
    if not list(place.glob("lib/python3/dist-packages/contend/_native*" + sysconfig.get_config_var("EXT_SUFFIX"))):
        raise RuntimeError(f"{build} has no module for {sys.executable}: pybind11-dev or the headers of this Python are "
                           "missing, or the folder was configured for another Python")


def _place_in_wheel(path):
    """Where a file of an installation, by its path below the prefix, lies in the wheel."""
    top, _, rest = path.partition("/")
    if path.startswith("lib/python3/dist-packages/"):
        return path[len("lib/python3/dist-packages/"):]
    return f"contend-{VERSION}.data/" + (f"scripts/{rest}" if top == "bin" else f"data/{path}")


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    """Writes the wheel into that folder, and returns its name."""
    build = pathlib.Path((config_settings or {}).get("build-folder") or SOURCE / "build" / "wheel").resolve()
    python = f"cp{sys.version_info[0]}{sys.version_info[1]}"
    tag = f"{python}-{python}-{re.sub('[-.]', '_', sysconfig.get_platform())}"
    name = f"contend-{VERSION}-{tag}.whl"
    info = f"contend-{VERSION}.dist-info/"
    with tempfile.TemporaryDirectory() as folder:
        place = pathlib.Path(folder)
        _installed(build, place)
        files = {_place_in_wheel(file.relative_to(place).as_posix()): (file.read_bytes(), os.access(file, os.X_OK))
                 for file in place.rglob("*") if file.is_file()}
    files[info + "METADATA"] = METADATA.encode(), False
    files[info + "LICENSE"] = (SOURCE / "LICENSE").read_bytes(), False
    files[info + "WHEEL"] = (f"Wheel-Version: 1.0\nGenerator: contend {VERSION}\nRoot-Is-Purelib: false\n"
                             f"Tag: {tag}\n".encode(), False)
    record = "".join(
        f"{path},sha256={base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b'=').decode()},{len(data)}\n"
        for path, (data, _) in sorted(files.items()))
    files[info + "RECORD"] = f"{record}{info}RECORD,,\n".encode(), False
    with zipfile.ZipFile(pathlib.Path(wheel_directory, name), "w", zipfile.ZIP_DEFLATED) as wheel:
        for path, (data, runs) in sorted(files.items()):
            entry = zipfile.ZipInfo(path, EPOCH)
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.external_attr = (0o100755 if runs else 0o100644) << 16
            wheel.writestr(entry, data)
    return name


def _shipped():
    """The files of the source tree: of a clone those that git knows, else all but what builds leave."""
    if (SOURCE / ".git").exists():
        listed = subprocess.run(["git", "-C", SOURCE, "ls-files", "-z"], check=True, stdout=subprocess.PIPE).stdout
        return sorted(path for path in os.fsdecode(listed).split("\0") if (SOURCE / path).is_file())
    return sorted(path.relative_to(SOURCE).as_posix() for path in SOURCE.rglob("*")
                  if path.is_file() and not NOT_SHIPPED & set(path.relative_to(SOURCE).parts))


def build_sdist(sdist_directory, config_settings=None):
    """Writes the source distribution into that folder, and returns its name."""
    name = f"contend-{VERSION}.tar.gz"
    with open(pathlib.Path(sdist_directory, name), "wb") as file, \
            gzip.GzipFile("", "wb", mtime=0, fileobj=file) as packed, \
            tarfile.open(fileobj=packed, mode="w", format=tarfile.PAX_FORMAT) as archive:
        def add(path, data, runs):
            entry = tarfile.TarInfo(f"contend-{VERSION}/{path}")
            entry.size, entry.mode = len(data), 0o755 if runs else 0o644
            archive.addfile(entry, io.BytesIO(data))

        for path in _shipped():
            add(path, (SOURCE / path).read_bytes(), os.access(SOURCE / path, os.X_OK))
        if not (SOURCE / "PKG-INFO").is_file():
            add("PKG-INFO", METADATA.encode(), False)
    return name


def main():
    folder = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else "dist")
    folder.mkdir(parents=True, exist_ok=True)
    print(folder / build_sdist(folder))
    print(folder / build_wheel(folder, {"build-folder": sys.argv[2]} if len(sys.argv) > 2 else None))


if __name__ == "__main__":
    main()
