// Themis: the partial allocation mechanism beside a search through all divisions, and leases on cases by hand.

#include "policies/scheduling/auction.hpp"
#include "sim/random_stream.hpp"
#include "tests/effort.hpp"
#include "tests/near.hpp"
#include "tests/policies/policy_kit.hpp"
#include "tests/policies/scheduling_kit.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <doctest/doctest.h>

using namespace contend;
using namespace contend::test;

namespace {

/// The largest product of values of all bidders but one, by trying everything.
double best_product(std::vector<int> left, const std::vector<Bidder>& bidders, std::size_t without, std::size_t i = 0) {
  if (i == bidders.size()) return 1;
  if (i == without) return best_product(left, bidders, without, i + 1);
  double best = best_product(left, bidders, without, i + 1) / bidders[i].rho_without;
  for (const Bid& bid : bidders[i].bids) {
    if (bid.gpus > left[bid.type]) continue;
    left[bid.type] -= bid.gpus;
    best = std::max(best, best_product(left, bidders, without, i + 1) / bid.rho);
    left[bid.type] += bid.gpus;
  }
  return best;
}

double value(const Bidder& bidder, const Sale& sale) {
  return 1 / (sale.bid == Sale::kNothing ? bidder.rho_without : bidder.bids[static_cast<std::size_t>(sale.bid)].rho);
}

/// A bidder whose value is the number of GPUs of the first type, up to `most`, or nearly 0 without any.
Bidder linear(int most) {
  Bidder bidder{{}, 1000};
  for (int gpus = 1; gpus <= most; ++gpus) bidder.bids.push_back({0, gpus, 1.0 / gpus});
  return bidder;
}

}  // namespace

TEST_CASE("themis: two bidders that want all of 4 GPUs win two each and keep half of that") {
  const std::vector<int> capacity{4};
  const std::vector<Bidder> two{linear(4), linear(4)};
  const std::vector<Sale> sales = partial_allocation(capacity, two, 0, true);
  for (std::size_t i = 0; i < 2; ++i) {
    CHECK(two[i].bids[static_cast<std::size_t>(sales[i].bid)].gpus == 2);
    CHECK(sales[i].kept == near(0.5));  // the other would be worth 4 in place of 2
  }
  CHECK(partial_allocation(capacity, two, 0, false).front().kept == 1);
  // Nobody is in the way of a bidder that is alone, nor where all have what they want.
  CHECK(partial_allocation(capacity, std::vector<Bidder>{linear(4)}, 0, true).front().kept == 1);
  for (const Sale& sale : partial_allocation(capacity, std::vector<Bidder>{linear(3), linear(1)}, 0, true))
    CHECK(sale.kept == 1);
}

TEST_CASE("themis: the product of values is the largest, and parts are what the others lose by each bidder") {
  for (std::uint64_t seed = 0; seed < effort<std::uint64_t>(400); ++seed) {
    CAPTURE(seed);
    RandomStream random{seed, "auction"};
    std::vector<int> capacity;
    for (std::int64_t t = random.uniform_integer(1, 2); t > 0; --t)
      capacity.push_back(static_cast<int>(random.uniform_integer(0, 6)));
    std::vector<Bidder> bidders;
    for (std::int64_t i = random.uniform_integer(1, 4); i > 0; --i) {
      Bidder& bidder = bidders.emplace_back(Bidder{{}, random.uniform(2, 4)});
      for (std::int64_t b = random.uniform_integer(0, 4); b > 0; --b)
        bidder.bids.push_back(
            {static_cast<std::size_t>(random.uniform_integer(0, static_cast<std::int64_t>(capacity.size()) - 1)),
             static_cast<int>(random.uniform_integer(1, 5)), random.uniform(0.1, 2)});
    }
    const std::vector<Sale> sales = partial_allocation(capacity, bidders, 0, true);
    double product = 1;
    std::vector<int> left = capacity;
    for (std::size_t i = 0; i < bidders.size(); ++i) {
      product *= value(bidders[i], sales[i]);
      if (sales[i].bid == Sale::kNothing) continue;
      const Bid& bid = bidders[i].bids[static_cast<std::size_t>(sales[i].bid)];
      left[bid.type] -= bid.gpus;
    }
    CHECK(std::ranges::all_of(left, [](int gpus) { return gpus >= 0; }));
    CHECK(product == near(best_product(capacity, bidders, bidders.size()), 1e-5));
    for (std::size_t i = 0; i < bidders.size(); ++i) {
      CHECK(sales[i].kept <= 1);
      if (sales[i].bid == Sale::kNothing) continue;
      const double others = product / value(bidders[i], sales[i]);
      CHECK(sales[i].kept == near(std::min(1.0, others / best_product(capacity, bidders, i)), 1e-5));
    }
  }
}

TEST_CASE("themis: two equal gangs for one server take turns, lease by lease") {
  const std::vector<JobSpec> jobs{timed_job(0, 2, 300), timed_job(0, 2, 300)};
  const Played played = play({"themis", {{"lease_s", 100.0}}}, 2, jobs);
  CHECK(played.faults.empty());
  CHECK(played.finishes() == "A500 B600");
  CHECK(played.preemptions() == "A2 B2");
}

TEST_CASE("themis: with room for all nobody loses its GPUs, and the rho of equal jobs is 1") {
  const Played played = play({"themis", {{"lease_s", 10.0}}}, 2, {timed_job(0, 1, 100), timed_job(0, 1, 100)});
  CHECK(played.finishes() == "A100 B100");
  CHECK(played.total_preemptions() == 0);
  for (const JobResult& job : played.result.jobs) CHECK(job.rho == near(1.0));
}

TEST_CASE("themis: a short job gets GPUs at the end of the lease of a long one, not before") {
  const Played played =
      play({"themis", {{"lease_s", 100.0}}}, 1, {timed_job(0, 1, 1000), timed_job(10, 1, 50), timed_job(210, 1, 50)});
  CHECK(played.finishes() == "A1100 B150 C300");
}

TEST_CASE("themis: a lease never ends early, and fairness 1 offers GPUs to one job at a time") {
  RandomStream random{5, "themis leases"};
  for (std::uint64_t seed = 0; seed < effort<std::uint64_t>(40); ++seed) {
    std::vector<JobSpec> jobs;
    for (int j = 0; j < 12; ++j)
      jobs.push_back(timed_job(random.uniform_integer(0, 200), static_cast<int>(random.uniform_integer(1, 4)),
                               random.uniform_integer(10, 300)));
    const Played played =
        play({"themis", {{"lease_s", 50.0}, {"fairness", static_cast<double>(seed % 3) / 2}}}, 4, jobs);
    CHECK(played.faults.empty());
    CHECK(played.passes_with_idle_room == 0);
    std::vector<Time> held(jobs.size());
    for (const Hold& run : played.runs) {
      const std::size_t j = run.job.index();
      held[j] = held[j] + (run.end - run.start);
      const bool is_last = run.end == played.result.jobs[j].finish;
      if (!is_last) CHECK(run.end - run.start >= Time::seconds(50));
    }
    for (std::size_t j = 0; j < jobs.size(); ++j) CHECK(held[j] == *jobs[j].duration);
  }
}
