"""Imports the compiled module, and says what is wrong if it isn't the one of this package."""

import pathlib

from . import _build

try:
    from . import _native as native
except ImportError as error:
    raise ImportError(f"the package contend in {pathlib.Path(__file__).parent} has no compiled module for this Python: "
                      f"{error}. It is built with pybind11 for one version of Python; see docs/howto/python.md") from error

__all__ = ["native"]

if native.version != _build.version:
    raise ImportError(f"two versions of contend are mixed in {pathlib.Path(__file__).parent}: the package is of "
                      f"{_build.version}, its compiled module {native.__file__} of {native.version}; "
                      "remove one of the two installations")

# Installed, the package is below PREFIX/lib/python3/dist-packages.
native.set_shared_folder(_build.shared_folder
                         or str(pathlib.Path(__file__).resolve().parents[4] / "share" / "contend"))
