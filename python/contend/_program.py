"""Starts the program and reads what it writes."""

import contextlib
import json
import os
import pathlib
import shutil
import signal
import subprocess
import tempfile
from typing import Any, Dict, Iterator, List, Mapping, Optional, Sequence, Tuple, Union

from . import _policies
from ._errors import ContendError, InputError, PolicyError, UsageError
from ._results import Comparison, Runs, Sweep, sweep_of

Scenario = Union[str, os.PathLike, Mapping[str, Any]]
_ERRORS = {2: UsageError, 3: InputError, 6: PolicyError}


def program() -> str:
    """The program that is started: $CONTEND_PROGRAM, else `contend` on PATH. Raises FileNotFoundError."""
    found = os.environ.get("CONTEND_PROGRAM") or shutil.which("contend")
    if not found:
        raise FileNotFoundError("the program contend is not on PATH, and CONTEND_PROGRAM doesn't name it")
    return found


def _call(words: Sequence[str], good: Sequence[int] = (0,)) -> Tuple[int, str, str]:
    """Runs the program. Ctrl-C stops it, which lets it write what it has, and raises KeyboardInterrupt."""
    with subprocess.Popen([program(), *words], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, text=True, encoding="utf-8", start_new_session=True) as process:
        try:
            out, err = process.communicate()
        except KeyboardInterrupt:
            process.send_signal(signal.SIGINT)
            process.communicate()
            raise
    if process.returncode in good:
        return process.returncode, out, err
    if process.returncode == 130:
        raise KeyboardInterrupt
    raise _ERRORS.get(process.returncode, ContendError)(process.returncode, err.strip())


def _text(value: Any) -> str:
    """A value as YAML: JSON is YAML, but a text stands as it is, so that "2h" and "fifo" need no quotes of their own."""
    return value if isinstance(value, str) else json.dumps(value)


def _settings(values: Optional[Mapping[str, Any]]) -> List[str]:
    return [word for key, value in (values or {}).items() for word in ("--set", f"{key}={_text(value)}")]


def _number(name: str, value: Optional[int]) -> List[str]:
    return [] if value is None else [f"--{name}", str(value)]


@contextlib.contextmanager
def _file_of(scenario: Scenario) -> Iterator[str]:
    """The path of the scenario; a mapping becomes a file, whose paths are relative to the current folder."""
    if not isinstance(scenario, Mapping):
        yield os.fspath(scenario)
        return
    with tempfile.NamedTemporaryFile("w", suffix=".yaml", prefix=".contend-", dir=".", encoding="utf-8") as file:
        json.dump({"schema_version": 1, **scenario}, file)
        file.flush()
        yield file.name


@contextlib.contextmanager
def _policies_of(**policies: Any) -> Iterator[Tuple[List[str], List[_policies.Server]]]:
    """Settings that name these policies, each a class, and the servers where they wait."""
    servers: List[_policies.Server] = []
    words: List[str] = []
    try:
        for kind, policy in policies.items():
            if policy is None:
                continue
            servers.append(_policies.Server(_policies.factory_of(policy)))
            words += _settings({f"policies.{kind}": servers[-1].choice})
        yield words, servers
    finally:
        for server in servers:
            server.close()


def run(scenario: Scenario, *, set: Optional[Mapping[str, Any]] = None, seed: Optional[int] = None,
        repeat: Optional[int] = None, until: Optional[str] = None, threads: Optional[int] = None,
        output: Union[str, os.PathLike, None] = None, scheduling: Any = None, placement: Any = None,
        communication: Any = None) -> Runs:
    """Simulates a scenario, a path or a mapping with its keys, under each of its seeds.

    `set` overrides keys. `scheduling`, `placement` and `communication` are classes of policies, or functions that make
    them. With `output` the result files stay in that folder. Raises InputError with the place of each complaint,
    PolicyError from the exception of a policy, KeyboardInterrupt after Ctrl-C.
    """
    with contextlib.ExitStack() as stack:
        folder = os.fspath(output) if output is not None else stack.enter_context(tempfile.TemporaryDirectory())
        words, servers = stack.enter_context(
            _policies_of(scheduling=scheduling, placement=placement, communication=communication))
        path = stack.enter_context(_file_of(scenario))
        words = ["run", path, "--quiet", "--output", folder, *_settings(set), *words, *_number("seed", seed),
                 *_number("repeat", repeat), *_number("jobs", threads), *(["--until", until] if until else [])]
        try:
            code, _, _ = _call(words, good=(0, 1, 4))
        except PolicyError as error:
            error.runs = Runs(folder, error.code)
            cause = next((server.error for server in servers if server.error), None)
            raise error from cause
        return Runs(folder, code)


def compare(base: Any, new: Any, *, fail_if: Sequence[str] = (), set: Optional[Mapping[str, Any]] = None,
            set_new: Optional[Mapping[str, Any]] = None, repeat: Optional[int] = None,
            threads: Optional[int] = None) -> Comparison:
    """Compares two scenarios or two folders of results; `fail_if` are rules such as "avg_jct > 1%"."""
    with _file_of(base) as first, _file_of(new) as second:
        words = ["compare", first, second, "--json", *_settings(set), *_number("repeat", repeat),
                 *_number("jobs", threads)]
        for key, value in (set_new or {}).items():
            words += ["--set-new", f"{key}={_text(value)}"]
        for rule in fail_if:
            words += ["--fail-if", rule]
        code, out, _ = _call(words, good=(0, 1))
    result = Comparison(json.loads(out))
    result.worse = code == 1
    return result


def sweep(scenario: Scenario, *, set: Optional[Mapping[str, Any]] = None, repeat: Optional[int] = None,
          threads: Optional[int] = None, output: Union[str, os.PathLike, None] = None) -> Sweep:
    """Simulates a scenario at many points: a list in `set` varies its key. Returns a row for each run.

    With `output` the store, an SQLite file, stays there. All cores work unless `threads` says otherwise.
    """
    varied = {key: ",".join(map(_text, value)) if isinstance(value, (list, tuple, range)) else value
              for key, value in (set or {}).items()}
    with contextlib.ExitStack() as stack:
        store = os.fspath(output) if output is not None else os.path.join(
            stack.enter_context(tempfile.TemporaryDirectory()), "sweep.sqlite")
        path = stack.enter_context(_file_of(scenario))
        code, _, _ = _call(["sweep", path, "--quiet", "--output", store, *_settings(varied), *_number("repeat", repeat),
                            *_number("jobs", threads)], good=(0, 1, 4))
        _, out, _ = _call(["results", store, "--rows"])
        return sweep_of(out, store if output is not None else "", code)


def show(scenario: Scenario, *, set: Optional[Mapping[str, Any]] = None) -> str:
    """The scenario with every default filled in, as YAML. Raises InputError."""
    with _file_of(scenario) as path:
        return _call(["show", path, *_settings(set)])[1]


def policies() -> List[Dict[str, str]]:
    """The policies that scenarios can name: kind, policy, parameters, summary, source."""
    return json.loads(_call(["list", "policies", "--json"])[1])


def version() -> str:
    """What `contend --version` prints."""
    return _call(["--version"])[1].strip()
