"""Reads what the program has written: result folders and stores."""

import csv
import json
import os
import pathlib
from typing import Any, Dict, List, Optional, Sequence

from ._program import Path, _call, _options
from ._results import JobList, Runs, Sweep, _from_texts

#: The exit code of the program, by what the manifest says of the runs.
_CODES = {"finished": 0, "unfinished jobs": 4, "policy failed": 6, "interrupted": 130}


class _Folder:
    """A result folder, with the members of the compiled module's runs."""

    def __init__(self, folder: pathlib.Path):
        self._folder = folder
        self.manifest, self.summary, self.scenario = (
            (folder / name).read_text(encoding="utf-8") for name in ("manifest.json", "summary.json", "scenario.yaml"))
        manifest = json.loads(self.manifest)
        self._seeds = [str(each["seed"]) for each in manifest["replicas"]]
        files = [pathlib.Path(each["path"]) for each in manifest["files"]]
        self.tables = [file.stem for file in files if file.suffix == ".csv"]
        self._read: Dict[str, List[List[str]]] = {}

    def csv(self, table: str) -> bytes:
        return (self._folder / f"{table}.csv").read_bytes()

    def _rows(self, table: str) -> List[List[str]]:
        """The lines of a table, the titles first."""
        if table not in self._read:
            with open(self._folder / f"{table}.csv", encoding="utf-8", errors="surrogateescape", newline="") as file:
                self._read[table] = list(csv.reader(file))
        return self._read[table]

    def _of(self, table: str, of: Optional[int]) -> List[List[str]]:
        titles, *rows = self._rows(table)
        if of is None or "replica" not in titles:
            return rows
        at = titles.index("replica")
        return [row for row in rows if row[at] == self._seeds[of]]

    def columns(self, table: str) -> List[str]:
        if table not in self.tables:
            return []
        return [name for name in self._rows(table)[0] if name != "replica"]

    def rows(self, table: str, of: Optional[int]) -> int:
        return len(self._of(table, of))

    def values(self, table: str, names: Sequence[str], of: Optional[int]) -> Dict[str, Any]:
        at, rows = self._rows(table)[0], self._of(table, of)
        return {name: _from_texts([row[at.index(name)] for row in rows]) for name in names}


def load(path: Path) -> Any:
    """The runs of a folder that `contend run -o` or run(output=...) wrote, or the sweep of a store.

    Raises InputError for anything else, and for a folder whose files somebody has changed.
    """
    text = os.fspath(path)
    if not os.path.isdir(text):
        return Sweep(_call(["results", text, "--rows"])[1], text, 0)
    _call(["results", text, "--by", "size"])  # compares all files with their digests
    folder = _Folder(pathlib.Path(text))
    return Runs(folder, _CODES[json.loads(folder.manifest)["exit_state"]])


def import_trace(file: Path, format: Optional[str] = None, *, output: Path, **options: Any) -> JobList:
    """Converts a job trace to the job list `output`, as `contend import` does, and returns its columns.

    `options` are the options of the verb: import_trace("cluster_log.csv", "helios", output="jobs.csv", min_gpus=1,
    vc=["vcA", "vcB"]). The summary of what was read is its member `summary`. A scenario names the list:
    {"workload": {"jobs": "jobs.csv"}}.
    """
    printed = _call(["import", *([] if format is None else [format]), os.fspath(file), "--json",
                     *_options(output=os.fspath(output), **options)])[1]
    with open(output, encoding="utf-8", newline="") as jobs:
        return JobList(jobs.read(), json.loads(printed), os.fspath(output))
