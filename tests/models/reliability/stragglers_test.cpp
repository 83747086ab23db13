// Tests closed forms of stragglers: order statistics beside sums by hand and random draws, loads of gradient codes, and
// rounds that a reader can follow.

#include "models/reliability/stragglers.hpp"

#include "sim/check.hpp"
#include "sim/random_stream.hpp"
#include "tests/effort.hpp"
#include "tests/near.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <tuple>
#include <vector>

#include <doctest/doctest.h>

using namespace contend;

namespace {

/// How long rounds take in which each worker needs `times[round][worker]`. Who needs more than 1 + `tolerance` times
/// the time of the fastest is a straggler. If the code does without the stragglers of a round, given the stragglers of
/// the rounds before, the round lasts until they are known as such, or all are done: min((1 + tolerance) fastest,
/// slowest). Otherwise it waits for all, and then has no stragglers. GC(s) does without any s; SR-SGC and M-SGC without
/// at most lambda different ones in W rounds in a row, none of whom straggled between B and W - 1 rounds before.
std::vector<double> coded_rounds(const CodingScheme& scheme, std::span<const std::vector<double>> times,
                                 double tolerance) {
  CONTEND_CHECK(why_no_scheme(scheme).empty() && tolerance >= 0, "a scheme has legal parameters");
  const LatePattern pattern = late_pattern(scheme);
  LateHistory history;
  std::vector<double> rounds;
  std::vector<std::uint32_t> now;
  for (const std::vector<double>& round : times) {
    CONTEND_CHECK(std::ssize(round) == scheme.workers, "each worker has a time in each round");
    const auto [fastest, slowest] = std::minmax_element(round.begin(), round.end());
    const double patience = (1 + tolerance) * *fastest;
    now.clear();
    for (std::size_t worker = 0; worker < round.size(); ++worker)
      if (round[worker] > patience) now.push_back(static_cast<std::uint32_t>(worker));
    const bool goes_on = history.leave_behind(pattern, std::ssize(rounds), now);
    rounds.push_back(goes_on ? std::min(patience, *slowest) : *slowest);
  }
  return rounds;
}

}  // namespace

TEST_CASE("waiting for exponential times is a difference of harmonic numbers") {
  CHECK(exponential_wait(1, 1) == near(1));
  CHECK(exponential_wait(3, 3) == near(1 + 1.0 / 2 + 1.0 / 3));
  CHECK(exponential_wait(8, 8) == near(2.717857, 1e-6));
  CHECK(exponential_wait(256, 256) == near(6.124345, 1e-6));
  CHECK(exponential_wait(64, 60) == near(2.660558, 1e-6));
  CHECK(exponential_wait(5, 1) == near(1.0 / 5));
}

