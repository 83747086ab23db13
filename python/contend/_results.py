"""Results as tables of columns."""

import csv
import difflib
import html
import io
import itertools
import json
from typing import Any, Callable, Dict, Iterator, List, Mapping, Optional, Sequence

try:
    import numpy
except ImportError:  # columns are memory views and lists then
    numpy = None  # type: ignore[assignment]


def _missing(kind: str, name: Any, names: Sequence[str]) -> KeyError:
    """The hint for a name that isn't there: the nearest name, or all names."""
    near = difflib.get_close_matches(str(name), names, 1)
    return KeyError(f"there is no {kind} {name!r}; " + (f"did you mean {near[0]!r}?" if near else f"there are {', '.join(names)}"))


def plain(value: Any) -> Any:
    """What JSON makes of a value that it doesn't know: numbers and arrays of NumPy are those of Python."""
    if hasattr(value, "tolist"):
        return value.tolist()
    raise TypeError(f"expected a number, a text, a list or a dictionary, not {value!r}")


def _from_texts(texts: Sequence[str]) -> Any:
    """Whole numbers, numbers (an empty field is nan), or texts."""
    converts: Sequence[Callable[[str], Any]] = (int, lambda text: float(text) if text else float("nan"))
    for convert in converts:
        try:
            values: List[Any] = [convert(text) for text in texts]
        except ValueError:
            continue
        if numpy is None:
            return values
        exact = convert is not int or all(abs(value) < 1 << 63 for value in values)
        return numpy.array(values) if exact else numpy.array(values, dtype=object)
    return list(texts) if numpy is None else numpy.array(texts, dtype=object)


def _from_module(values: Any) -> Any:
    """A column of the module: an array that shares the memory of its numbers, or texts."""
    if isinstance(values, list):
        return values if numpy is None else numpy.array(values, dtype=object)
    return memoryview(values) if numpy is None else numpy.asarray(values)


def _html_table(titles: Sequence[Any], rows: Sequence[Sequence[Any]], note: str) -> str:
    """A table for notebooks, with a note below it."""
    def line(tag: str, cells: Sequence[Any]) -> str:
        return "<tr>" + "".join(
            f"<{tag}>{html.escape(f'{cell:.6g}' if isinstance(cell, float) else str(cell))}</{tag}>" for cell in cells) + "</tr>"

    return (f"<table><thead>{line('th', titles)}</thead><tbody>{''.join(line('td', row) for row in rows)}</tbody></table>"
            f"<p>{html.escape(note)}</p>")


def _axes(axes: Any) -> Any:
    """The axes to draw on; new ones of matplotlib for None. Raises ImportError where matplotlib is not installed."""
    if axes is None:
        import matplotlib.pyplot
        axes = matplotlib.pyplot.subplots()[1]
    return axes


class Table(Mapping[str, Any]):
    """Columns by name, all of the same length. A column is made when it is first asked for, and can't be changed. As a
    mapping it needs no pandas: dict(table) has the arrays by name."""

    shown_rows = 10  #: in a notebook

    def __init__(self, names: Sequence[str], rows: int, make: Callable[[List[str]], Dict[str, Any]]):
        self._names, self._make, self.rows = tuple(names), make, rows
        self._values: Dict[str, Any] = {}

    def _need(self, names: Sequence[str]) -> None:
        missing = [name for name in names if name not in self._values]
        if missing:
            self._values.update(self._make(missing))

    def __getitem__(self, name: str) -> Any:
        if name not in self._names:
            raise _missing("column", name, self._names)
        self._need([name])
        return self._values[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)

    def __repr__(self) -> str:
        return f"<{self.rows} rows of {', '.join(self)}>"

    def _repr_html_(self) -> str:
        columns = [itertools.islice(self[name], self.shown_rows) for name in self]
        left_out = self.rows - min(self.rows, self.shown_rows)
        return _html_table(list(self), list(zip(*columns)), f"{self.rows} rows" + (f", {left_out} not shown" if left_out else ""))

    def plot(self, x: str, y: str, by: Optional[str] = None, ax: Any = None) -> Any:
        """Draws column `y` over column `x` with matplotlib, with a line for each value of column `by`. Each point is the
        mean over the rows that have its `x`, without missing values. Returns the axes."""
        axes = _axes(ax)
        lines: Dict[Any, Dict[Any, List[float]]] = {}
        for at, of, value in zip(self[x], [None] * self.rows if by is None else self[by], self[y]):
            if value == value and value != "":
                lines.setdefault(of, {}).setdefault(at, []).append(float(value))
        for of, points in lines.items():
            order = list(points) if isinstance(next(iter(points)), str) else sorted(points)
            axes.plot(order, [sum(points[at]) / len(points[at]) for at in order], marker="o",
                      label=None if by is None else f"{by} {of}")
        axes.set_xlabel(x)
        axes.set_ylabel(y)
        if by is not None:
            axes.legend()
        return axes

    def frame(self) -> Any:
        """A pandas.DataFrame that shares the memory of the columns. Raises ImportError where pandas is not installed."""
        import pandas
        self._need(self._names)
        return pandas.DataFrame({name: self._values[name] for name in self._names}, copy=False)


