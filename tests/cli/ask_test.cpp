// `contend ask` against values worked out by hand.

#include "tests/cli/program.hpp"

#include <string>

#include <doctest/doctest.h>

using namespace contend;

TEST_SUITE_BEGIN("cli" * doctest::skip(!has_program()));

TEST_CASE("ask: answers by hand") {
  const Workplace here;
  const struct {
    const char* arguments;
    const char* answer;
  } kCases[] = {
      // Daly's equation 20 and its least value in 50-digit arithmetic (validate/faults/faults_daly.cpp).
      {"period --mtbf 1h --cost 10s --restart 1min", "period                      261.703 s\n"},
      {"period --mtbf 1h --cost 10s --restart 1min", "effective time with it      91.1978 %\n"},
      {"period --mtbf 1h --cost 10s", "Young's first-order period  268.328 s\n"},  // sqrt(2 x 10 x 3600)
      {"ettr --mtbf 10h --gpus 10 --cost 10s --restart 1min --period 1h", "effective time  56.985 %\n"},
      // M e^(R/M) (e^(W/M) - 1) with M = W and R = 0: 3600 (e - 1).
      {"ettr --mtbf 1h --cost 10s --work 1h", "without checkpoints  6185.81 s\n"},
      // One server: 1 / (9 + 1) of the time. With a spare: r^2/2 / (1 + r + r^2/2) with r = 1/9, which is 1/181.
      {"spares --servers 1 --mtbf 9h --repair 1h", "time with fewer servers than needed  10 %\n"},
      {"spares --servers 1 --mtbf 9h --repair 1h --spares 1", "time with fewer servers than needed  0.552486 %\n"},
      {"spares --servers 1 --mtbf 9h --repair 1h --at-most 1%", "spares                               1\n"},
      {"spares --servers 1 --mtbf 9h --repair 1h --at-most 10%", "spares                               0\n"},
      // 2 of the 6 pairs among 4 machines are groups of 2.
      {"recovery --machines 4 --copies 2 --lost 2", "66.6667 %\n"},
      {"collisions --flows 2 --links 2", "no link has two flows                 50 %\n"},
      {"collisions --flows 2 --links 2", "flows on the fullest link, mean       1.5\n"},
      {"collisions --flows 2 --links 2", "rate of its flows, of a link's, mean  75 %\n"},
      {"barrier --workers 2", "1.5\n"},              // 1 + 1/2
      {"barrier --workers 2 --awaited 1", "0.5\n"},  // the first of two
      {"coding --code gc --workers 4 --late 1", "50 %\n"},
      // ben has 10; the other 54 go to ann and cem as 1 to 2.
      {"shares --of 64 --claim ann=40 --claim ben=10 --claim cem=100/2", "ann   18\nben   10\ncem   36\nleft  0\n"},
      {"shares --of 64 --claim ann=40", "ann   40\nleft  24\n"},
  };
  for (const auto& each : kCases) {
    const Outcome outcome = here.contend(std::string{"ask "} + each.arguments);
    CHECK(outcome.code == 0);
    CHECK_MESSAGE(contains(outcome.out, each.answer), each.arguments, "\n", outcome.out, outcome.err);
    for (const char* part : {"\nformula  ", "\nsource   ", "\nwrong if "}) CHECK(contains(outcome.out, part));
  }
}
