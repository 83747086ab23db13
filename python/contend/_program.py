"""Calls the verbs of the program in this process."""

import contextlib
import json
import os
import tempfile
from typing import Any, Dict, Iterable, Iterator, List, Mapping, Optional, Sequence, Tuple, Union

from ._errors import PolicyError, UsageError, error_of
from ._module import native
from ._policies import Asked, Trial, factory_of, patience
from ._results import Comparison, Evaluation, Runs, Study, Sweep, Tuning, plain

Path = Union[str, "os.PathLike[str]"]
Scenario = Union[Path, Mapping[str, Any]]


def _call(words: Sequence[str], good: Sequence[int] = (0,)) -> Tuple[int, str, List[Any]]:
    """Calls a verb; returns its exit code, what it prints, and its runs. Other codes than the `good` ones raise."""
    code, printed, said, complaints, runs = native.call(list(words))
    if code in good:
        return code, printed, runs
    if code == 130:
        raise KeyboardInterrupt
    error = error_of(code, said.strip(), complaints)
    if isinstance(error, PolicyError) and runs:
        error.runs = Runs(runs[0], code)
    raise error


def _text(value: Any) -> str:
    """A value as YAML: JSON is YAML, but a text stands as it is, so that "2h" and "fifo" need no quotes of their own."""
    return value if isinstance(value, str) else json.dumps(value, default=plain)


def _mapping(values: Any, argument: str) -> Mapping[str, Any]:
    """The keys of an argument such as `set`; none for None."""
    if values is None:
        return {}
    if not isinstance(values, Mapping):
        raise UsageError(2, f"{argument}: expected a dictionary of keys and values, not {values!r}")
    return values


def _settings(values: Optional[Mapping[str, Any]], argument: str = "set") -> List[str]:
    option = "--" + argument.replace("_", "-")
    words: List[str] = []
    for key, value in _mapping(values, argument).items():
        try:
            words += [option, f"{key}={_text(value)}"]
        except TypeError as error:
            raise UsageError(2, f"{argument}: {key}: {error}") from error
    return words


def _varied(values: Optional[Mapping[str, Any]]) -> List[str]:
    """Keys of a sweep that vary: over the values of a list, or over a range such as {"from": 1, "to": 8, "step": 1}."""
    varied: Dict[str, str] = {}
    for key, value in _mapping(values, "vary").items():
        if isinstance(value, str) or not isinstance(value, Iterable):
            raise UsageError(2, f"vary: {key}: expected a list of values, or a range such as "
                                f'{{"from": 1, "to": 8, "step": 1}}, not {value!r}; `set` sets a key to one value')
        try:
            varied[key] = _text(value) if isinstance(value, Mapping) else ",".join(map(_text, value))
        except TypeError as error:
            raise UsageError(2, f"vary: {key}: {error}; policies of Python are arguments of their own") from error
    return _settings(varied)


def _several(texts: Union[str, Sequence[str]]) -> List[str]:
    """An argument that is a text or a list of texts."""
    return [texts] if isinstance(texts, str) else list(texts)


def _options(**values: Any) -> List[str]:
    """Options with a value each; a list gives an option several times, None leaves it out, True is a switch."""
    words: List[str] = []
    for name, value in values.items():
        option = "--" + name.replace("_", "-")
        if value is True:
            words.append(option)
        elif isinstance(value, (list, tuple)):
            words += [word for each in value for word in (option, str(each))]
        elif value is not None and value is not False:
            words += [option, str(value)]
    return words


@contextlib.contextmanager
def _file_of(scenario: Scenario) -> Iterator[str]:
    """The path of the scenario; a mapping becomes a file in memory, whose paths are relative to the current folder."""
    if isinstance(scenario, (str, os.PathLike)):
        yield os.fspath(scenario)
        return
    if not isinstance(scenario, Mapping):
        raise UsageError(2, f"expected a scenario, as a path or a dictionary of its keys, not {scenario!r}")
    with open(os.memfd_create("scenario"), "w", encoding="utf-8") as file:
        json.dump({"schema_version": 2, "name": "scenario", **scenario}, file, default=plain)
        file.flush()
        yield f"/proc/self/fd/{file.fileno()}"


