#include "network/routing/planning.hpp"

#include "network/routing/beats.hpp"
#include "network/routing/priority_levels.hpp"
#include "network/routing/shortest_paths.hpp"
#include "sim/check.hpp"

#include <algorithm>
#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <numeric>
#include <optional>
#include <set>
#include <utility>

namespace contend {

namespace {

constexpr int kTries = 32;  // random orders of jobs, of which the best levels are taken

/// How full the links of a path are, the fullest first.
using Fullness = std::vector<double>;

class PlanningRouter final : public Router {
 public:
  PlanningRouter(const Topology& topology, PlanningOptions options, std::shared_ptr<const ReservedSpines> reserved)
      : options_{options}, paths_{topology}, load_(topology.links().size(), 0), reserved_{std::move(reserved)} {
    if (!reserved_) return;
    const std::optional<ClosFabric> fabric = clos_of(topology);
    if (!fabric) return;
    is_spine_.assign(topology.nodes().size(), false);
    for (const NodeId spine : fabric->spines) is_spine_[spine.index()] = true;
  }

  void route(NodeId from, NodeId to, std::uint64_t label, Route& route) const override {
    const RoutedFlow flow{from, to, label, 1};
    route_together({&flow, 1}, routes_);
    route = routes_.front();
  }

  void route_together(std::span<const RoutedFlow> flows, std::vector<Route>& routes) const override {
    routes.assign(flows.size(), {});
    std::vector<Connection> others;
    std::vector<std::size_t> places;
    for (std::size_t i = 0; i < flows.size(); ++i) {
      if (const std::vector<LinkId>* const path = announced(flows[i])) {
        follow(*path, routes[i]);
      } else {
        others.push_back({flows[i].from, flows[i].to, flows[i].bytes, {}});
        places.push_back(i);
      }
    }
    if (others.empty()) return;
    const std::vector<double> load = load_;
    choose_paths(others, nullptr);
    load_ = load;
    for (std::size_t i = 0; i < places.size(); ++i) follow(others[i].path, routes[places[i]]);
  }
  [[nodiscard]] bool plans_together() const override { return true; }

  void set_link_up(LinkId link, bool up) override {
    paths_.set_link_up(link, up);
    is_stale_ = true;
  }

  [[nodiscard]] bool plans_ahead() const override { return true; }

  void enter(const RoutedJob& traffic) override {
    leave(traffic.label);
    Job job{traffic.label, traffic.work_s};
    for (const RoutedFlow& flow : traffic.flows) job.connections.push_back({flow.from, flow.to, flow.bytes, {}});
    std::ranges::sort(job.connections, {}, &Connection::ends);
    if (reserved_)
      if (const auto own = reserved_->of_job.find(job.label); own != reserved_->of_job.end()) job.spines = own->second;
    job.intensity = intensity_alone(job);
    jobs_.push_back(std::move(job));
    ++age_[traffic.label];
    if (options_.order == PlanningOrder::intensity) {
      is_stale_ = true;
    } else {
      choose_paths(jobs_.back().connections, &jobs_.back().spines);
    }
    find_levels();
  }

  void leave(std::uint64_t label) override {
    const auto job = std::ranges::find(jobs_, label, &Job::label);
    if (job == jobs_.end()) return;
    jobs_.erase(job);
    add_up();
    if (options_.order == PlanningOrder::intensity) is_stale_ = true;
    find_levels();
    find_beats();
  }

  [[nodiscard]] bool shifts_iterations() const override { return options_.shifts; }
  void pace(std::uint64_t label, Time iteration, Time communication) override {
    const auto job = std::ranges::find(jobs_, label, &Job::label);
    CONTEND_CHECK(job != jobs_.end(), "a job enters before its pace is known");
    job->iteration = iteration;
    job->communication = communication;
    find_beats();
  }
  [[nodiscard]] std::optional<Beat> beat(std::uint64_t label) const override {
    const Job* const job = find(label);
    return job == nullptr ? std::nullopt : job->beat;
  }

  void plan() override {
    if (!std::exchange(is_stale_, false)) return;
    std::vector<Job*> order;
    for (Job& job : jobs_) order.push_back(&job);
    if (options_.order == PlanningOrder::intensity)
      std::ranges::stable_sort(order, [](const Job* a, const Job* b) { return a->intensity > b->intensity; });
    std::ranges::fill(load_, 0);
    for (Job* const job : order) {
      std::vector<std::vector<LinkId>> before;
      for (const Connection& each : job->connections) before.push_back(each.path);
      choose_paths(job->connections, &job->spines);
      const bool is_same = std::ranges::equal(job->connections, before, {}, &Connection::path);
      if (!is_same) ++age_[job->label];
    }
    find_levels();
    find_beats();
  }