TEST_CASE("waiting for log-normal times") {
  CHECK(lognormal_wait(1, 1, 0.1) == near(std::exp(0.005), 1e-10));
  CHECK(lognormal_wait(1, 1, 1) == near(std::exp(0.5), 1e-10));
  CHECK(lognormal_wait(8, 8, 0) == near(1, 1e-10));
  CHECK(lognormal_wait(8, 8, 0.1) == near(1.15516, 5e-6));
  CHECK(lognormal_wait(256, 256, 0.1) == near(1.32772, 5e-6));
  // The mean of all order statistics is the mean of the law.
  double sum = 0;
  for (int k = 1; k <= 9; ++k) sum += lognormal_wait(9, k, 0.3);
  CHECK(sum == near(9 * std::exp(0.045), 1e-9));
  RandomStream random{1, "stragglers"};
  const int rounds = effort(20'000);
  double total = 0, squares = 0;
  for (int i = 0; i < rounds; ++i) {
    std::vector<double> times(12);
    for (double& time : times) time = random.lognormal(0, 0.5);
    std::sort(times.begin(), times.end());
    total += times[9];
    squares += times[9] * times[9];
  }
  const double mean = total / rounds, error = std::sqrt((squares / rounds - mean * mean) / rounds);
  CHECK(mean == near_absolute(lognormal_wait(12, 10, 0.5), 4 * error));
}

TEST_CASE("loads and delays of gradient codes") {
  const auto scheme = [](GradientCode code, int burst, int window, int distinct) {
    return CodingScheme{code, 256, 15, burst, window, distinct};
  };
  CHECK(coding_load(scheme(GradientCode::none, 1, 2, 0)) == near(1 / 256.0));
  CHECK(coding_load(scheme(GradientCode::gradient_coding, 1, 2, 0)) == near(0.0625));
  CHECK(coding_load(scheme(GradientCode::selective_repeat, 2, 3, 23)) == near(0.05078125));
  CHECK(coding_load(scheme(GradientCode::multiplexed, 1, 2, 27)) == near(0.007543, 1e-4));
  CHECK(coding_load(scheme(GradientCode::multiplexed, 1, 3, 256)) == near(3.0 / (256 * 2)));
  CHECK(coding_delay(scheme(GradientCode::gradient_coding, 1, 2, 0)) == 0);
  CHECK(coding_delay(scheme(GradientCode::selective_repeat, 2, 3, 23)) == 2);
  CHECK(coding_delay(scheme(GradientCode::multiplexed, 1, 2, 27)) == 1);
  CHECK(why_no_scheme(scheme(GradientCode::selective_repeat, 2, 4, 23)).find("does not divide") != std::string::npos);
  CHECK(why_no_scheme(scheme(GradientCode::multiplexed, 2, 2, 23)).find("windows of 2") != std::string::npos);
  CHECK(why_no_scheme(scheme(GradientCode::multiplexed, 1, 2, 257)).find("257 stragglers") != std::string::npos);
  CHECK(why_no_scheme({GradientCode::gradient_coding, 4, 4}).find("0 to 3") != std::string::npos);
}

TEST_CASE("rounds of coded gradients go on without stragglers as long as the code allows it") {
  // Worker 0 straggles in rounds 0, 1 and 4, workers 0 and 1 in round 2; round 3 has no straggler beyond twice the
  // fastest.
  const std::vector<std::vector<double>> times{{9, 1, 1, 1}, {7, 1, 1, 1}, {8, 5, 1, 1}, {2, 2, 1, 1}, {6, 1, 1, 1}};
  using Rounds = std::vector<double>;
  CHECK(coded_rounds({GradientCode::none, 4}, times, 1) == Rounds{9, 7, 8, 2, 6});
  CHECK(coded_rounds({GradientCode::gradient_coding, 4, 1}, times, 1) == Rounds{2, 2, 8, 2, 2});
  CHECK(coded_rounds({GradientCode::gradient_coding, 4, 2}, times, 1) == Rounds{2, 2, 2, 2, 2});
  // A burst of one: worker 0 may not straggle in the round after it did. Having waited for it, it may in the next.
  CHECK(coded_rounds({GradientCode::selective_repeat, 4, 0, 1, 2, 2}, times, 1) == Rounds{2, 7, 2, 2, 2});
  // Bursts of two in windows of three: not again two rounds later; in round 4 round 2, waited for, doesn't count.
  CHECK(coded_rounds({GradientCode::multiplexed, 4, 0, 2, 3, 2}, times, 1) == Rounds{2, 2, 8, 2, 2});
  CHECK(coded_rounds({GradientCode::multiplexed, 4, 0, 2, 3, 1}, times, 1) == Rounds{2, 2, 8, 2, 2});
}

TEST_CASE("loads by hand, where each part of the formulas counts") {
  const auto load = [](GradientCode code, int workers, int burst, int window, int distinct) {
    return coding_load({code, workers, 3, burst, window, distinct});
  };
  CHECK(load(GradientCode::none, 7, 1, 2, 0) == near(1.0 / 7));
  CHECK(load(GradientCode::gradient_coding, 7, 1, 2, 0) == near(4.0 / 7));
  // s = ceil(B lambda / (W - 1 + B)): of 0, 15 / 9, 12 / 6, 10 / 4.
  CHECK(load(GradientCode::selective_repeat, 10, 3, 7, 0) == near(1.0 / 10));
  CHECK(load(GradientCode::selective_repeat, 10, 3, 7, 5) == near(3.0 / 10));
  CHECK(load(GradientCode::selective_repeat, 10, 2, 5, 6) == near(3.0 / 10));
  CHECK(load(GradientCode::selective_repeat, 11, 2, 3, 5) == near(4.0 / 11));
  // (lambda + 1)(W - 1 + B) / (n (B + (W - 1)(lambda + 1))), and without any worker that never straggles.
  CHECK(load(GradientCode::multiplexed, 10, 2, 4, 3) == near(4.0 * 5 / (10 * (2 + 3 * 4))));
  CHECK(load(GradientCode::multiplexed, 10, 3, 5, 9) == near(10.0 * 7 / (10 * (3 + 4 * 10))));
  CHECK(load(GradientCode::multiplexed, 10, 3, 5, 10) == near(7.0 / (10 * 4)));
  const auto delay = [](GradientCode code, int burst, int window) { return coding_delay({code, 9, 0, burst, window}); };
  CHECK(delay(GradientCode::none, 3, 7) == 0);
  CHECK(delay(GradientCode::selective_repeat, 3, 7) == 3);
  CHECK(delay(GradientCode::multiplexed, 3, 7) == 8);
}

TEST_CASE("the least and most that the parameters of a code may be") {
  const auto bad = [](GradientCode code, int workers, int stragglers, int burst, int window, int distinct) {
    return why_no_scheme({code, workers, stragglers, burst, window, distinct});
  };
  const GradientCode none = GradientCode::none, coding = GradientCode::gradient_coding,
                     repeat = GradientCode::selective_repeat, multiplexed = GradientCode::multiplexed;
  CHECK(bad(none, 1, -5, -5, -5, -5).empty());
  CHECK(bad(none, 0, 0, 1, 2, 0) == "needs at least one worker");
  CHECK(bad(coding, 4, 0, 0, 0, -1).empty());
  CHECK(bad(coding, 4, 3, 0, 0, 9).empty());
  CHECK(bad(coding, 4, -1, 1, 2, 0) == "-1 stragglers of 4 workers are not within 0 to 3");
  CHECK(bad(coding, 4, 4, 1, 2, 0) == "4 stragglers of 4 workers are not within 0 to 3");
  for (const GradientCode code : {repeat, multiplexed}) {
    CHECK(bad(code, 4, 9, 1, 2, 0).empty());
    CHECK(bad(code, 4, 9, 2, 5, 4).empty());
    CHECK(bad(code, 4, 0, 0, 2, 0).starts_with("bursts of 0 rounds in windows of 2"));
    CHECK(bad(code, 4, 0, 3, 3, 0).starts_with("bursts of 3 rounds in windows of 3"));
    CHECK(bad(code, 4, 0, 1, 2, -1) == "-1 stragglers of 4 workers");
    CHECK(bad(code, 4, 0, 1, 2, 5) == "5 stragglers of 4 workers");
  }
  CHECK(bad(repeat, 4, 0, 2, 4, 0) == "a burst of 2 rounds does not divide the window of 4 less one");
  CHECK(bad(repeat, 4, 0, 3, 7, 0).empty());
  CHECK(bad(multiplexed, 4, 0, 2, 4, 0).empty());
}

TEST_CASE("stragglers property: rounds are the rounds of the rules, applied to the whole past one after the other") {
  RandomStream random{2, "rounds"};
  int went_on = 0, waited = 0;
  for (const auto& [code, burst, window] : {std::tuple{GradientCode::none, 1, 2},
                                            {GradientCode::gradient_coding, 1, 2},
                                            {GradientCode::selective_repeat, 1, 2},
                                            {GradientCode::selective_repeat, 2, 5},
                                            {GradientCode::selective_repeat, 1, 4},
                                            {GradientCode::multiplexed, 2, 3},
                                            {GradientCode::multiplexed, 3, 5}}) {
    for (const int most : {1, 2, 4}) {
      const int workers = 8;
      const CodingScheme scheme{code, workers, most, burst, window, most};
      std::vector<std::vector<double>> times(60, std::vector<double>(workers));
      for (auto& round : times)
        for (double& time : round) time = random.uniform() < 0.12 ? 4 + random.uniform() : 1 + random.uniform();
      times[5] = std::vector<double>(workers, 1);
      times[6] = {1, 2, 1, 1, 2, 1, 1, 1};  // just what is tolerated
      std::vector<double> expected;
      std::vector<std::vector<bool>> straggled;  // by round, without those that were waited for
      for (const auto& round : times) {
        const double fastest = *std::ranges::min_element(round), slowest = *std::ranges::max_element(round);
        std::vector<bool> now(workers, false);
        for (std::size_t w = 0; w < round.size(); ++w) now[w] = round[w] > 2 * fastest;
        const auto count = std::ranges::count(now, true);
        bool is_fine = true;
        if (code == GradientCode::none) is_fine = count == 0;
        if (code == GradientCode::gradient_coding) is_fine = count <= most;
        if (code == GradientCode::selective_repeat || code == GradientCode::multiplexed) {
          std::vector<bool> in_window = now;
          for (std::size_t ago = 1; ago <= straggled.size(); ++ago) {
            const std::vector<bool>& then = straggled[straggled.size() - ago];
            for (std::size_t w = 0; w < then.size(); ++w) {
              if (ago < static_cast<std::size_t>(window) && then[w]) in_window[w] = true;
              if (ago >= static_cast<std::size_t>(burst) && ago < static_cast<std::size_t>(window) && then[w] && now[w])
                is_fine = false;
            }
          }
          is_fine = count == 0 || (is_fine && std::ranges::count(in_window, true) <= most);
        }
        straggled.push_back(is_fine ? now : std::vector<bool>(workers, false));
        expected.push_back(is_fine ? std::min(2 * fastest, slowest) : slowest);
        if (count > 0) ++(is_fine ? went_on : waited);
      }
      CHECK(coded_rounds(scheme, times, 1) == expected);
    }
  }
  CHECK(went_on > 100);
  CHECK(waited > 100);
}

TEST_CASE("waiting for the fastest of log-normal times mirrors waiting for the slowest") {
  // The median of three has the density 6 P (1 - P) p, the others 3 P^2 p and 3 (1 - P)^2 p; by the midpoint rule.
  for (const double sigma : {0.2, 1.0}) {
    double first = 0, second = 0, third = 0;
    constexpr double kStep = 1e-3;
    for (int i = -9000; i < 9000; ++i) {
      const double z = (i + 0.5) * kStep, below = std::erfc(-z / std::sqrt(2.0)) / 2, above = 1 - below;
      const double weight = std::exp(sigma * z - z * z / 2) / std::sqrt(2 * std::acos(-1.0)) * kStep;
      first += 3 * above * above * weight;
      second += 6 * below * above * weight;
      third += 3 * below * below * weight;
    }
    CHECK(lognormal_wait(3, 1, sigma) == near(first, 1e-9));
    CHECK(lognormal_wait(3, 2, sigma) == near(second, 1e-9));
    CHECK(lognormal_wait(3, 3, sigma) == near(third, 1e-9));
  }
  // The means of the order statistics of 30 add up to 30 times the mean of the law; factorials beyond 20 count there.
  double sum = 0;
  for (int k = 1; k <= 30; ++k) sum += lognormal_wait(30, k, 0.3);
  CHECK(sum == near(30 * std::exp(0.045), 1e-9));
  // Factorials of 21 and more are the values of Stirling's series; with sigma 0 every wait is 1.
  CHECK(lognormal_wait(21, 11, 0) == near(1, 2e-11));
  CHECK(lognormal_wait(20, 7, 0) == near(1, 2e-11));
}
