"""C++ text in which many mutants are compiled at once; a variable of the environment says which of them is active.

`a < b` becomes `a < Binary<7>{} < b`: the first `<` keeps a, the second compares as always, or by `<=` if 7 is active.
Of an expression with && or || the text stands there twice, once with the other operator. So grouping, the types of the
operands and what isn't evaluated are as in the mutant's own text. The changed text does not compile where it would
mean something else: the functions behind it aren't constexpr, so a constant expression is an error, and so is a mutant
that doesn't compile or that has another type. Such a mutant has to be built alone.

Standard library only.
"""

from mutants import CLOSING, OPENING, tokens_of

VARIABLE = "CONTEND_MUTANT"
HEADER = "sim/mutant_switches.hpp"

HEADER_TEXT = r"""#pragma once
#include <cstdlib>
#include <type_traits>

namespace contend_mutant {

inline int active() {
  static const int number = [] {
    const char* text = std::getenv("VARIABLE");
    return text == nullptr ? -1 : std::atoi(text);
  }();
  return number;
}
template <int number> bool on() { return active() == number; }
template <int number> bool truth(bool value) { return on<number>() ? !value : value; }
template <int number> int one() { return on<number>() ? 0 : 1; }

template <int number> struct Binary {};
template <int number, class A> struct Left { const A& a; };

#define CONTEND_MUTANT_BINARY(op, other)                                                          \
  template <int number, class A> Left<number, A> operator op(const A& a, Binary<number>) {        \
    return {a};                                                                                   \
  }                                                                                               \
  template <int number, class A, class B>                                                         \
  auto operator op(const Left<number, A>& left, const B& b) -> decltype(left.a op b) {            \
    static_assert(std::is_same_v<decltype(left.a op b), decltype(left.a other b)>, "other type"); \
    if (on<number>()) return left.a other b;                                                      \
    return left.a op b;                                                                           \
  }
CONTEND_MUTANT_BINARY(<, <=)
CONTEND_MUTANT_BINARY(<=, <)
CONTEND_MUTANT_BINARY(>, >=)
CONTEND_MUTANT_BINARY(>=, >)
CONTEND_MUTANT_BINARY(==, !=)
CONTEND_MUTANT_BINARY(!=, ==)
CONTEND_MUTANT_BINARY(+, -)
CONTEND_MUTANT_BINARY(-, +)
CONTEND_MUTANT_BINARY(*, /)
CONTEND_MUTANT_BINARY(/, *)

template <int number> struct Assigned {};
template <int number, class B> struct Right { const B& b; };

#define CONTEND_MUTANT_ASSIGNMENT(op, other)                                                     \
  template <int number, class B> Right<number, B> operator op(Assigned<number>, const B& b) {    \
    return {b};                                                                                  \
  }                                                                                              \
  template <int number, class A, class B> A& operator op(A& a, const Right<number, B>& right) {  \
    static_assert(std::is_same_v<decltype(a op right.b), decltype(a other right.b)>, "other type"); \
    if (on<number>()) {                                                                          \
      a other right.b;                                                                           \
    } else {                                                                                     \
      a op right.b;                                                                              \
    }                                                                                            \
    return a;                                                                                    \
  }
CONTEND_MUTANT_ASSIGNMENT(+=, -=)
CONTEND_MUTANT_ASSIGNMENT(-=, +=)

}  // namespace contend_mutant
""".replace("VARIABLE", VARIABLE)

# && and || bind more tightly than these, so an operand of theirs may stand in brackets.
WEAKER = {";", ",", "?", ":", "=", "+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", "<<=", ">>="}
BEFORE_EXPRESSION = {"return", "case", "throw", "else", "if", "while", "for", "do", "constexpr", "requires", "concept"}


class Switched:
    """The text of one file with a switch for each of its mutants, given with their numbers."""

    def __init__(self, text, name, numbers):
        self.text, self.tokens, self.numbers = text, tokens_of(text, name), numbers
        self.at = {}
        for mutant in numbers:
            self.at.setdefault(mutant.begin, []).append(mutant)
        self.ones = {}  # the place of a literal 1 and what stands there instead

    def result(self):
        body, _ = self.until_closing(0)
        return f'#include "{HEADER}"\n#line 1\n' + body + self.text[self.tokens[-1].end if self.tokens else 0:]

    def space_before(self, i):
        return self.text[self.tokens[i - 1].end if i else 0:self.tokens[i].begin]

    def switch(self, kind, mutant):
        return f"contend_mutant::{kind}<{self.numbers[mutant]}>"

    def token(self, i):
        """The token and the white space before it, with the switches of its mutants, not the switches of && and ||."""
        token, space = self.tokens[i], self.space_before(i)
        if token.begin in self.ones:
            return space + self.ones[token.begin]
        text = token.text
        for mutant in self.at.get(token.begin, []):
            if token.text in ("true", "false"):
                text = self.switch("truth", mutant) + f"({token.text})"
            elif not mutant.new:
                self.ones[self.tokens[i + 1].begin] = self.switch("one", mutant) + "()"
            else:
                kind = "Assigned" if token.text in ("+=", "-=") else "Binary"
                text = f"{token.text} {self.switch(kind, mutant)}{{}} {token.text}"
        return space + text

    def begins_statement(self, i):
        """Whether token i, behind a closing brace, goes on no expression that the brace ended."""
        token = self.tokens[i]
        if token.kind != "operator":
            return True
        spaced = self.space_before(i) != "" and self.text[token.end:token.end + 1].isspace()
        return token.text in ("{", "[", "(", "!", "++", "--", "::") or (token.text in ("*", "&") and not spaced)

    def expression(self, parts, places):
        """Pieces of text; `places` are the numbers of those that are && or ||, each with its mutant."""
        text = "".join(parts)
        if not places:
            return text
        end = "\n" if "//" in text else ""
        choices = ""
        for place, mutant in places:
            other = parts[:place] + [parts[place][:-len(mutant.old)] + mutant.new] + parts[place + 1:]
            choices += self.switch("on", mutant) + "() ? (" + "".join(other) + end + ") : "
        return f" ({choices}({text}{end}))"

    def until_closing(self, i):
        """The text from token i to the bracket that closes, and the number of that one."""
        out, parts, places = [], [], []

        def end_expression():
            out.append(self.expression(parts, places))
            parts.clear()
            places.clear()

        while i < len(self.tokens):
            token = self.tokens[i]
            bracket = token.text if token.kind == "operator" else ""
            if bracket in CLOSING:
                break
            if bracket in OPENING:
                inner, closing = self.until_closing(i + 1)
                parts.append(self.space_before(i) + bracket + inner + self.token(closing))
                i = closing + 1
                if bracket == "{" and i < len(self.tokens) and self.begins_statement(i):
                    end_expression()
                continue
            if bracket in WEAKER or token.text in BEFORE_EXPRESSION or token.kind == "directive":
                end_expression()
                out.append(self.token(i))
            elif bracket in ("&&", "||") and token.begin in self.at:
                places.append((len(parts), self.at[token.begin][0]))
                parts.append(self.space_before(i) + token.text)
            else:
                parts.append(self.token(i))
            i += 1
        end_expression()
        return "".join(out), i


def switched(text, name, numbers):
    """The text of a file with switches for some of its mutants; `numbers` gives each of them its number."""
    return Switched(text, name, numbers).result() if numbers else text
