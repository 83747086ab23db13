#include "policies/scheduling/configurations.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <tuple>
#include <utility>
#include <vector>

namespace contend {

void ConfigurationProgram::add(std::span<const Configuration> configurations, std::int64_t none) {
  const std::size_t first = configurations_.size();
  configurations_.insert(configurations_.end(), configurations.begin(), configurations.end());
  jobs_.push_back({first, configurations_.size(), none});
}

class ConfigurationSearch {
 public:
  explicit ConfigurationSearch(const ConfigurationProgram& program)
      : capacity_{program.capacity_}, all_{program.configurations_}, jobs_{program.jobs_} {}

  ConfigurationChoice solve(double gap, std::size_t most_states) {
    find_prices();
    improve();
    ConfigurationChoice choice;
    choice.bound = bound_;
    const auto is_close = [&] {
      return static_cast<double>(best_cost_) - bound_ <= gap * std::abs(static_cast<double>(best_cost_));
    };
    choice.is_optimal = static_cast<double>(best_cost_) - bound_ < 1 - kRounding;  // costs are whole numbers
    if (!choice.is_optimal && !is_close()) choice.is_optimal = search(most_states);
    choice.of_job.reserve(jobs_.size());
    for (std::size_t j = 0; j < jobs_.size(); ++j)
      choice.of_job.push_back(best_[j] == kNone ? kNone : best_[j] - static_cast<std::int32_t>(jobs_[j].first));
    choice.cost = best_cost_;
    return choice;
  }

 private:
  using Job = ConfigurationProgram::Job;
  using Choices = std::vector<std::int32_t>;  // by job: index into all_, or kNone
  static constexpr std::int32_t kNone = ConfigurationChoice::kNone;
  static constexpr double kRounding = 1e-6;  // far below a whole cost, far above the rounding of sums of prices

  [[nodiscard]] std::int64_t cost_of(std::size_t job, std::int32_t choice) const {
    return choice == kNone ? jobs_[job].none : all_[static_cast<std::size_t>(choice)].cost;
  }
  [[nodiscard]] double priced(std::size_t job, std::int32_t choice) const {
    if (choice == kNone) return static_cast<double>(jobs_[job].none);
    const Configuration& one = all_[static_cast<std::size_t>(choice)];
    return static_cast<double>(one.cost) + prices_[one.type] * one.gpus;
  }
  /// Calls with each choice of the job that the cluster could hold.
  template <class Call>
  void for_choices(std::size_t job, const Call& call) const {
    for (std::size_t c = jobs_[job].first; c < jobs_[job].last; ++c)
      if (all_[c].gpus <= capacity_[all_[c].type]) call(static_cast<std::int32_t>(c));
    call(kNone);
  }
  [[nodiscard]] std::int32_t cheapest(std::size_t job) const {
    std::int32_t best = kNone;
    double least = std::numeric_limits<double>::infinity();
    for_choices(job, [&](std::int32_t choice) {
      if (const double cost = priced(job, choice); cost < least) {
        least = cost;
        best = choice;
      }
    });
    return best;
  }

  /// Rises and lowers the prices by what is asked for beyond the capacities, in steps that aim at the best cost known
  /// (Polyak, USSR Computational Mathematics 9, 1969) and are halved where the bound stays.
  void find_prices() {
    constexpr int kSteps = 200, kPatience = 8;
    prices_.assign(capacity_.size(), 0);
    best_cost_ = 0;
    best_.assign(jobs_.size(), kNone);
    for (const Job& job : jobs_) best_cost_ += job.none;
    std::vector<double> best_prices = prices_;
    bound_ = -std::numeric_limits<double>::infinity();
    Choices choices(jobs_.size(), kNone);
    double step = 1;
    for (int i = 0, since = 0; i < kSteps; ++i) {
      std::vector<double> excess(capacity_.size());
      double value = 0;
      for (std::size_t t = 0; t < capacity_.size(); ++t) {
        excess[t] = -capacity_[t];
        value -= prices_[t] * capacity_[t];
      }
      for (std::size_t j = 0; j < jobs_.size(); ++j) {
        choices[j] = cheapest(j);
        value += priced(j, choices[j]);
        if (choices[j] != kNone) {
          const Configuration& one = all_[static_cast<std::size_t>(choices[j])];
          excess[one.type] += one.gpus;
        }
      }
      ++since;
      if (value > bound_) {
        bound_ = value;
        best_prices = prices_;
        since = 0;
      }
      if (since == 0 || i % kPatience == 0) repair(choices);
      if (since >= kPatience) {
        step /= 2;
        since = 0;
        prices_ = best_prices;
        continue;
      }
      double norm = 0;
      for (std::size_t t = 0; t < capacity_.size(); ++t)
        if (excess[t] > 0 || prices_[t] > 0) norm += excess[t] * excess[t];
      const double missing = static_cast<double>(best_cost_) - value;
      if (norm == 0 || missing <= 0) break;
      for (std::size_t t = 0; t < capacity_.size(); ++t)
        prices_[t] = std::max(0.0, prices_[t] + step * missing / norm * excess[t]);
    }
    prices_ = best_prices;
  }