class _CsvTable(Table):
    """A table of text, such as what a verb prints."""

    def __init__(self, text: str):
        rows = list(csv.reader(io.StringIO(text)))
        columns = dict(zip(rows[0], zip(*rows[1:]) if rows[1:] else [() for _ in rows[0]]))
        super().__init__(rows[0], len(rows) - 1, lambda names: {name: _from_texts(columns[name]) for name in names})


class JobList(_CsvTable):
    """The columns of a job list. `path` is its file, and `summary` what was read of the trace that it was made of."""

    def __init__(self, text: str, summary: Dict[str, Any], path: str):
        super().__init__(text)
        self.summary, self.path = summary, path


class Run:
    """One run: its seed, the figures of its summary, and its tables."""

    def __init__(self, runs: "Runs", index: int, summary: Dict[str, Any]):
        self._runs, self._index, self.summary, self.seed = runs, index, summary, summary["seed"]
        self._tables: Dict[str, Table] = {}

    def _table(self, name: str) -> Table:
        if name not in self._tables:
            self._tables[name] = self._runs._native_table(name, self._index)
        return self._tables[name]

    @property
    def jobs(self) -> Table:
        return self._table("jobs")

    @property
    def gpus(self) -> Table:
        return self._table("gpus")

    @property
    def links(self) -> Table:
        return self._table("links")