@contextlib.contextmanager
def _policies_of(*settings: Optional[Mapping[str, Any]], trial: Optional[Trial] = None,
                 **policies: Any) -> Iterator[List[str]]:
    """Settings that name these policies, each a class. The exception of a policy is the cause of PolicyError. What the
    caller sets or varies can't name another policy of the same kind."""
    for kind, policy in policies.items():
        for key in (key for values in settings if isinstance(values, Mapping) for key in values):
            if policy is not None and (key == f"policies.{kind}" or key.startswith(f"policies.{kind}.")):
                raise UsageError(2, f"{key} and {kind}={getattr(policy, '__name__', policy)} both choose the {kind} "
                                    "policy; give one of them")
    asked = {kind: Asked(factory_of(policy), trial) for kind, policy in policies.items() if policy is not None}
    try:
        yield _settings({f"policies.{kind}": each.choice for kind, each in asked.items()})
    except PolicyError as error:
        cause = next((each.error for each in asked.values() if each.error), None)
        if isinstance(cause, KeyboardInterrupt):
            raise cause
        raise error from cause
    finally:
        for each in asked.values():
            each.close()


def run(scenario: Scenario, *, set: Optional[Mapping[str, Any]] = None, seed: Optional[int] = None,
        repeat: Optional[int] = None, until: Optional[str] = None, threads: Optional[int] = None,
        output: Optional[Path] = None, scheduling: Any = None, placement: Any = None,
        communication: Any = None, on_trial: bool = False) -> Runs:
    """Simulates a scenario, a path or a mapping with its keys, under each of its seeds.

    `set` overrides keys. `scheduling`, `placement` and `communication` are classes of policies, or functions that make
    them. With `output` the result files are written into that folder. Raises InputError with the place of each
    complaint, PolicyError from the exception of a policy, KeyboardInterrupt after Ctrl-C. A policy that may end its
    process runs `on_trial`: in a process of its own first, and in this one up to the question at which it ended that
    process. The policy must answer alike when it is asked alike.
    """
    trial = Trial() if on_trial else None
    with _file_of(scenario) as path, _policies_of(
            set, trial=trial, scheduling=scheduling, placement=placement, communication=communication) as words:
        def call(threads: Optional[int], output: Optional[Path] = None) -> Tuple[int, str, List[Any]]:
            return _call(["run", path, "--quiet", *_settings(set), *words,
                          *_options(seed=seed, repeat=repeat, jobs=threads, until=until, output=output)],
                         good=(0, 1, 4))

        if trial is not None and trial.find(lambda most: call(most or threads), patience()):
            threads = 1
        code, _, runs = call(threads, output)
    return Runs(runs[0], code)


def study(scenario: Scenario, *, set: Optional[Mapping[str, Any]] = None, threads: Optional[int] = None) -> Study:
    """Runs an iteration study, a scenario with `overlap`, and returns what `contend run --json` says of it. run() returns
    the tables of its jobs. Raises UsageError for a scenario of jobs."""
    with _file_of(scenario) as path:
        if not any(line.startswith("overlap:") for line in _call(["show", path, *_settings(set)])[1].splitlines()):
            raise UsageError(2, "study: the scenario has no `overlap`, so it is about jobs, and run() runs them")
        return Study(json.loads(_call(["run", path, "--json", "--quiet", *_settings(set), *_options(jobs=threads)],
                                      good=(0, 1))[1]))


def compare(base: Any, new: Any, *, fail_if: Union[str, Sequence[str]] = (), set: Optional[Mapping[str, Any]] = None,
            set_new: Optional[Mapping[str, Any]] = None, repeat: Optional[int] = None,
            threads: Optional[int] = None) -> Comparison:
    """Compares two scenarios or two folders of results; `fail_if` are rules such as "avg_jct > 1%"."""
    with _file_of(base) as first, _file_of(new) as second:
        code, printed, _ = _call(["compare", first, second, "--json", *_settings(set), *_settings(set_new, "set_new"),
                                  *_options(fail_if=_several(fail_if), repeat=repeat, jobs=threads)], good=(0, 1))
    result = Comparison(json.loads(printed))
    result.worse = code == 1
    return result


@contextlib.contextmanager
def _store_of(output: Optional[Path]) -> Iterator[str]:
    """The path of the store of a sweep."""
    if output is not None:
        yield os.fspath(output)
        return
    with tempfile.TemporaryDirectory(prefix="contend-") as folder:
        yield os.path.join(folder, "sweep.sqlite")


def sweep(scenario: Scenario, *, vary: Optional[Mapping[str, Any]] = None, set: Optional[Mapping[str, Any]] = None,
          repeat: Optional[int] = None, threads: Optional[int] = None, output: Optional[Path] = None,
          scheduling: Any = None, placement: Any = None, communication: Any = None) -> Sweep:
    """Simulates a scenario at many points: `vary` has a list of values for each key that varies, in addition to those
    that the scenario's own `sweep` varies. Returns a row for each run.

    With `output` the store, an SQLite file, stays there. All cores work unless `threads` says otherwise.
    """
    with _file_of(scenario) as path, _store_of(output) as store, _policies_of(
            set, vary, scheduling=scheduling, placement=placement, communication=communication) as words:
        code, _, _ = _call(["sweep", path, "--quiet", *_settings(set), *_varied(vary), *words,
                            *_options(output=store, repeat=repeat, jobs=threads)], good=(0, 1, 4))
        return Sweep(_call(["results", store, "--rows"])[1], store if output is not None else "", code)