  [[nodiscard]] int level(std::uint64_t label) const override {
    const Job* const job = find(label);
    return job == nullptr ? 0 : job->level;
  }
  [[nodiscard]] std::uint64_t age(std::uint64_t label) const override {
    const auto found = age_.find(label);
    return found == age_.end() ? 0 : found->second;
  }

 private:
  struct Connection {
    NodeId from, to;
    double bytes = 0;
    std::vector<LinkId> path;
    [[nodiscard]] std::pair<NodeId, NodeId> ends() const { return {from, to}; }
  };
  struct Job {
    std::uint64_t label = 0;
    double work_s = 0;
    double intensity = 0;
    std::vector<Connection> connections{};  // in order of ends
    std::vector<NodeId> spines{};           // that it has to itself, in order of id; empty: it uses all
    int level = 0;
    Time iteration{}, communication{};
    std::optional<Beat> beat{};
  };

  [[nodiscard]] const Job* find(std::uint64_t label) const {
    const auto job = std::ranges::find(jobs_, label, &Job::label);
    return job == jobs_.end() ? nullptr : &*job;
  }

  /// The path that a job has chosen for the flow; nullptr if it has announced none.
  [[nodiscard]] const std::vector<LinkId>* announced(const RoutedFlow& flow) const {
    const Job* const job = find(flow.label);
    if (job == nullptr) return nullptr;
    const std::pair ends{flow.from, flow.to};
    const auto at = std::ranges::lower_bound(job->connections, ends, {}, &Connection::ends);
    return at != job->connections.end() && at->ends() == ends ? &at->path : nullptr;
  }

  void follow(const std::vector<LinkId>& path, Route& route) const {
    for (const LinkId link : path) {
      route.links.push_back({link, 1});
      route.latency += paths_.topology().links()[link.index()].latency;
    }
    std::ranges::sort(route.links, {}, &LinkShare::link);
  }

  [[nodiscard]] double rate(LinkId link) const {
    return paths_.topology().links()[link.index()].bandwidth.bytes_per_second();
  }

  /// Of the shortest paths the one whose fullest link is emptiest with these bytes; of equals the one whose next link
  /// is, and so on, and at last the one with the first links. Empty if there is none.
  [[nodiscard]] std::vector<LinkId> best_path(NodeId from, NodeId to, double bytes) const {
    if (!paths_.aim(from, to)) return {};
    BestWays best;
    find_best({from, false}, to, bytes, best);
    std::vector<LinkId> path;
    for (Stage at{from, false}; at.first != to; at = after(at, path.back())) path.push_back(best.at(at).second);
    return path;
  }

  using Stage = std::pair<NodeId, bool>;  // a node, and whether the path has gone down before
  using BestWays = std::map<Stage, std::pair<Fullness, LinkId>>;

  [[nodiscard]] Stage after(const Stage& stage, LinkId link) const {
    return {paths_.topology().links()[link.index()].to, stage.second || paths_.goes_down(link)};
  }

  const Fullness& find_best(const Stage& at, NodeId to, double bytes, BestWays& best) const {
    const auto [found, is_new] = best.try_emplace(at);
    if (!is_new || at.first == to) return found->second.first;
    const auto next = paths_.next(at.first, at.second);
    const std::vector<LinkId> links(next.begin(), next.end());  // the span lasts until the next call
    std::pair<Fullness, LinkId> least;
    for (const LinkId link : links) {
      Fullness way = find_best(after(at, link), to, bytes, best);
      const double here = is_forbidden(paths_.topology().links()[link.index()].to)
                              ? std::numeric_limits<double>::infinity()
                              : (load_[link.index()] + bytes) / rate(link);
      way.insert(std::ranges::lower_bound(way, here, std::greater<>{}), here);
      if (!least.second.valid() || way < least.first) least = {std::move(way), link};
    }
    return (best[at] = std::move(least)).first;
  }

  /// True if the job that chooses has spines of its own and this one isn't among them. Its links then are as if they
  /// were full, so that it goes there where nothing else is left.
  [[nodiscard]] bool is_forbidden(NodeId node) const {
    if (own_ == nullptr || own_->empty() || is_spine_.empty() || !is_spine_[node.index()]) return false;
    return !std::ranges::binary_search(*own_, node);
  }

