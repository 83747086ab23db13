#include "network/collectives/on_servers.hpp"

#include "network/collectives/choice.hpp"
#include "sim/check.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace contend {

namespace {

bool is_tree(CollectiveKind kind) {
  return kind == CollectiveKind::reduce || kind == CollectiveKind::broadcast;
}

CollectiveShape shape_of(const CollectiveAlgorithm& algorithm, const RanksOnServers& on) {
  CollectiveShape shape;
  const bool several = on.servers > 1 && on.per_server > 1;
  shape.ranks = several && algorithm.on_servers != OnServers::around ? on.servers * on.per_server : on.ranks;
  if (several && algorithm.on_servers == OnServers::levels) shape.groups = {on.per_server, on.servers};
  return shape;
}

CollectiveCosts costs_of(const RanksOnServers& on, const ServerLinks& links) {
  CollectiveCosts costs;
  costs.gamma = links.gamma;
  if (on.per_server == 1 || on.servers == 1) {
    costs.flat = on.servers == 1 && on.per_server > 1 ? links.inside : links.between;
    return costs;
  }
  costs.flat = {std::max(links.inside.alpha, links.between.alpha), std::max(links.inside.beta, links.between.beta)};
  costs.levels = {links.inside, {links.between.alpha, links.between.beta * on.per_server}};
  costs.leaders = {links.inside, links.between};
  costs.hops.assign(static_cast<std::size_t>(on.ranks), links.inside.alpha);
  for (std::int64_t server = 1; server <= on.servers; ++server)
    costs.hops[static_cast<std::size_t>(server * on.ranks / on.servers - 1)] = links.between.alpha;
  return costs;
}

/// The bytes that cross each link in one step, each way, and those that a rank reduces.
class StepLoad {
 public:
  StepLoad(int ranks, int per_server)
      : per_server_{per_server},
        out_(static_cast<std::size_t>(ranks)),
        in_(out_),
        reduced_(out_),
        leaving_(static_cast<std::size_t>(ranks / per_server)),
        entering_(leaving_) {}

  void add(const Send& send) {
    const auto from = static_cast<std::size_t>(send.from), to = static_cast<std::size_t>(send.to);
    const auto bytes = static_cast<double>(send.range.bytes);
    const std::size_t source = from / static_cast<std::size_t>(per_server_);
    const std::size_t target = to / static_cast<std::size_t>(per_server_);
    if (source == target) {
      most(inside_, out_[from] += bytes);
      most(inside_, in_[to] += bytes);
    } else {
      most(between_, leaving_[source] += bytes);
      most(between_, entering_[target] += bytes);
    }
    if (send.reduced) most(adding_, reduced_[to] += bytes);
  }
  /// The step alone: a start-up, and the time of its bytes.
  [[nodiscard]] LinkCost cost(const ServerLinks& links) const {
    LinkCost cost;
    if (inside_ > 0) cost = links.inside;
    cost.beta *= inside_;
    if (between_ > 0)
      cost = {std::max(cost.alpha, links.between.alpha), std::max(cost.beta, between_ * links.between.beta)};
    cost.beta += adding_ * links.gamma;
    return cost;
  }

 private:
  static void most(double& largest, double value) { largest = std::max(largest, value); }

  int per_server_;
  std::vector<double> out_, in_, reduced_;  // by rank
  std::vector<double> leaving_, entering_;  // by server
  double inside_ = 0, between_ = 0, adding_ = 0;
};

}  // namespace

const CollectiveAlgorithm& usual_algorithm(CollectiveKind kind) {
  const std::string_view name = is_tree(kind) ? "binomial-tree" : auto_candidates(kind).front();
  return find_collective_algorithm(name, kind);
}

CollectiveOnServers::CollectiveOnServers(const CollectiveAlgorithm& named, CollectiveKind kind,
                                         const RanksOnServers& on, const ServerLinks& links)
    : algorithm_{&named}, kind_{kind}, on_{on}, links_{links}, costs_{costs_of(on, links)} {
  CONTEND_CHECK(
      on.servers >= 1 && on.per_server >= 1 && on.servers <= on.ranks && on.ranks <= on.servers * on.per_server,
      "the ranks have room on their servers");
  const bool fits = supports(named, kind) && !is_tree(kind) && named.refusal(kind, shape_of(named, on)).empty();
  if (!fits) algorithm_ = &usual_algorithm(kind);
  shape_ = shape_of(*algorithm_, on);
  // A row may pipeline some kinds only, and then says one chunk for the others, however large they are.
  constexpr double kLarge = 0x1p50;
  pipelined_ =
      on.ranks > 1 && algorithm_->best_chunks != nullptr && algorithm_->best_chunks(kind, shape_, kLarge, {1, 1}) > 1;
}

LinkCost CollectiveOnServers::counted(int chunks) const {
  CollectiveShape shape = shape_;
  shape.chunks = chunks;
  // So many bytes that all parts of them are whole: of n ranks, of the chunks, and of up to 2^20 halves.
  const Bytes bytes{(std::int64_t{1} << 20) * shape.ranks * chunks};
  const CollectiveSchedule schedule = expand_collective(*algorithm_, kind_, shape, bytes, StepForm::steady);
  LinkCost sum;
  for (const Step& step : schedule.steps) {
    StepLoad load{shape.ranks, on_.per_server};
    for (const Send& send : step.sends) load.add(send);
    const LinkCost one = load.cost(links_);
    sum.alpha += static_cast<double>(step.repeat) * one.alpha;
    sum.beta += static_cast<double>(step.repeat) * one.beta / bytes.to_double();
  }
  return sum;
}

const LinkCost& CollectiveOnServers::with_chunks(int chunks) const {
  const std::lock_guard lock{lines_->mutex};
  const auto [known, is_new] = lines_->by_chunks.try_emplace(chunks);
  if (!is_new) return known->second;
  if (on_.servers > 1 && on_.per_server > 1 && algorithm_->on_servers == OnServers::counted) {
    known->second = counted(chunks);
  } else {
    CollectiveShape shape = shape_;
    shape.chunks = chunks;
    known->second = algorithm_->closed_form(kind_, shape, costs_);
  }
  return known->second;
}

LinkCost CollectiveOnServers::line(Bytes bytes) const {
  if (on_.ranks < 2) return {};
  return with_chunks(pipelined() ? best_chunks(*algorithm_, kind_, shape_, bytes, costs_.flat) : 1);
}

LinkCost CollectiveOnServers::least() const {
  if (on_.ranks < 2) return {};
  // More chunks never start sooner, and never send a byte in more time.
  return pipelined() ? LinkCost{with_chunks(1).alpha, with_chunks(kMostChunks).beta} : with_chunks(1);
}

}  // namespace contend