  /// A move of a job to another choice, by its cost for each GPU.
  struct Move {
    double rate = 0;
    std::size_t job = 0;
    std::int32_t to = kNone;
  };

  [[nodiscard]] std::vector<int> left_by(const Choices& choices) const {
    std::vector<int> left = capacity_;
    for (const std::int32_t choice : choices)
      if (choice != kNone)
        left[all_[static_cast<std::size_t>(choice)].type] -= all_[static_cast<std::size_t>(choice)].gpus;
    return left;
  }

  /// Makes of the choices some that fit, fills what is left, and keeps them if they are the best so far.
  void repair(Choices choices) {
    std::vector<int> left = left_by(choices);
    for (std::size_t t = 0; t < left.size(); ++t) shrink(choices, left, t);
    fill(choices, left);
    std::int64_t cost = 0;
    for (std::size_t j = 0; j < jobs_.size(); ++j) cost += cost_of(j, choices[j]);
    if (cost >= best_cost_) return;
    best_cost_ = cost;
    best_ = std::move(choices);
  }

  /// Takes GPUs of the type from jobs that lose least by it, until it holds no more than it has.
  void shrink(Choices& choices, std::vector<int>& left, std::size_t type) const {
    while (left[type] < 0) {
      std::vector<Move> moves;
      for (std::size_t j = 0; j < jobs_.size(); ++j) {
        if (choices[j] == kNone || all_[static_cast<std::size_t>(choices[j])].type != type) continue;
        const int has = all_[static_cast<std::size_t>(choices[j])].gpus;
        Move best{std::numeric_limits<double>::infinity(), j, kNone};
        for_choices(j, [&](std::int32_t to) {
          const int gpus = to == kNone || all_[static_cast<std::size_t>(to)].type != type
                               ? 0
                               : all_[static_cast<std::size_t>(to)].gpus;
          if (gpus >= has || !fits_elsewhere(to, type, left)) return;
          const double rate = static_cast<double>(cost_of(j, to) - cost_of(j, choices[j])) / (has - gpus);
          if (rate < best.rate) best = {rate, j, to};
        });
        moves.push_back(best);
      }
      std::ranges::stable_sort(moves, {}, &Move::rate);
      for (const Move& move : moves) {
        if (left[type] >= 0) break;
        if (fits_elsewhere(move.to, type, left)) change(choices, left, move);
      }
    }
  }
  [[nodiscard]] bool fits_elsewhere(std::int32_t to, std::size_t type, const std::vector<int>& left) const {
    if (to == kNone) return true;
    const Configuration& one = all_[static_cast<std::size_t>(to)];
    return one.type == type || one.gpus <= left[one.type];
  }
  void change(Choices& choices, std::vector<int>& left, const Move& move) const {
    std::int32_t& choice = choices[move.job];
    if (choice != kNone)
      left[all_[static_cast<std::size_t>(choice)].type] += all_[static_cast<std::size_t>(choice)].gpus;
    choice = move.to;
    if (choice != kNone)
      left[all_[static_cast<std::size_t>(choice)].type] -= all_[static_cast<std::size_t>(choice)].gpus;
  }

