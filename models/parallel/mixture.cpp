#include "models/parallel/mixture.hpp"

#include "sim/check.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numeric>
#include <utility>

namespace contend {
namespace {

double real_of(std::int64_t number) {
  return static_cast<double>(number);
}

/// The probability that none of `drawn` things, drawn from `all` without replacement, is one of `marked`.
double none_marked(std::int64_t all, std::int64_t marked, std::int64_t drawn) {
  double probability = 1;
  for (std::int64_t i = 0; i < drawn; ++i) {
    if (all - marked - i <= 0) return 0;
    probability *= real_of(all - marked - i) / real_of(all - i);
  }
  return probability;
}

double choose(std::int64_t n, std::int64_t k) {
  double ways = 1;
  for (std::int64_t i = 0; i < k; ++i) ways *= real_of(n - i) / real_of(i + 1);
  return ways;
}

/// The time if the network between servers carries `ahead` dispatches before the first combine and then one of each in
/// turn, and that inside them likewise spreads and collects, 1 <= spreads_ahead <= ahead <= pieces.
Time time_in_order(const ExpertPiece& piece, int pieces, int ahead, int spreads_ahead) {
  std::vector<Time> computed;
  Time between, inside, device;  // free from
  int dispatches = 0;
  std::vector<Time> arrived;
  for (int returned = 0; returned < pieces; ++returned) {
    for (; dispatches < std::min(pieces, returned + ahead); ++dispatches) arrived.push_back(between += piece.dispatch);
    while (std::ssize(computed) < std::min(pieces, returned + spreads_ahead)) {
      const Time ready = arrived[computed.size()];
      const Time spread = piece.spread > Time{} ? inside = std::max(inside, ready) + piece.spread : ready;
      computed.push_back(device = std::max(device, spread) + piece.experts);
    }
    Time collected = computed[static_cast<std::size_t>(returned)];
    if (piece.collect > Time{}) collected = inside = std::max(inside, collected) + piece.collect;
    if (piece.combine > Time{}) collected = between = std::max(between, collected) + piece.combine;
    if (returned + 1 == pieces) return collected;
  }
  return {};
}

}  // namespace

double fullest_over_mean(std::span<const double> tokens, std::int64_t ranks) {
  const std::size_t each = tokens.size() / static_cast<std::size_t>(ranks);
  CONTEND_CHECK(each * static_cast<std::size_t>(ranks) == tokens.size(), "ranks divide the experts");
  double fullest = 0, all = 0;
  for (std::size_t first = 0; first < tokens.size(); first += each) {
    double sum = 0;
    for (const double count : tokens.subspan(first, each)) sum += count;
    fullest = std::max(fullest, sum);
    all += sum;
  }
  return std::clamp(fullest * real_of(ranks) / all, 1.0, real_of(ranks));
}

std::vector<double> zipf_tokens(std::int64_t experts, std::int64_t ranks, double exponent) {
  const std::int64_t each = experts / ranks;
  std::vector<double> tokens(static_cast<std::size_t>(experts));
  for (std::int64_t popular = 0; popular < experts; ++popular) {
    const std::int64_t expert = popular % ranks * each + popular / ranks;
    tokens[static_cast<std::size_t>(expert)] = std::pow(real_of(popular + 1), -exponent);
  }
  return tokens;
}

std::vector<double> swap_experts(std::vector<double> tokens, std::int64_t ranks) {
  const std::size_t count = static_cast<std::size_t>(ranks), each = tokens.size() / count;
  CONTEND_CHECK(each * count == tokens.size(), "ranks divide the experts");
  std::vector<double> load(count, 0.0);
  for (std::size_t expert = 0; expert < tokens.size(); ++expert) load[expert / each] += tokens[expert];
  constexpr double kLess = 1 - 1e-12;  // so that rounding swaps nothing to and fro
  while (true) {
    const auto full = static_cast<std::size_t>(std::ranges::max_element(load) - load.begin());
    double best = load[full] * kLess;
    std::size_t out = 0, in = 0;
    bool found = false;
    for (std::size_t mine = full * each; mine < (full + 1) * each; ++mine) {
      for (std::size_t other = 0; other < tokens.size(); ++other) {
        if (other / each == full) continue;
        const double moved = tokens[mine] - tokens[other];
        const double fuller = std::max(load[full] - moved, load[other / each] + moved);
        if (fuller >= best) continue;
        best = fuller;
        out = mine;
        in = other;
        found = true;
      }
    }
    if (!found) return tokens;
    const double moved = tokens[out] - tokens[in];
    load[full] -= moved;
    load[in / each] += moved;
    std::swap(tokens[out], tokens[in]);
  }
}

double servers_of_token(const MixtureOfExperts& mixture, std::int64_t servers) {
  const std::int64_t group = mixture.experts / mixture.groups;  // experts
  const std::int64_t from = group * mixture.groups_used;
  const std::int64_t on_server = mixture.experts / servers;
  if (servers >= mixture.groups) {
    const double used = real_of(mixture.groups_used) / real_of(mixture.groups);
    return real_of(servers) * used * (1 - none_marked(from, on_server, mixture.top_k));
  }
  const std::int64_t groups = mixture.groups / servers;  // on a server
  double some = 0;
  for (std::int64_t here = 1; here <= std::min(groups, mixture.groups_used); ++here) {
    const double chance = choose(groups, here) * choose(mixture.groups - groups, mixture.groups_used - here) /
                          choose(mixture.groups, mixture.groups_used);
    some += chance * (1 - none_marked(from, here * group, mixture.top_k));
  }
  return real_of(servers) * some;
}

Time time_in_pieces(const ExpertPiece& piece, int pieces) {
  CONTEND_CHECK(pieces >= 1, "tokens are cut into one piece at least");
  Time best = time_in_order(piece, pieces, pieces, pieces);
  for (int ahead = 1; ahead <= pieces; ++ahead) {
    for (int spreads_ahead = 1; spreads_ahead <= ahead; ++spreads_ahead)
      best = std::min(best, time_in_order(piece, pieces, ahead, spreads_ahead));
  }
  return best;
}

}  // namespace contend