def tune(scenario: Scenario, *, vary: Optional[Mapping[str, Any]] = None, set: Optional[Mapping[str, Any]] = None,
         minimise: Union[str, Sequence[str]] = (), maximise: Union[str, Sequence[str]] = (),
         subject_to: Union[str, Sequence[str]] = (), trials: Optional[int] = None,
         repeat: Optional[int] = None, method: Optional[str] = None, batch: Optional[int] = None, eta: Optional[float] = None, start: Optional[int] = None, threads: Optional[int] = None,
         output: Optional[Path] = None, svg: Optional[Path] = None, scheduling: Any = None, placement: Any = None,
         communication: Any = None) -> Tuning:
    """Searches for the best point of a sweep: `vary` has a list of values, or {"from": ..., "to": ..., "step": ...}, for
    each key that varies.

    `minimise`, `maximise` and `subject_to` are texts such as "avg_jct_s" and "p95_jct < 3h", or lists of them. With two
    goals, `svg` draws the Pareto front into that file. The other arguments are those of `contend tune`.
    """
    with _file_of(scenario) as path, _store_of(output) as store, tempfile.TemporaryDirectory() as folder, _policies_of(
            set, vary, scheduling=scheduling, placement=placement, communication=communication) as words:
        points = os.path.join(folder, "points.csv")
        code, printed, _ = _call(["tune", path, "--json", "--quiet", *_settings(set), *_varied(vary), *words, *_options(
            minimise=_several(minimise), maximise=_several(maximise), subject_to=_several(subject_to), trials=trials,
            repeat=repeat, method=method, batch=batch, eta=eta, start=start, jobs=threads, output=store, csv=points,
            svg=svg)],
            good=(0, 1, 4))
        with open(points, encoding="utf-8", newline="") as file:
            return Tuning(file.read(), json.loads(printed), store if output is not None else "", code)


def evaluate(policy: Any, *, on: Union[Scenario, Sequence[Scenario]] = (), held_out: Union[Scenario, Sequence[Scenario]] = (),
             baseline: Optional[str] = None, metric: Optional[str] = None, weeks: Optional[int] = None,
             budget: Optional[int] = None, set: Optional[Mapping[str, Any]] = None,
             threads: Optional[int] = None) -> Evaluation:
    """The score of a scheduling policy, a class or what a scenario says of one, on weeks of jobs and on weeks that are
    held out, against a baseline: what `contend evaluate --json` says. A policy that fails is not `valid`, and no
    exception. The arguments are those of the verb."""
    with contextlib.ExitStack() as files:
        def paths(given: Any) -> List[str]:
            several = [given] if isinstance(given, (str, os.PathLike, Mapping)) else given
            return [files.enter_context(_file_of(each)) for each in several]

        if isinstance(policy, (str, Mapping)):
            choice = _text(policy)
        else:
            choice = files.enter_context(_policies_of(set, scheduling=policy))[1].partition("=")[2]
        printed = _call(["evaluate", choice, "--json", *_settings(set), *_options(
            on=paths(on), held_out=paths(held_out), baseline=baseline, metric=metric, weeks=weeks, budget=budget,
            jobs=threads)], good=(0, 6))[1]
    return Evaluation(json.loads(printed))


def show(scenario: Scenario, *, set: Optional[Mapping[str, Any]] = None) -> str:
    """The scenario with every default filled in, as YAML. Raises InputError."""
    with _file_of(scenario) as path:
        return _call(["show", path, *_settings(set)])[1]


def policies() -> List[Dict[str, str]]:
    """The policies that scenarios can name: kind, policy, parameters, summary, source."""
    rows: List[Dict[str, str]] = json.loads(_call(["list", "policies", "--json"])[1])
    return rows


def load_plugin(path: Path) -> None:
    """Loads a plugin with policies in C++, as the option --plugin of the program does. Before the first scenario."""
    code, _, said, complaints, _ = native.load_plugin(os.fspath(path))
    if code != 0:
        raise error_of(code, said.strip(), complaints)


def version() -> str:
    """What `contend --version` prints."""
    return _call(["--version"])[1].strip()