  /// Jobs take GPUs that are left, those that gain most for each GPU first, until none gains.
  void fill(Choices& choices, std::vector<int>& left) const {
    constexpr int kRounds = 20;
    for (int round = 0; round < kRounds; ++round) {
      std::vector<Move> moves;
      for (std::size_t j = 0; j < jobs_.size(); ++j) {
        Move best{0, j, kNone};
        for_choices(j, [&](std::int32_t to) {
          if (to == kNone || !has_room(choices[j], to, left)) return;
          const double gain = static_cast<double>(cost_of(j, choices[j]) - cost_of(j, to));
          const double rate = gain / all_[static_cast<std::size_t>(to)].gpus;
          if (rate > best.rate) best = {rate, j, to};
        });
        if (best.rate > 0) moves.push_back(best);
      }
      if (moves.empty()) return;
      std::ranges::stable_sort(moves, std::ranges::greater{}, &Move::rate);
      for (const Move& move : moves)
        if (has_room(choices[move.job], move.to, left)) change(choices, left, move);
    }
  }
  [[nodiscard]] bool has_room(std::int32_t from, std::int32_t to, const std::vector<int>& left) const {
    const Configuration& one = all_[static_cast<std::size_t>(to)];
    int room = left[one.type];
    if (from != kNone && all_[static_cast<std::size_t>(from)].type == one.type)
      room += all_[static_cast<std::size_t>(from)].gpus;
    return one.gpus <= room;
  }

  /// Fills the GPUs that the best choice leaves.
  void improve() { repair(best_); }

  /// GPUs left of each type, in one number, and the least cost above the bound with which a choice for the jobs so far
  /// leaves so many.
  struct State {
    std::uint64_t left = 0;
    double excess = 0;
    std::uint32_t parent = 0;
    std::int32_t choice = kNone;
  };

  /// Looks for a better choice among those whose cost at the prices is above the bound by no more than a budget, which
  /// doubles until one is found or none can be left. Returns false if it had to drop some that might be better.
  bool search(std::size_t most_states) {
    std::vector<std::uint64_t> scale;
    if (!find_scale(scale)) return false;
    for (double budget = 1;; budget *= 2) {
      const double most = static_cast<double>(best_cost_) - bound_ - 1 + kRounding;  // only whole improvements count
      const std::int64_t before = best_cost_;
      if (!search_within(std::min(budget, most), scale, most_states)) return false;
      if (best_cost_ < before || budget >= most) return true;
    }
  }

  bool search_within(double budget, const std::vector<std::uint64_t>& scale, std::size_t most_states) {
    std::vector<std::size_t> open;  // jobs with several choices within the budget
    std::vector<std::vector<std::pair<double, std::int32_t>>> choices;
    std::vector<int> start = capacity_;
    Choices found(jobs_.size(), kNone);
    for (std::size_t j = 0; j < jobs_.size(); ++j) {
      found[j] = cheapest(j);
      const double least = priced(j, found[j]);
      std::vector<std::pair<double, std::int32_t>> within;
      for_choices(j, [&](std::int32_t choice) {
        if (const double excess = priced(j, choice) - least; excess <= budget) within.emplace_back(excess, choice);
      });
      if (within.size() > 1) {
        open.push_back(j);
        choices.push_back(std::move(within));
      } else if (found[j] != kNone) {
        start[all_[static_cast<std::size_t>(found[j])].type] -= all_[static_cast<std::size_t>(found[j])].gpus;
      }
    }
    if (std::ranges::any_of(start, [](int left) { return left < 0; })) return true;  // nothing as cheap fits
    return walk(open, choices, start, scale, budget, found, most_states);
  }

  bool find_scale(std::vector<std::uint64_t>& scale) const {
    std::uint64_t all = 1;
    for (const int gpus : capacity_) {
      scale.push_back(all);
      const auto steps = static_cast<std::uint64_t>(gpus) + 1;
      if (all > std::numeric_limits<std::uint64_t>::max() / 2 / steps) return false;
      all *= steps;
    }
    return true;
  }
  [[nodiscard]] int left_of(std::uint64_t left, std::size_t type, const std::vector<std::uint64_t>& scale) const {
    return static_cast<int>(left / scale[type] % (static_cast<std::uint64_t>(capacity_[type]) + 1));
  }

