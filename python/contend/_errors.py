"""What can go wrong, as exceptions."""

import dataclasses
from typing import Any, List, Optional, Sequence


@dataclasses.dataclass(frozen=True)
class Complaint:
    """One complaint about an input: where it is, and what would be right."""

    reason: str
    file: Optional[str] = None
    line: Optional[int] = None
    column: Optional[int] = None
    key: Optional[str] = None
    hint: Optional[str] = None


class ContendError(Exception):
    """A call failed; `code` is the exit code of the program and `text` what it would say."""

    def __init__(self, code: int, text: str):
        super().__init__(text or f"contend ended with exit code {code}")
        self.code, self.text = code, text


class UsageError(ContendError):
    """An argument that doesn't exist or has a wrong value."""


class InputError(ContendError):
    """A scenario, or a file that it names, is wrong; `complaints` says where."""

    def __init__(self, code: int, text: str, complaints: Sequence[Sequence[Any]] = ()):
        super().__init__(code, text)
        self.complaints: List[Complaint] = [Complaint(each[0], *(part or None for part in each[1:]))
                                            for each in complaints]


class PolicyError(ContendError):
    """A policy of Python, or in another process, failed. `runs` has what was simulated until then."""

    runs: Any = None


def error_of(code: int, text: str, complaints: Sequence[Sequence[Any]]) -> ContendError:
    if code == 3:
        return InputError(code, text, complaints)
    return {2: UsageError, 6: PolicyError}.get(code, ContendError)(code, text)