  /// Chooses the paths of connections that send together, the largest first, and adds their load. `own` are the spines
  /// that they have to themselves, if any.
  void choose_paths(std::vector<Connection>& connections, const std::vector<NodeId>* own) const {
    own_ = own;
    std::vector<Connection*> order;
    for (Connection& each : connections) order.push_back(&each);
    std::ranges::stable_sort(order, [](const Connection* a, const Connection* b) { return a->bytes > b->bytes; });
    for (Connection* const each : order) {
      each->path = best_path(each->from, each->to, each->bytes);
      for (const LinkId link : each->path) load_[link.index()] += each->bytes;
    }
    own_ = nullptr;
  }

  /// Work over the time of the fullest link if the job is alone: infinite for a job that doesn't communicate.
  [[nodiscard]] double intensity_alone(Job job) const {
    const std::vector<double> others = std::exchange(load_, std::vector<double>(load_.size(), 0));
    choose_paths(job.connections, &job.spines);
    double longest_s = 0;
    for (std::size_t l = 0; l < load_.size(); ++l) longest_s = std::max(longest_s, load_[l] / rate(LinkId{l}));
    load_ = others;
    return longest_s > 0 ? job.work_s / longest_s : std::numeric_limits<double>::infinity();
  }

  void add_up() {
    std::ranges::fill(load_, 0);
    for (const Job& job : jobs_)
      for (const Connection& each : job.connections)
        for (const LinkId link : each.path) load_[link.index()] += each.bytes;
  }

  void find_levels() {
    if (options_.levels <= 1) return;
    std::vector<std::size_t> by_priority(jobs_.size());
    std::iota(by_priority.begin(), by_priority.end(), std::size_t{0});
    std::ranges::stable_sort(by_priority,
                             [&](std::size_t a, std::size_t b) { return jobs_[a].intensity > jobs_[b].intensity; });
    std::map<LinkId, std::vector<std::size_t>> on_link;  // places in by_priority, ascending
    for (std::size_t i = 0; i < by_priority.size(); ++i) {
      for (const Connection& each : jobs_[by_priority[i]].connections) {
        for (const LinkId link : each.path) {
          std::vector<std::size_t>& jobs = on_link[link];
          if (jobs.empty() || jobs.back() != i) jobs.push_back(i);
        }
      }
    }
    std::set<std::pair<std::size_t, std::size_t>> pairs;
    for (const auto& [link, jobs] : on_link)
      for (std::size_t a = 0; a < jobs.size(); ++a)
        for (std::size_t b = a + 1; b < jobs.size(); ++b) pairs.emplace(jobs[a], jobs[b]);
    std::vector<JobConflict> conflicts;
    for (const auto& [a, b] : pairs) conflicts.push_back({a, b, jobs_[by_priority[a]].intensity});
    const PriorityLevels found = priority_levels(jobs_.size(), conflicts, options_.levels, kTries, 1);
    for (std::size_t i = 0; i < by_priority.size(); ++i) {
      Job& job = jobs_[by_priority[i]];
      if (std::exchange(job.level, found.level[i]) != found.level[i]) ++age_[job.label];
    }
  }

  void find_beats() {
    if (!options_.shifts) return;
    std::vector<SendingJob> sending;
    for (const Job& job : jobs_) {
      std::map<LinkId, double> bytes;
      for (const Connection& each : job.connections)
        for (const LinkId link : each.path) bytes[link] += each.bytes;
      sending.push_back({job.iteration, job.communication, {bytes.begin(), bytes.end()}});
    }
    const auto beats = plan_beats(sending, [this](LinkId link) { return rate(link); });
    for (std::size_t j = 0; j < jobs_.size(); ++j) jobs_[j].beat = beats[j];
  }

  PlanningOptions options_;
  mutable ShortestPaths paths_;        // a cache
  mutable std::vector<Route> routes_;  // scratch
  mutable std::vector<double> load_;   // by link: bytes of an iteration of each job
  std::shared_ptr<const ReservedSpines> reserved_;
  std::vector<bool> is_spine_;                        // by node; empty if nothing is reserved
  mutable const std::vector<NodeId>* own_ = nullptr;  // of those who choose now
  std::vector<Job> jobs_;                             // in order of entering
  std::map<std::uint64_t, std::uint64_t> age_;
  bool is_stale_ = false;  // all paths are to be chosen again
};

}  // namespace

std::unique_ptr<Router> make_planning_router(const Topology& topology, PlanningOptions options,
                                             std::shared_ptr<const ReservedSpines> reserved) {
  CONTEND_CHECK(options.levels >= 1 && options.levels <= kMostPriorityLevels, "there is a level of priority");
  return std::make_unique<PlanningRouter>(topology, options, std::move(reserved));
}

}  // namespace contend
