"""The mutants of C++ text: each is one operator changed. scripts/mutation_sample.py draws from them.

Operators are tokens of C++, not matches in a line. Standard library only.
"""

import bisect
import itertools
import re
from dataclasses import dataclass, field

# ----------------------------------------------------------------------------------------------------------- tokens

TOKEN = re.compile(
    r"""(?P<comment>//(?:\\\n|[^\n])*|/\*.*?\*/)
      | (?P<directive>^[ \t]*\#(?:\\\n|[^\n])*)
      | (?P<space>[^\S\n]+|\n)
      | (?P<string>(?:u8|[uUL])?R"(?P<fence>[^()\\\s]{0,16})\(.*?\)(?P=fence)"|(?:u8|[uUL])?"(?:\\.|[^"\\\n])*")
      | (?P<character>(?:u8|[uUL])?'(?:\\.|[^'\\\n])+')
      | (?P<number>\.?\d(?:[eEpP][+-]|'?[\w.])*)
      | (?P<name>[A-Za-z_]\w*)
      | (?P<operator><=>|<<=|>>=|->\*|\.\.\.|<<|>>|<=|>=|==|!=|&&|\|\||\+\+|--|->|::|\#\#|[-+*/%&|^]=|[-+*/%<>=!&|^~?:;,.(){}\[\]])
    """, re.X | re.S | re.M)


@dataclass(frozen=True)
class Token:
    kind: str
    text: str
    begin: int

    @property
    def end(self):
        return self.begin + len(self.text)


def tokens_of(text, name="text"):
    """The tokens of a C++ file without white space and comments."""
    tokens, at = [], 0
    while at < len(text):
        match = TOKEN.match(text, at)
        if match is None:
            raise ValueError(f"{name}:{text.count(chr(10), 0, at) + 1}: no token of C++: {text[at:at + 20]!r}")
        if match.lastgroup not in ("space", "comment"):
            tokens.append(Token(match.lastgroup, match[0], at))
        at = match.end()
    return tokens


# ---------------------------------------------------------------------------------------------------------- mutants

SWAPS = {"<": "<=", "<=": "<", ">": ">=", ">=": ">", "==": "!=", "!=": "==", "&&": "||", "||": "&&", "+": "-", "-": "+",
         "*": "/", "/": "*", "+=": "-=", "-=": "+="}
# What stands in the brackets behind these isn't behaviour of the program, or is there to stop it.
UNTOUCHED = {"CONTEND_CHECK", "CONTEND_DCHECK", "static_assert", "noexcept", "decltype", "sizeof", "alignas"}
CONTROL = {"for", "if", "while", "switch", "return", "catch"}
OPENING, CLOSING = {"(": ")", "[": "]", "{": "}"}, {")", "]", "}"}


@dataclass(frozen=True)
class Mutant:
    file: str
    line: int
    column: int
    begin: int
    end: int
    old: str
    new: str
    label: str = field(default="")  # unique among the mutants of its line
    text: str = field(default="")   # the line, without white space at its ends

    @property
    def room(self):
        return self.file.split("/")[0]

    def __str__(self):
        return f"{self.file}:{self.line}  {self.label}"


@dataclass
class Bracket:
    sign: str
    untouched: bool       # what is in it is left alone
    parameters: bool      # it may hold parameters with default arguments
    default: bool = False  # in the default argument of one


def is_binary(text, token, before):
    """clang-format, to which scripts/lint.sh holds the tree, puts white space on both sides of a binary operator and
    never on both sides of a template bracket, a unary operator or the sign of a pointer or reference."""
    if before is None or (before.kind == "operator" and before.text not in CLOSING):
        return False
    return text[token.begin - 1].isspace() and text[token.end:token.end + 1].isspace()


def changes_of(tokens, text):
    """Yields (first token, end in the text, replacement) for every mutant of a file."""
    brackets = [Bracket("", False, False)]
    for i, token in enumerate(tokens):
        before = tokens[i - 1] if i > 0 else None
        after = tokens[i + 1] if i + 1 < len(tokens) else None
        here = brackets[-1]
        if token.text in OPENING and token.kind == "operator":
            named = before is not None and before.kind == "name"
            untouched = here.untouched or here.default or (named and before.text in UNTOUCHED)
            parameters = token.text == "(" and not (named and before.text in CONTROL)
            brackets.append(Bracket(token.text, untouched, parameters))
            continue
        if token.text in CLOSING and token.kind == "operator":
            brackets.pop()
            continue
        if here.parameters and token.text == "=":
            here.default = True
        elif here.parameters and token.text == ",":
            here.default = False
        if here.untouched or here.default or before is None or after is None:
            continue
        if token.text in ("true", "false") and before.text == "return" and after.text == ";":
            yield token, token.end, "false" if token.text == "true" else "true"
        if token.kind != "operator" or token.text not in SWAPS or before.text == "operator":
            continue
        if not is_binary(text, token, before) or "string" in (before.kind, after.kind):
            continue
        if token.text in ("+", "+=") and (after.kind == "character" or after.text == "fmt"):
            continue  # of strings
        yield token, token.end, SWAPS[token.text]
        beyond = tokens[i + 2].text if i + 2 < len(tokens) else ""
        if token.text in ("+", "-") and after.text == "1" and beyond not in ("*", "/", "%", "<<"):
            yield token, after.end, ""


def mutants_of(text, name):
    lines, found, seen = text.split("\n"), [], {}
    starts = list(itertools.accumulate((len(line) + 1 for line in lines), initial=0))
    for token, end, new in changes_of(tokens_of(text, name), text):
        line = bisect.bisect_right(starts, token.begin)
        old = text[token.begin:end]
        if "\n" in old:
            continue
        label = f"{old} -> {new}" if new else f"{old} dropped"
        seen[line, label] = seen.get((line, label), 0) + 1
        if seen[line, label] > 1:
            label += f" (number {seen[line, label]} of the line)"
        column = token.begin - starts[line - 1] + 1
        found.append(Mutant(name, line, column, token.begin, end, old, new, label, lines[line - 1].strip()))
    return found


def equivalents(path):
    """(file, line, mutation) of each entry: four lines, the last of which says why; # begins a comment."""
    entries = []
    for block in re.split(r"\n\s*\n", path.read_text(encoding="utf-8") if path.exists() else ""):
        lines = [line.strip() for line in block.split("\n") if line.strip() and not line.startswith("#")]
        if not lines:
            continue
        if len(lines) < 4:
            raise ValueError(f"{path.name}: expected a file, a line, a mutation and a reason, got {lines}")
        entries.append(tuple(lines[:3]))
    return entries
