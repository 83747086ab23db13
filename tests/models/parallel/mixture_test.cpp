// Mixtures of experts: the load of the fullest rank, the servers of a token, and pieces whose exchange overlaps with
// what the experts compute, against all orders in which they can be exchanged.

#include "models/parallel/mixture.hpp"
#include "models/parallel/transformer_catalogue.hpp"
#include "sim/random_stream.hpp"
#include "tests/effort.hpp"
#include "tests/near.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <numeric>
#include <set>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

using namespace contend;

namespace {

Time span(std::int64_t count) {
  return Time::nanoseconds(count);
}

MixtureOfExperts mixture(std::int64_t experts, std::int64_t top_k, std::int64_t groups = 1, std::int64_t used = 1) {
  MixtureOfExperts made;
  made.experts = experts;
  made.top_k = top_k;
  made.groups = groups;
  made.groups_used = used;
  return made;
}

/// The shortest time of all orders in which the networks can carry the pieces.
class AllOrders {
 public:
  AllOrders(const ExpertPiece& piece, std::size_t pieces) : piece_{piece}, pieces_{pieces} { go({}); }
  [[nodiscard]] Time best() const { return best_; }

 private:
  struct State {
    Time between{}, inside{}, device{}, end{};
    std::vector<Time> dispatched, computed, collected;
    std::size_t combined = 0;
  };

  /// A step of a network that is free from `from`; one that takes no time doesn't wait for it.
  static Time carry(Time& from, Time ready, Time takes) {
    return takes > Time{} ? from = std::max(from, ready) + takes : ready;
  }

  void go(const State& at) {
    if (at.combined == pieces_) {
      best_ = std::min(best_, at.end);
      return;
    }
    if (at.dispatched.size() < pieces_) {
      State next = at;
      next.dispatched.push_back(carry(next.between, {}, piece_.dispatch));
      go(next);
    }
    if (at.computed.size() < at.dispatched.size()) {
      State next = at;
      const Time spread = carry(next.inside, at.dispatched[at.computed.size()], piece_.spread);
      next.computed.push_back(next.device = std::max(next.device, spread) + piece_.experts);
      go(next);
    }
    if (at.collected.size() < at.computed.size()) {
      State next = at;
      next.collected.push_back(carry(next.inside, at.computed[at.collected.size()], piece_.collect));
      go(next);
    }
    if (at.combined < at.collected.size()) {
      State next = at;
      next.end = std::max(next.end, carry(next.between, at.collected[at.combined], piece_.combine));
      ++next.combined;
      go(next);
    }
  }

  ExpertPiece piece_;
  std::size_t pieces_;
  Time best_ = Time::never();
};

}  // namespace

TEST_CASE("mixture: the fullest rank") {
  const std::vector<double> tokens{10, 30, 20, 20, 0, 0, 70, 10};
  CHECK(fullest_over_mean(tokens, 1) == near(1.0));
  CHECK(fullest_over_mean(tokens, 2) == near(1.0));
  CHECK(fullest_over_mean(tokens, 4) == near(2.0));
  CHECK(fullest_over_mean(tokens, 8) == near(3.5));
}

TEST_CASE("mixture: popularity by Zipf's law is dealt out to the ranks") {
  const std::vector<double> tokens = zipf_tokens(4, 2, 1);
  REQUIRE(tokens.size() == 4);
  CHECK(tokens[0] == near(1.0));
  CHECK(tokens[1] == near(1.0 / 3));
  CHECK(tokens[2] == near(1.0 / 2));
  CHECK(tokens[3] == near(1.0 / 4));
  CHECK(fullest_over_mean(tokens, 2) == near(2 * (4.0 / 3) / (25.0 / 12)));
  CHECK(fullest_over_mean(zipf_tokens(64, 8, 0), 8) == near(1.0));
}

TEST_CASE("mixture: servers of a token") {
  CHECK(servers_of_token(mixture(8, 2), 1) == near(1.0));
  // Two of eight experts lie on the same of four servers with probability 1/7.
  CHECK(servers_of_token(mixture(8, 2), 4) == near(2 - 1.0 / 7));
  CHECK(servers_of_token(mixture(8, 8), 4) == near(4.0));
  // One group of four: all experts of a token lie on one server.
  CHECK(servers_of_token(mixture(16, 3, 4, 1), 4) == near(1.0));
  const TransformerModel& v3 = *find_transformer("deepseek-v3");
  REQUIRE(v3.mixture);
  // Eight of 256 experts, from four of eight groups: never more than four servers of eight, eight of 32.
  CHECK(servers_of_token(*v3.mixture, 8) < 4);
  CHECK(servers_of_token(*v3.mixture, 8) > 3.5);
  CHECK(servers_of_token(*v3.mixture, 32) < 8);
}

