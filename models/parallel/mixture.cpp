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
/// turn, and the network inside them spreads and collects in turn, 1 <= spreads_ahead <= ahead <= pieces.
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

/// The loads of the groups of a level over their mean, and the norm of them.
class LevelLoad {
 public:
  LevelLoad(const ExpertLevel& level, std::span<const double> tokens)
      : price_{level.price}, each_{tokens.size() / static_cast<std::size_t>(level.groups)} {
    CONTEND_CHECK(each_ * static_cast<std::size_t>(level.groups) == tokens.size(), "groups divide the experts");
    mean_ = std::accumulate(tokens.begin(), tokens.end(), 0.0) / real_of(level.groups);
    for (std::size_t first = 0; first < tokens.size(); first += each_) {
      const std::span<const double> own = tokens.subspan(first, each_);
      loads_.push_back(std::accumulate(own.begin(), own.end(), 0.0) / mean_);
    }
    add_up();
  }

  [[nodiscard]] std::size_t each() const { return each_; }  ///< experts
  [[nodiscard]] std::size_t fullest() const {
    return static_cast<std::size_t>(std::ranges::max_element(loads_) - loads_.begin());
  }
  [[nodiscard]] double price() const { return price_ * norm(sum_); }
  /// And once so many tokens have moved from the place of one expert to the place of another.
  [[nodiscard]] double price_after(std::size_t from, std::size_t to, double moved) const {
    const double less = loads_[from / each_], more = loads_[to / each_], part = moved / mean_;
    if (from / each_ == to / each_) return price();
    return price_ * norm(sum_ - power(less) - power(more) + power(less - part) + power(more + part));
  }
  void move(std::size_t from, std::size_t to, double moved) {
    loads_[from / each_] -= moved / mean_;
    loads_[to / each_] += moved / mean_;
    add_up();
  }

 private:
  static constexpr double kExponent = 10;
  static double power(double load) {
    const double square = load * load, fourth = square * square;
    return fourth * fourth * square;
  }
  static double norm(double sum) { return std::pow(std::max(sum, 0.0), 1 / kExponent); }
  void add_up() {
    sum_ = 0;
    for (const double load : loads_) sum_ += power(load);
  }

  double price_, mean_ = 0, sum_ = 0;
  std::size_t each_;
  std::vector<double> loads_;
};

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

std::vector<double> swap_experts(std::vector<double> tokens, std::span<const ExpertLevel> levels) {
  const double all = std::accumulate(tokens.begin(), tokens.end(), 0.0);
  std::vector<LevelLoad> loads;
  for (const ExpertLevel& level : levels)
    if (level.groups > 1 && level.price > 0) loads.emplace_back(level, tokens);
  if (loads.empty() || all <= 0) return tokens;
  constexpr double kLess = 1 - 1e-12;  // so that rounding swaps nothing to and fro
  while (true) {
    double best = 0;
    for (const LevelLoad& load : loads) best += load.price();
    best *= kLess;
    std::size_t out = 0, in = 0;
    bool found = false;
    for (const LevelLoad& level : loads) {
      const std::size_t full = level.fullest();
      for (std::size_t mine = full * level.each(); mine < (full + 1) * level.each(); ++mine) {
        for (std::size_t other = 0; other < tokens.size(); ++other) {
          if (other / level.each() == full) continue;
          double price = 0;
          for (const LevelLoad& load : loads) price += load.price_after(mine, other, tokens[mine] - tokens[other]);
          if (price >= best) continue;
          best = price;
          out = mine;
          in = other;
          found = true;
        }
      }
    }
    if (!found) return tokens;
    for (LevelLoad& load : loads) load.move(out, in, tokens[out] - tokens[in]);
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