  bool walk(const std::vector<std::size_t>& open,
            const std::vector<std::vector<std::pair<double, std::int32_t>>>& choices, const std::vector<int>& start,
            const std::vector<std::uint64_t>& scale, double budget, Choices& found, std::size_t most_states) {
    // What a type leaves unused costs its price, so the most that later jobs can take bounds a state from below.
    std::vector<std::vector<int>> most_later(open.size() + 1, std::vector<int>(capacity_.size()));
    for (std::size_t i = open.size(); i-- > 0;) {
      most_later[i] = most_later[i + 1];
      std::vector<int> most(capacity_.size());
      for (const auto& [excess, choice] : choices[i])
        if (choice != kNone) {
          const Configuration& one = all_[static_cast<std::size_t>(choice)];
          most[one.type] = std::max(most[one.type], one.gpus);
        }
      for (std::size_t t = 0; t < most.size(); ++t) most_later[i][t] += most[t];
    }
    std::vector<std::vector<State>> layers(1);
    State first;
    for (std::size_t t = 0; t < start.size(); ++t) first.left += scale[t] * static_cast<std::uint64_t>(start[t]);
    layers[0].push_back(first);
    const auto unused = [&](std::uint64_t left, std::size_t layer) {
      double cost = 0;
      for (std::size_t t = 0; t < capacity_.size(); ++t)
        cost += prices_[t] * std::max(0, left_of(left, t, scale) - most_later[layer][t]);
      return cost;
    };
    bool is_complete = true;
    for (std::size_t i = 0; i < open.size(); ++i) {
      std::vector<State> next;
      for (std::uint32_t parent = 0; parent < layers[i].size(); ++parent) {
        const State& state = layers[i][parent];
        for (const auto& [more, choice] : choices[i]) {
          State made{state.left, state.excess + more, parent, choice};
          if (choice != kNone) {
            const Configuration& one = all_[static_cast<std::size_t>(choice)];
            if (one.gpus > left_of(state.left, one.type, scale)) continue;
            made.left -= scale[one.type] * static_cast<std::uint64_t>(one.gpus);
          }
          if (made.excess + unused(made.left, i + 1) <= budget) next.push_back(made);
        }
      }
      keep_best(next);
      if (next.size() > most_states) {
        is_complete = false;
        std::ranges::stable_sort(next, {}, [&](const State& s) { return s.excess + unused(s.left, i + 1); });
        next.resize(most_states);
        std::ranges::sort(next, {}, &State::left);
      }
      layers.push_back(std::move(next));
    }
    take_best(open, layers, found, [&](std::uint64_t left) { return unused(left, open.size()); });
    return is_complete;
  }

  /// One state for each number of GPUs left; of equally good ones the first.
  static void keep_best(std::vector<State>& states) {
    std::ranges::stable_sort(states, {}, [](const State& s) { return std::tuple{s.left, s.excess}; });
    const auto same = [](const State& a, const State& b) { return a.left == b.left; };
    states.erase(std::unique(states.begin(), states.end(), same), states.end());
  }

  template <class Unused>
  void take_best(const std::vector<std::size_t>& open, const std::vector<std::vector<State>>& layers, Choices& found,
                 const Unused& unused) {
    if (layers.back().empty()) return;
    const auto end =
        std::ranges::min_element(layers.back(), {}, [&](const State& s) { return s.excess + unused(s.left); });
    auto at = static_cast<std::size_t>(end - layers.back().begin());
    for (std::size_t i = open.size(); i-- > 0;) {
      const State& state = layers[i + 1][at];
      found[open[i]] = state.choice;
      at = state.parent;
    }
    std::int64_t cost = 0;
    for (std::size_t j = 0; j < jobs_.size(); ++j) cost += cost_of(j, found[j]);
    if (cost >= best_cost_) return;
    best_cost_ = cost;
    best_ = found;
  }

  const std::vector<int>& capacity_;
  const std::vector<Configuration>& all_;
  const std::vector<Job>& jobs_;
  std::vector<double> prices_;
  double bound_ = 0;
  Choices best_;
  std::int64_t best_cost_ = 0;
};

ConfigurationChoice ConfigurationProgram::solve(double gap, std::size_t most_states) const {
  return ConfigurationSearch{*this}.solve(gap, most_states);
}

}  // namespace contend