TEST_CASE("mixture: servers of a token as often as drawn") {
  RandomStream random{7, "experts"};
  int seen = 0;
  for (const auto& [groups, used, servers] :
       std::vector<std::array<int, 3>>{{1, 1, 4}, {8, 4, 4}, {4, 2, 8}, {8, 3, 2}}) {
    constexpr int kExperts = 32, kTopK = 5;
    double sum = 0;
    const int rounds = effort(20'000);
    for (int round = 0; round < rounds; ++round) {
      std::set<std::int64_t> chosen, experts, on;
      while (std::ssize(chosen) < used) chosen.insert(random.uniform_integer(0, groups - 1));
      while (std::ssize(experts) < kTopK) {
        const std::int64_t expert = random.uniform_integer(0, kExperts - 1);
        if (chosen.contains(expert / (kExperts / groups))) experts.insert(expert);
      }
      for (const std::int64_t expert : experts) on.insert(expert / (kExperts / servers));
      sum += static_cast<double>(on.size());
    }
    CHECK(servers_of_token(mixture(kExperts, kTopK, groups, used), servers) == near(sum / rounds, 0.02));
    ++seen;
  }
  CHECK(seen == 4);
}

TEST_CASE("mixture: one piece is one step after the other") {
  CHECK(time_in_pieces({span(5), span(2), span(7), span(3), span(4)}, 1) == span(21));
}

TEST_CASE("mixture: pieces by hand") {
  // The experts are the bottleneck: the first dispatch, all computing, the last combine.
  CHECK(time_in_pieces({span(2), span(0), span(10), span(0), span(3)}, 4) == span(45));
  // The network is: all dispatches and all combines, with no gap.
  CHECK(time_in_pieces({span(10), span(1), span(2), span(1), span(10)}, 4) == span(80));
  // That inside the servers is: four spreads and collects between a dispatch and a combine.
  CHECK(time_in_pieces({span(1), span(10), span(1), span(10), span(1)}, 4) == span(82));
}

TEST_CASE("mixture: hardly an order of the exchange is shorter than the one that is taken") {
  RandomStream random{11, "pieces"};
  int equal = 0;
  const int rounds = effort(600);
  for (int round = 0; round < rounds; ++round) {
    const auto any = [&] { return span(random.uniform() < 0.2 ? 0 : random.uniform_integer(1, 1000)); };
    const ExpertPiece piece{any(), any(), any(), any(), any()};
    const int pieces = static_cast<int>(random.uniform_integer(1, 3));
    const Time best = AllOrders{piece, static_cast<std::size_t>(pieces)}.best();
    const Time taken = time_in_pieces(piece, pieces);
    CHECK(taken >= best);
    CHECK(taken.to_seconds() <= 1.06 * best.to_seconds());
    equal += taken == best;
  }
  CHECK(equal >= rounds * 9 / 10);
}

TEST_CASE("pieces beside gradients take what FSMoE's cases say, and less than its third one") {
  // Pan et al., arXiv 2501.10714: conditions Q1 to Q7 and times t1 to t4, for a gathering and a scattering of equal
  // length. In its third case combines between dispatches hide what it adds for these two.
  RandomStream random{11, "gaps"};
  std::array<int, 5> seen{};
  for (int round = 0; round < effort(2000); ++round) {
    const auto drawn = [&](std::int64_t most) { return random.uniform_integer(1, most); };
    const std::int64_t r = random.uniform_integer(2, 5), all_to_all = drawn(40), inside = 2 * drawn(40);
    const std::int64_t experts = drawn(40), gradients = drawn(300), gap = 2 * (r - 1) * all_to_all;
    const bool q1 = 2 * all_to_all > inside, q2 = r * experts > gap, q3 = r * experts > (r - 1) * inside;
    const bool q4 = gradients > inside, q5 = gradients > r * experts - gap + inside;
    const bool q6 = gradients > r * inside - gap, q7 = gradients > inside + r * experts - gap;
    const bool first = q1 ? (q2 ? q5 : q4) : (q3 ? q7 : q6);
    const int which = first ? 1 : (q1 ? q2 : q3) ? 2 : q1 ? 3 : 4;
    const std::array<std::int64_t, 5> said{0, 2 * r * all_to_all + gradients, 2 * all_to_all + inside + r * experts,
                                           2 * r * all_to_all + inside, 2 * all_to_all + r * inside};
    const ExpertPiece piece{span(all_to_all), span(inside / 2), span(experts), span(inside / 2), span(all_to_all)};
    const Time taken = std::max(time_in_pieces(piece, static_cast<int>(r)), span(2 * r * all_to_all + gradients));
    const Time expected = span(said.at(static_cast<std::size_t>(which)));
    ++seen.at(static_cast<std::size_t>(which));
    if (which == 3)
      CHECK(taken <= expected);
    else
      CHECK(taken == expected);
  }
  for (int which = 1; which <= 4; ++which) CHECK(seen.at(static_cast<std::size_t>(which)) > 0);
}

TEST_CASE("experts swap places as long as that makes the fullest rank less full") {
  const auto on_ranks = [](std::vector<double> tokens, std::int64_t ranks) {
    return swap_experts(std::move(tokens), std::array{ExpertLevel{ranks, 1}});
  };
  // 14 and 2: swapping 8 and 1 leaves 7 and 9, swapping 6 and 1 leaves 9 and 7. Nothing is better than 9 then.
  CHECK(fullest_over_mean(on_ranks({8, 6, 1, 1}, 2), 2) == near(9.0 / 8, 1e-12));
  // 10, 6 and 2: 5 and 1 change places, which leaves three times 6.
  CHECK(fullest_over_mean(on_ranks({5, 5, 3, 3, 1, 1}, 3), 3) == near(1.0, 1e-12));
  CHECK(on_ranks({3, 3, 3, 3}, 2) == std::vector<double>{3, 3, 3, 3});
  // Two ranks that are equally full: one swap leaves the other as full, and counts nevertheless.
  CHECK(fullest_over_mean(on_ranks({4, 4, 4, 4, 1, 1, 1, 1}, 4), 4) == near(1.0, 1e-12));
}

TEST_CASE("experts swap places between servers if these have a price") {
  // One expert a rank: no swap makes a rank less full, but 8 and 1 change places for the sake of servers of two ranks.
  const std::vector<double> tokens{8, 7, 1, 2};
  const auto with = [&](double rank, double server) {
    return swap_experts(tokens, std::array{ExpertLevel{4, rank}, ExpertLevel{2, server}});
  };
  CHECK(with(1, 0) == tokens);
  CHECK(fullest_over_mean(with(1, 1), 2) == near(1.0, 1e-12));
  CHECK(fullest_over_mean(with(0, 1), 2) == near(1.0, 1e-12));
  // No swap is left that lowers the price, and no expert is lost.
  RandomStream draws{7, "expert swaps"};
  for (int trial = 0; trial < effort(50); ++trial) {
    const std::int64_t servers = draws.uniform_integer(1, 3), ranks = servers * draws.uniform_integer(1, 3);
    const std::int64_t each = draws.uniform_integer(1, 4);
    std::vector<double> drawn;
    for (std::int64_t i = 0; i < ranks * each; ++i)
      drawn.push_back(static_cast<double>(draws.uniform_integer(0, 100)) + 1);
    const std::array levels{ExpertLevel{ranks, draws.uniform() + 0.1}, ExpertLevel{servers, draws.uniform()}};
    const auto price = [&](const std::vector<double>& of) {
      double sum = 0;
      for (const ExpertLevel& level : levels) {
        double powers = 0;
        const auto count = static_cast<std::size_t>(level.groups), size = of.size() / count;
        const double mean = std::accumulate(of.begin(), of.end(), 0.0) / static_cast<double>(count);
        for (std::size_t group = 0; group < count; ++group) {
          const auto from = of.begin() + static_cast<std::ptrdiff_t>(group * size);
          powers += std::pow(std::accumulate(from, from + static_cast<std::ptrdiff_t>(size), 0.0) / mean, 10);
        }
        if (count > 1) sum += level.price * std::pow(powers, 0.1);
      }
      return sum;
    };
    std::vector<double> swapped = swap_experts(drawn, levels);
    CHECK(price(swapped) <= price(drawn) * (1 + 1e-9));
    const double left = price(swapped);
    const std::size_t rank = drawn.size() / static_cast<std::size_t>(ranks);
    std::size_t fullest = 0;
    const auto load = [&](std::size_t first) {
      const auto from = swapped.begin() + static_cast<std::ptrdiff_t>(first);
      return std::accumulate(from, from + static_cast<std::ptrdiff_t>(rank), 0.0);
    };
    for (std::size_t first = 0; first < drawn.size(); first += rank)
      if (load(first) > load(fullest)) fullest = first;
    for (std::size_t mine = fullest; mine < fullest + rank; ++mine) {
      for (std::size_t other = 0; other < drawn.size(); ++other) {
        std::vector<double> once_more = swapped;
        std::swap(once_more[mine], once_more[other]);
        CHECK(price(once_more) >= left * (1 - 1e-9));
      }
    }
    std::ranges::sort(drawn);
    std::ranges::sort(swapped);
    CHECK(swapped == drawn);
  }
}
