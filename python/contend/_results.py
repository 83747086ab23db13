"""Results of the program as tables of columns."""

import csv
import json
import pathlib
from typing import Any, Dict, Iterator, List, Mapping, Sequence

try:
    import numpy
except ImportError:  # columns are lists then
    numpy = None  # type: ignore[assignment]


def _column(texts: Sequence[str]) -> Any:
    """Whole numbers, numbers (an empty field is nan), or texts."""
    for convert in (int, lambda text: float(text) if text else float("nan")):
        try:
            values = [convert(text) for text in texts]
        except ValueError:
            continue
        if numpy is not None:
            if convert is int and any(abs(value) >= 1 << 63 for value in values):
                return numpy.array(values, dtype=object)
            return numpy.array(values)
        return values
    return numpy.array(texts, dtype=object) if numpy is not None else list(texts)


class Table(Mapping):
    """Columns by name, all of the same length. A column is converted when it is first asked for."""

    def __init__(self, names: Sequence[str], columns: Sequence[Sequence[str]]):
        self._texts = dict(zip(names, columns))
        self._values: Dict[str, Any] = {}

    @classmethod
    def read(cls, path: pathlib.Path) -> "Table":
        with open(path, newline="", encoding="utf-8") as file:
            rows = csv.reader(file)
            names = next(rows)
            columns = list(zip(*rows))
        return cls(names, columns or [() for _ in names])

    @property
    def rows(self) -> int:
        """The number of rows."""
        return len(next(iter(self._texts.values()), ()))

    def __getitem__(self, name: str) -> Any:
        if name not in self._values:
            self._values[name] = _column(self._texts[name])
        return self._values[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._texts)

    def __len__(self) -> int:
        return len(self._texts)

    def __repr__(self) -> str:
        return f"<{self.rows} rows of {', '.join(self)}>"

    def where(self, name: str, value: Any) -> "Table":
        """The rows in whose column `name` is this value, as text."""
        keep = [i for i, text in enumerate(self._texts[name]) if text == str(value)]
        return Table(list(self), [[column[i] for i in keep] for column in self._texts.values()])

    def frame(self) -> Any:
        """A pandas.DataFrame. Raises ImportError where pandas is not installed."""
        import pandas
        return pandas.DataFrame({name: self[name] for name in self})


class Run:
    """One run: its seed, the figures of its summary, and its tables."""

    def __init__(self, runs: "Runs", summary: Dict[str, Any]):
        self._runs, self.summary, self.seed = runs, summary, summary["seed"]

    def _table(self, name: str) -> Table:
        table = self._runs.table(name)
        return table.where("replica", self.seed) if "replica" in table else table

    @property
    def jobs(self) -> Table:
        return self._table("jobs")

    @property
    def gpus(self) -> Table:
        return self._table("gpus")

    @property
    def links(self) -> Table:
        return self._table("links")


class Runs(Sequence):
    """The runs of one scenario under several seeds, from a folder that `contend run -o` wrote."""

    def __init__(self, folder: Any, code: int = 0):
        folder = pathlib.Path(folder)
        self._tables = {path.stem: path.read_bytes() for path in folder.glob("*.csv")}
        self.manifest = json.loads((folder / "manifest.json").read_text(encoding="utf-8"))
        self.scenario = (folder / "scenario.yaml").read_text(encoding="utf-8")  #: with every default
        whole = json.loads((folder / "summary.json").read_text(encoding="utf-8"))
        self.code = code  #: exit code of the program: 0, 1 (an expectation isn't met) or 4 (jobs are unfinished)
        self.name = whole["scenario"]
        self._runs = [Run(self, replica) for replica in whole["replicas"]]
        #: the figures of the only run, or their means over all runs
        self.summary = ({name: figure["mean"] for name, figure in whole["mean"].items()} if "mean" in whole
                        else self._runs[0].summary)
        self._read: Dict[str, Table] = {}

    def table(self, name: str) -> Table:
        """The result file of that name, such as `jobs`, with the rows of all runs."""
        if name not in self._read:
            rows = csv.reader(self._tables[name].decode("utf-8").splitlines())
            names = next(rows)
            self._read[name] = Table(names, list(zip(*rows)) or [() for _ in names])
        return self._read[name]

    def bytes_of(self, name: str) -> bytes:
        """The result file of that name as the program wrote it."""
        return self._tables[name]

    @property
    def jobs(self) -> Table:
        """The jobs of all runs."""
        return self.table("jobs")

    def __getitem__(self, index: Any) -> Any:
        return self._runs[index]

    def __len__(self) -> int:
        return len(self._runs)

    def __repr__(self) -> str:
        return f"<{len(self)} runs of {self.name}>"


class Comparison(dict):
    """What `contend compare --json` says; `worse` is true if a rule failed."""

    worse = False


class Sweep(Table):
    """A row for each run of a sweep, with a column for each key that varies and for each metric. `store` is its file."""

    store: str = ""
    code: int = 0


def sweep_of(text: str, store: str, code: int) -> Sweep:
    rows: List[List[str]] = list(csv.reader(text.splitlines()))
    result = Sweep(rows[0], list(zip(*rows[1:])) or [() for _ in rows[0]])
    result.store, result.code = store, code
    return result