class Runs(Sequence[Run]):
    """The runs of one scenario under several seeds."""

    def __init__(self, results: Any, code: int = 0):
        self._native = results
        self.manifest: Dict[str, Any] = json.loads(results.manifest)
        self.scenario: str = results.scenario  #: with every default
        whole = json.loads(results.summary)
        self._means: Dict[str, Dict[str, float]] = whole.get("mean", {})
        self.code = code  #: as of the program: 0, 1 (an expectation isn't met) or 4 (jobs are unfinished, were refused or were given up)
        self.name: str = whole["scenario"]
        self._runs = [Run(self, index, replica) for index, replica in enumerate(whole["replicas"])]
        #: the figures of the only run, or their means over all runs
        self.summary: Dict[str, Any] = ({name: figure["mean"] for name, figure in whole["mean"].items()}
                                        if "mean" in whole else self._runs[0].summary if self._runs else {})
        self._tables: Dict[str, Table] = {}

    def _native_table(self, name: str, index: Optional[int]) -> Table:
        def make(names: List[str]) -> Dict[str, Any]:
            values = self._native.values(name, [each for each in names if each != "replica"], index)
            made = {each: _from_module(column) for each, column in values.items()}
            if "replica" in names:
                seeds = [run.seed for run in self._runs for _ in range(self._native.rows(name, run._index))]
                made["replica"] = seeds if numpy is None else numpy.array(seeds)
            return made

        several = index is None and len(self._runs) > 1
        return Table((["replica"] if several else []) + self._native.columns(name), self._native.rows(name, index), make)

    def table(self, name: str) -> Table:
        """The result file of that name, such as `jobs`, with the rows of all runs."""
        if name not in self._tables:
            self._tables[name] = (self._native_table(name, None) if self._native.columns(name)
                                  else _CsvTable(self.bytes_of(name).decode("utf-8")))
        return self._tables[name]

    def bytes_of(self, name: str) -> bytes:
        """The result file of that name as the program writes it. Raises KeyError if there is none; see `tables`."""
        if name not in self.tables:
            raise _missing("table", name, self.tables)
        text: bytes = self._native.csv(name)
        return text

    @property
    def tables(self) -> List[str]:
        """The names of the tables that these runs have."""
        return list(self._native.tables)

    @property
    def jobs(self) -> Table:
        """The jobs of all runs."""
        return self.table("jobs")

    @property
    def gpus(self) -> Table:
        """The GPUs of all runs."""
        return self.table("gpus")

    @property
    def links(self) -> Table:
        """The links of all runs."""
        return self.table("links")

    def __getitem__(self, index: Any) -> Any:
        return self._runs[index]

    def __len__(self) -> int:
        return len(self._runs)

    def __repr__(self) -> str:
        return f"<{len(self)} runs of {self.name}>"

    def _repr_html_(self) -> str:
        def cells(name: str, value: Any) -> List[Any]:
            interval = self._means.get(name, {}).get("half_width_95")
            return [name, value] + ([] if not self._means else ["" if interval is None else interval])

        titles = ["figure", "mean", "± 95%"] if self._means else ["figure", "value"]
        rows = [cells(name, value) for name, value in self.summary.items()
                if isinstance(value, (int, float)) and not isinstance(value, bool) and name != "seed"]
        return _html_table(titles, rows, f"{self!r}"[1:-1] + "; tables: " + ", ".join(self.tables))

    def plot(self, column: str = "jct_s", ax: Any = None) -> Any:
        """Draws, for each run, the share of its jobs whose `column` is at most so much, with matplotlib. Jobs without a
        value, such as those that didn't finish, never come in, so that the line ends below 1. Returns the axes."""
        axes = _axes(ax)
        for run in self:
            values = sorted(float(value) for value in run.jobs[column] if value == value and value != "")
            axes.step(values, [(i + 1) / run.jobs.rows for i in range(len(values))], where="post", label=f"seed {run.seed}")
        axes.set_xlabel(column)
        axes.set_ylabel("share of the jobs")
        axes.legend()
        return axes

    def __reduce__(self) -> Any:
        raise TypeError("runs can't be pickled, as their tables are in the memory of the module; pickle a table's `frame()` "
                        "or `summary`, or write them by output=FOLDER")


class Comparison(Dict[str, Any]):
    """What `contend compare --json` says; `worse` is true if a rule failed."""

    worse = False


class Evaluation(Dict[str, Any]):
    """What `contend evaluate --json` says."""


class Study(Dict[str, Any]):
    """What `contend run --json` says of an iteration study."""


class Sweep(_CsvTable):
    """A row for each run of a sweep, with a column for each key that varies and for each metric. `store` is its file."""

    def __init__(self, text: str, store: str, code: int):
        super().__init__(text)
        self.store, self.code = store, code


class Tuning(_CsvTable):
    """A row for each point that a search ran, the best first. `report` is what `contend tune --json` says."""

    def __init__(self, text: str, report: Dict[str, Any], store: str, code: int):
        super().__init__(text)
        self.report, self.store, self.code = report, store, code

    @property
    def best(self) -> Dict[str, str]:
        """The settings of the best point, or of the first one on the Pareto front. Raises LookupError if no point has a
        value."""
        points = self.report["best"] if "best" in self.report else self.report["front"]
        if not points:
            raise LookupError("no point has a value: their runs failed, or not all of their jobs finished; see `report`")
        return dict(setting.split("=", 1) for setting in points[0]["settings"])
