"""What can go wrong, as exceptions."""

import dataclasses
import re
from typing import List, Optional


@dataclasses.dataclass(frozen=True)
class Complaint:
    """One complaint about an input: where it is, and what would be right."""

    reason: str
    file: Optional[str] = None
    line: Optional[int] = None
    column: Optional[int] = None
    key: Optional[str] = None


class ContendError(Exception):
    """The program failed; `code` is its exit code and `text` what it said."""

    def __init__(self, code: int, text: str):
        super().__init__(text or f"contend ended with exit code {code}")
        self.code, self.text = code, text


class UsageError(ContendError):
    """An option that doesn't exist or has a wrong value."""


class InputError(ContendError):
    """A scenario, or a file that it names, is wrong; `complaints` says where."""

    def __init__(self, code: int, text: str):
        super().__init__(code, text)
        self.complaints: List[Complaint] = complaints_of(text)


class PolicyError(ContendError):
    """A policy in another process, or in this one, failed. `runs` has what was simulated until then."""

    runs = None


_PLACE = re.compile(r"(?P<file>[^\s:][^:]*):(?:(?P<line>\d+):(?:(?P<column>\d+):)?)? (?P<rest>.*)")
_KEY = re.compile(r"(?P<key>[a-z_]+(?:\.[\w-]+)*): (?P<reason>.*)")


def complaints_of(text: str) -> List[Complaint]:
    """The complaints that the program has written, `file:line:column: key: reason`, with quoted lines below them."""
    found = []
    for line in text.splitlines():
        place = _PLACE.fullmatch(line)
        if not place or line.startswith(("  ", "contend: note", "contend: warning")):
            continue
        file, rest = place["file"], place["rest"]
        key = _KEY.fullmatch(rest)
        found.append(Complaint(
            reason=key["reason"] if key else rest,
            file=None if file == "contend" else file,
            line=int(place["line"]) if place["line"] else None,
            column=int(place["column"]) if place["column"] else None,
            key=key["key"] if key else None))
    return found
