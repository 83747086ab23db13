// How near the best of all points a search comes, by the number of points that it runs:
//   bench_tune [seed] [starts]          default 1 and 10
// Twenty landscapes (tests/bench/tune_landscapes.hpp) are simulated in full; then each method searches each of them
// from so many starts. The regret of a search is what its best point so far is worse than the best of all points, in
// percent of that one. Halving may make as many runs as 30 points under all seeds.

#include "tests/bench/tune_landscapes.hpp"

#include <array>
#include <cstdlib>
#include <thread>

using namespace contend;

namespace {

constexpr std::array kTrials{10, 15, 20, 30, 45, 60};

/// Sums over landscapes and starts.
struct Tally {
  std::array<double, kTrials.size()> regret{};
  std::array<int, kTrials.size()> found{};
  int searches = 0;

  void add(const Landscape& land, const std::vector<std::size_t>& order) {
    ++searches;
    double least = 1e300;
    std::size_t next = 0;
    for (std::size_t i = 0; i < order.size() && next < kTrials.size(); ++i) {
      least = std::min(least, land.regret(order[i]));
      if (i + 1 < static_cast<std::size_t>(kTrials[next])) continue;
      regret[next] += least;
      found[next] += least <= 0 ? 1 : 0;
      ++next;
    }
  }
  void print(const char* name) const {
    fmt::print("{:<10}", name);
    for (std::size_t i = 0; i < kTrials.size(); ++i)
      fmt::print("  {:6.3f}% {:5.1f}", 100 * regret[i] / searches, 20.0 * found[i] / searches);
    fmt::print("\n");
  }
};

}  // namespace

int main(int argc, char** argv) {
  const auto seed = static_cast<std::uint64_t>(argc > 1 ? std::atoll(argv[1]) : 1);
  const int starts = argc > 2 ? std::atoi(argv[2]) : 10;
  const unsigned threads = std::max(2U, std::thread::hardware_concurrency());
  Tally random, bayes;
  double halving = 0;
  int halving_found = 0;
  each_landscape(seed, threads, [&](const Landscape& land) {
    Tally here;
    for (int start = 0; start < starts; ++start) {
      TuneOptions options;
      options.start = static_cast<std::uint64_t>(start);
      options.trials = kTrials.back();
      options.method = TuneMethod::random;
      random.add(land, searched(land, options).order);
      options.method = TuneMethod::bayes;
      const std::vector<std::size_t> order = searched(land, options).order;
      bayes.add(land, order);
      here.add(land, order);
      // 54 points under one seed and the best 18 under all three: 90 runs, as many as 30 points under three seeds.
      options.method = TuneMethod::halving;
      options.trials = 54;
      const double regret = land.regret(searched(land, options).best);
      halving += regret;
      halving_found += regret <= 0 ? 1 : 0;
    }
    here.print("bayes");
    fmt::print("    {}\n", land.name);
    std::fflush(stdout);
  });
  fmt::print("\nmean regret, and landscapes of 20 whose best point was found, after so many points:\n{:<10}", "");
  for (const int trials : kTrials) fmt::print("  {:>13}", trials);
  fmt::print("\n");
  random.print("random");
  bayes.print("bayes");
  fmt::print("{:<10}  {:6.3f}% {:5.1f}   with the runs of 30 points\n", "halving", 100 * halving / bayes.searches,
             20.0 * halving_found / bayes.searches);
}
