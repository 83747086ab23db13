#!/usr/bin/env python3
"""Mutants behind a switch do what they do when they are built alone (scripts/mutant_switches.py).

One program holds a text as it is, with each of its mutants alone, and with a switch for all of them, each in a
namespace of its own. For every mutant the switched text must give the number of the mutated one, and without an active
mutant the number of the unchanged text. What a switch can't express must not compile.
"""

import os
import pathlib
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(sys.argv[1]) / "scripts"))

from mutant_switches import HEADER, HEADER_TEXT, VARIABLE, switched  # noqa: E402
from mutants import mutants_of  # noqa: E402

INCLUDES = "".join(f"#include <{name}>\n" for name in ("algorithm", "compare", "cstdio", "cstdlib", "vector"))
TEXT = r"""
struct Time {
  long n;
  friend bool operator==(const Time&, const Time&) = default;
  friend auto operator<=>(const Time&, const Time&) = default;
  Time& operator+=(Time o) { n = n + o.n; return *this; }
  Time& operator-=(Time o) { n = n - o.n; return *this; }
};
inline Time operator+(Time a, Time b) { return Time{a.n + b.n}; }
inline Time operator-(Time a, Time b) { return Time{a.n - b.n}; }

template <class V> long total(const V& v, long from) {
  long sum = from;
  for (const int x : v) {
    if (x > 2 && x != 5 || x == -1) sum += x * 2 - 1;  // a directive, a comment and "a < b" stay
  }
  return sum;
}

inline bool chosen(int x) {
  if (x == 0) return true;
  if (x == 10) return false;
  return x > 3 ? x < 9 && x != 7 : x >= 2 || x == -4;
}

inline double mix(double a, float b, short c, unsigned char d) {
  double r = a * b + c / 3.0 - d;
  r -= a - b * c;
  return r / 7 + 1;
}

inline long run() {
  std::vector<int> v{3, -1, 5, 8, 2, 7};
  long all = 0;
  const auto add = [&](double x) { all = all * 31 ^ static_cast<long>(x * 1000); };
  for (int i = -5; i <= 10; ++i) add(chosen(i));
  add(static_cast<double>(total(v, 4)));
  add(mix(1.5, 2.25F, 7, 250));
  std::sort(v.begin(), v.end(), [](int a, int b) { return a % 3 > b % 3 || (a % 3 == b % 3 && a > b); });
  for (const int x : v) add(x);
  Time a{5};
  const Time b{7};
  a += b - Time{3};
  a -= Time{1} + Time{2};
  add(static_cast<double>(a.n));
  add(a < b && b <= Time{9} || a == Time{6});
  const int* p = v.data() + 1;
  add(*(p + 1));
  unsigned char small = 250;
  small += 10;
  add(small + 1);
  bool flag = all != 0;
  flag |= !flag || small > 3 && small < 1;
  add(flag);
  if (const auto it = std::find(v.begin(), v.end(), 5); it != v.end() && *it == 5) add(1); else add(2);
  const auto n = v.size() - 1;
  add(static_cast<double>(n * 2 - 1));
  return all;
}
"""
REFUSED = [
    "constexpr int size = 2 * 3;",
    "inline int f(int n) { switch (n) { case 1 + 2: return 1; } return 0; }",
    "inline int f(const int* a) { return a == 0; }",
    "inline long f(const int* a, const int* b) { return b - a; }",
    "struct A {}; inline bool operator<(A, A) { return true; } inline bool f(A a) { return a < a; }",
    "struct B {}; inline B operator*(B, int); inline int operator/(B, int); inline int f(B b) { b * 2; return 1; }",
]


def with_switches(text):
    mutants = mutants_of(text, "text")
    return mutants, switched(text, "text", {mutant: number for number, mutant in enumerate(mutants)}).split("\n", 2)[2]


def main():
    compiler = [sys.argv[2], "-std=c++20", "-O0", "-w", "-I."]
    mutants, text = with_switches(TEXT)
    alone = [TEXT[:it.begin] + it.new + TEXT[it.end:] for it in mutants]
    program = INCLUDES + f'#include "{HEADER}"\nnamespace all {{{text}}}\nnamespace unchanged {{{TEXT}}}\n'
    program += "".join(f"namespace m{number} {{{mutated}}}\n" for number, mutated in enumerate(alone))
    program += f"""
int main() {{
  long (*const alone[])() = {{{', '.join(f'm{number}::run' for number in range(len(alone)))}}};
  const char* number = std::getenv("{VARIABLE}");
  const long expected = number == nullptr ? unchanged::run() : alone[std::atoi(number)]();
  std::printf("%d %d", all::run() == expected, expected == unchanged::run());
}}
"""
    failures, same = [], 0
    with tempfile.TemporaryDirectory() as folder:
        tree = pathlib.Path(folder)
        (tree / HEADER).parent.mkdir()
        (tree / HEADER).write_text(HEADER_TEXT)
        (tree / "program.cpp").write_text(program)
        subprocess.run([*compiler, "program.cpp", "-o", "program"], cwd=tree, check=True)
        environment = {name: value for name, value in os.environ.items() if name != VARIABLE}
        for number, mutant in [(None, "no mutant"), *enumerate(mutants)]:
            active = {} if number is None else {VARIABLE: str(number)}
            printed = subprocess.run(["./program"], cwd=tree, env=environment | active, timeout=60, check=True,
                                     capture_output=True, text=True).stdout
            agrees, unchanged = printed.split()
            same += unchanged == "1"
            if agrees != "1":
                failures.append(f"{mutant}: the switched text gives another number than the mutated one")
        if same > len(mutants) // 4:
            failures.append(f"{same} of {len(mutants)} mutants give the number of the unchanged text: they show little")
        for refused in REFUSED:
            for body, compiles in ((refused, True), (with_switches(refused)[1], False)):
                (tree / "refused.cpp").write_text(f'#include <compare>\n#include "{HEADER}"\n{body}\n')
                done = subprocess.run([*compiler, "-fsyntax-only", "refused.cpp"], cwd=tree, capture_output=True)
                if (done.returncode == 0) != compiles:
                    failures.append(f"{body} {'does not compile' if compiles else 'compiles with a switch'}")
    print("\n".join(failures) or f"{len(mutants)} mutants do the same behind a switch and alone")
    sys.exit(1 if failures else 0)


if __name__ == "__main__":
    main()
