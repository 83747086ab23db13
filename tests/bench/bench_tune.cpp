// How near the best of all points a search comes, by the number of runs that it makes:
//   bench_tune [seed] [starts]          default 1 and 10
// Twenty landscapes (tests/bench/tune_landscapes.hpp) are simulated in full; then each method searches each of them
// from so many starts with each budget. The regret of a search is what the point that it calls the best is worse than
// the best of all points, in percent of that one. A budget of 30 points is 90 runs: 30 points under three seeds, or
// more points of which fewer run under all. Halving makes at most as many runs.

#include "tests/bench/tune_landscapes.hpp"

#include <array>
#include <cstdlib>
#include <thread>
#include <utility>

using namespace contend;

namespace {

constexpr std::array kTrials{10, 15, 20, 30};

/// Sums over landscapes and starts, by budget.
struct Tally {
  std::array<double, kTrials.size()> regret{};
  std::array<int, kTrials.size()> found{};
  int searches = 0;

  void add(const Landscape& land, TuneOptions options) {
    ++searches;
    for (std::size_t i = 0; i < kTrials.size(); ++i) {
      options.trials = kTrials[i];
      // 54 points under one seed and the best 18 under all three are 90 runs, as many as 30 points under all.
      if (options.method == TuneMethod::halving) options.trials = kTrials[i] * 9 / 5;
      const double least = land.regret(searched(land, options).best);
      regret[i] += least;
      found[i] += least <= 0 ? 1 : 0;
    }
  }
  [[nodiscard]] Tally minus(const Tally& other) const {
    Tally rest = *this;
    rest.searches -= other.searches;
    for (std::size_t i = 0; i < kTrials.size(); ++i) {
      rest.regret[i] -= other.regret[i];
      rest.found[i] -= other.found[i];
    }
    return rest;
  }
  void print(const char* name) const {
    fmt::print("{:<10}", name);
    for (std::size_t i = 0; i < kTrials.size(); ++i)
      fmt::print("  {:6.3f}% {:5.1f}", 100 * regret[i] / searches, 20.0 * found[i] / searches);
    fmt::print("\n");
  }
};

constexpr std::pair<TuneMethod, const char*> kNames[] = {
    {TuneMethod::random, "random"}, {TuneMethod::halving, "halving"}, {TuneMethod::bayes, "bayes"}};

}  // namespace

int main(int argc, char** argv) {
  const auto seed = static_cast<std::uint64_t>(argc > 1 ? std::atoll(argv[1]) : 1);
  const int starts = argc > 2 ? std::atoi(argv[2]) : 10;
  const unsigned threads = std::max(2U, std::thread::hardware_concurrency());
  std::array<Tally, std::size(kNames)> all;
  each_landscape(seed, threads, [&](const Landscape& land) {
    const std::array<Tally, std::size(kNames)> before = all;
    for (int start = 0; start < starts; ++start) {
      TuneOptions options;
      options.start = static_cast<std::uint64_t>(start);
      for (std::size_t i = 0; i < all.size(); ++i) {
        options.method = kNames[i].first;
        all[i].add(land, options);
      }
    }
    for (std::size_t i = 0; i < all.size(); ++i) all[i].minus(before[i]).print(kNames[i].second);
    fmt::print("    {}\n", land.name);
    std::fflush(stdout);
  });
  fmt::print("\nmean regret, and landscapes of 20 whose best point was found, with the runs of so many points:\n{:<10}",
             "");
  for (const int trials : kTrials) fmt::print("  {:>13}", trials);
  fmt::print("\n");
  for (std::size_t i = 0; i < all.size(); ++i) all[i].print(kNames[i].second);
}
