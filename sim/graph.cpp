#include "sim/graph.hpp"

#include "sim/check.hpp"
#include "sim/error.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include <fmt/core.h>

namespace contend {

namespace {

constexpr std::pair<std::string_view, CollectiveKind> kCollectiveNames[] = {
    {"all-reduce", CollectiveKind::all_reduce}, {"reduce-scatter", CollectiveKind::reduce_scatter},
    {"all-gather", CollectiveKind::all_gather}, {"broadcast", CollectiveKind::broadcast},
    {"reduce", CollectiveKind::reduce},         {"all-to-all", CollectiveKind::all_to_all},
    {"exchange", CollectiveKind::exchange}};

constexpr std::string_view kLaneNames[] = {"compute", "host", "copy-in", "copy-out"};
constexpr std::string_view kStreamName = "stream-";

[[noreturn]] void bad_graph(const std::string& reason) {
  throw InputError{"iteration graph: " + reason};
}

}  // namespace

std::string_view name_of(CollectiveKind kind) {
  for (const auto& [name, named] : kCollectiveNames)
    if (named == kind) return name;
  check_failed(__FILE__, __LINE__, "a kind of collective", "unknown");
}

std::string name_of(Lane lane) {
  if (!is_stream(lane)) return std::string{kLaneNames[static_cast<std::size_t>(lane)]};
  return fmt::format("{}{}", kStreamName, static_cast<int>(lane) - static_cast<int>(Lane::stream));
}

std::optional<Lane> lane_named(std::string_view name) {
  for (int i = 0; i < static_cast<int>(Lane::stream) + kMostStreams; ++i)
    if (name_of(static_cast<Lane>(i)) == name) return static_cast<Lane>(i);
  return std::nullopt;
}

RankLists::RankLists(std::vector<std::vector<int>> groups) : groups_{std::move(groups)} {
  for (std::size_t g = 0; g < groups_.size(); ++g) {
    if (groups_[g].empty()) bad_graph("a group of ranks is empty");
    most_ = std::max(most_, static_cast<int>(groups_[g].size()));
    for (const int rank : groups_[g]) {
      if (rank < 0) bad_graph(fmt::format("a group has rank {}", rank));
      const auto index = static_cast<std::size_t>(rank);
      if (of_.size() <= index) of_.resize(index + 1, -1);
      if (of_[index] >= 0) bad_graph(fmt::format("rank {} is in two groups of a collective, or in one twice", rank));
      of_[index] = static_cast<int>(g);
    }
  }
}

bool operator==(const RankGroups& a, const RankGroups& b) {
  if (a.lists && b.lists) return a.lists == b.lists || *a.lists == *b.lists;
  return !a.lists && !b.lists && a.stride == b.stride && a.size == b.size;
}

RoleId IterationGraph::add_role(std::string name, int ranks) {
  roles_.push_back({std::move(name), ranks});
  return RoleId{roles_.size() - 1};
}

OpId IterationGraph::add(Op op) {
  ops_.push_back(std::move(op));
  return OpId{ops_.size() - 1};
}

OpId IterationGraph::add_compute(std::string name, RoleId role, Time duration) {
  Op op;
  op.name = std::move(name);
  op.role = role;
  op.duration = duration;
  return add(std::move(op));
}

OpId IterationGraph::add_timer(std::string name, RoleId role, Time duration) {
  const OpId op = add_compute(std::move(name), role, duration);
  ops_[op.index()].kind = OpKind::timer;
  return op;
}

OpId IterationGraph::add_task(std::string name, RoleId role, Time duration, Lane lane) {
  const OpId op = add_compute(std::move(name), role, duration);
  ops_[op.index()].lane = lane;
  if (lane != Lane::compute) ops_[op.index()].kind = OpKind::task;
  return op;
}

OpId IterationGraph::add_collective(std::string name, CollectiveKind kind, RoleId role, Bytes bytes,
                                    CollectiveScope scope) {
  Op op;
  op.name = std::move(name);
  op.kind = OpKind::collective;
  op.collective = kind;
  op.scope = scope;
  op.role = role;
  op.bytes = bytes;
  return add(std::move(op));
}

OpId IterationGraph::add_collective(std::string name, CollectiveKind kind, RoleId role, Bytes bytes,
                                    RankGroups groups) {
  const OpId op = add_collective(std::move(name), kind, role, bytes, CollectiveScope::groups);
  ops_[op.index()].groups = std::move(groups);
  return op;
}

OpId IterationGraph::add_message(std::string name, RoleId from, RoleId to, Bytes bytes) {
  Op op;
  op.name = std::move(name);
  op.kind = OpKind::message;
  op.role = from;
  op.peer = to;
  op.bytes = bytes;
  return add(std::move(op));
}

OpId IterationGraph::add_joint_message(std::string name, RoleId from, RoleId to, Bytes bytes) {
  const OpId op = add_message(std::move(name), from, to, bytes);
  ops_[op.index()].joint = true;
  return op;
}

ChannelId IterationGraph::add_channel(std::string name, int messages, Bytes window) {
  channels_.push_back({std::move(name), messages, window});
  return ChannelId{channels_.size() - 1};
}

CounterId IterationGraph::add_counter(std::string name, bool shared) {
  counters_.push_back({std::move(name), shared});
  return CounterId{counters_.size() - 1};
}

OpId IterationGraph::add_post(std::string name, RoleId role, CounterId counter, std::int64_t amount) {
  Op op;
  op.name = std::move(name);
  op.kind = OpKind::post;
  op.role = role;
  op.counter = counter;
  op.amount = amount;
  const OpId post = add(std::move(op));
  add_dependency(post, post, 1);
  return post;
}

OpId IterationGraph::add_await(std::string name, RoleId role, CounterId counter, std::int64_t amount,
                               std::int64_t bound) {
  Op op;
  op.name = std::move(name);
  op.kind = OpKind::await;
  op.role = role;
  op.counter = counter;
  op.amount = amount;
  op.bound = bound;
  return add(std::move(op));
}

void IterationGraph::put_into(ChannelId channel, OpId op, std::int32_t priority) {
  ops_[op.index()].channel = channel;
  ops_[op.index()].priority = priority;
}

IterationGraph IterationGraph::without_operations() const {
  IterationGraph graph;
  graph.roles_ = roles_;
  graph.channels_ = channels_;
  graph.counters_ = counters_;
  graph.in_flight_ = in_flight_;
  graph.left_out_ = left_out_;
  return graph;
}

IterationGraph IterationGraph::with_ranks(int ranks) const {
  IterationGraph graph = *this;
  for (Role& role : graph.roles_) {
    role.ranks = ranks;
    role.late = 0;
    role.patience.reset();
  }
  return graph;
}

IterationGraph IterationGraph::with_compute_times(double factor) const {
  IterationGraph graph = *this;
  for (Op& op : graph.ops_) {
    if (!op.runs_on_lane() || (op.lane != Lane::compute && !is_stream(op.lane))) continue;
    const double ns = static_cast<double>(op.duration.ns()) * factor;
    op.duration = Time::nanoseconds(static_cast<std::int64_t>(std::llround(ns)));
  }
  return graph;
}

void IterationGraph::add_dependency(OpId before, OpId after, int lag) {
  dependencies_.push_back({before, after, lag});
}

void IterationGraph::put_into_round(std::int32_t round, std::size_t from) {
  for (std::size_t i = from; i < ops_.size(); ++i) ops_[i].round = round;
}

int IterationGraph::ranks() const {
  return std::accumulate(roles_.begin(), roles_.end(), 0, [](int sum, const Role& role) { return sum + role.ranks; });
}

int IterationGraph::ranks_of(const Op& op) const {
  int ranks = 0;
  for (std::size_t i = 0; i < static_cast<std::size_t>(op.roles); ++i) ranks += roles_[op.role.index() + i].ranks;
  return ranks;
}

OpId IterationGraph::last_compute() const {
  OpId last = OpId::none();
  for (std::size_t i = 0; i < ops_.size(); ++i) {
    const Op& op = ops_[i];
    if (op.kind == OpKind::compute && op.role == RoleId{0U} && op.phase == kEveryPhase) last = OpId{i};
  }
  return last;
}

Time IterationGraph::compute_per_rank(RoleId role, std::size_t phase) const {
  Time total;
  for (const Op& op : ops_) {
    if (op.kind == OpKind::compute && op.role == role && op.is_in(phase)) total += op.duration * often(op);
  }
  return total;
}

GpuTime IterationGraph::compute_total(std::size_t phase) const {
  GpuTime total;
  for (const Op& op : ops_) {
    if (op.kind == OpKind::compute && op.is_in(phase))
      total += GpuTime{op.duration, roles_[op.role.index()].ranks} * often(op);
  }
  return total;
}

void IterationGraph::validate() const {
  if (ops_.empty()) bad_graph("it has no operation");
  for (const Role& role : roles_) {
    if (role.ranks < 1) bad_graph("role `" + role.name + "` needs at least one rank");
  }
  for (const Channel& channel : channels_) {
    if (channel.messages < 1 || channel.window < Bytes{1}) bad_graph("channel `" + channel.name + "` has no room");
  }
  if (in_flight_ < kUsuallyInFlight || in_flight_ > kMostInFlight)
    bad_graph(fmt::format("{} iterations in flight are not {} to {}", in_flight_, kUsuallyInFlight, kMostInFlight));
  for (const Op& op : ops_) validate_operation(op);
  for (std::size_t phase = 0; phase < phases_.count(); ++phase) {
    if (std::ranges::none_of(ops_, [&](const Op& op) { return op.is_in(phase); }))
      bad_graph("a phase has no operation");
  }
  validate_counters();
  validate_order();
  if (std::ranges::any_of(roles_, [](const Role& role) { return role.late != 0; })) validate_late();
}

void IterationGraph::validate_roles(const Op& op) const {
  if (op.role.index() >= roles_.size()) bad_graph("operation `" + op.name + "` has no role");
  if (op.roles < 1 || op.role.index() + static_cast<std::size_t>(op.roles) > roles_.size() ||
      (op.roles > 1 && op.kind != OpKind::collective))
    bad_graph("operation `" + op.name + "` can't join these roles: only a collective can, and the roles must exist");
}

void IterationGraph::validate_operation(const Op& op) const {
  validate_roles(op);
  if (op.duration < Time{} || op.bytes < Bytes{}) bad_graph("operation `" + op.name + "` has a negative size");
  if ((op.lane != Lane::compute) != (op.kind == OpKind::task) || op.lane >= stream_lane(kMostStreams))
    bad_graph("operation `" + op.name +
              "` can't run on its lane: a task needs one beside `compute`, nothing else does");
  if (op.channel.valid() && (op.kind != OpKind::collective || op.channel.index() >= channels_.size())) {
    bad_graph("operation `" + op.name + "` can't use its channel: only a collective can, and the channel must exist");
  }
  const HostTraffic& host = op.host;
  if (std::min({host.out, host.in, host.memory, host.nvme}) < Bytes{} || (host.any() && op.kind != OpKind::timer))
    bad_graph("operation `" + op.name + "` moves a negative size on hosts, or is no timer and moves anything there");
  if (op.times < 1 || (op.times > 1 && op.kind != OpKind::collective))
    bad_graph("operation `" + op.name + "` runs several times or never: only a collective may run several times");
  if (op.phase != kEveryPhase && (op.phase < 0 || static_cast<std::size_t>(op.phase) >= phases_.count()))
    bad_graph("operation `" + op.name + "` is of a phase that doesn't exist");
  const int ranks = roles_[op.role.index()].ranks;
  if (op.scope == CollectiveScope::groups) validate_groups(op, ranks_of(op));
  if (op.kind == OpKind::message) {
    if (op.peer.index() >= roles_.size()) bad_graph("message `" + op.name + "` has no receiver");
    if (ranks != roles_[op.peer.index()].ranks) bad_graph("message `" + op.name + "` joins roles of different size");
  }
}

void IterationGraph::validate_groups(const Op& op, int ranks) {
  const RankGroups& groups = op.groups;
  if (groups.lists) {
    if (groups.lists->groups().empty() || groups.lists->ranks() > ranks)
      bad_graph(fmt::format("`{}` lists no group, or rank {} of the {} ranks of its role, which count from 0", op.name,
                            groups.lists->ranks() - 1, ranks));
  } else if (groups.stride < 1 || groups.size < 1 || ranks % (groups.stride * groups.size) != 0) {
    bad_graph(
        fmt::format("`{}` has groups of {} ranks, {} apart, of which no whole number fills the {} ranks of its role",
                    op.name, groups.size, groups.stride, ranks));
  }
}

namespace {

/// What an operation does with a counter.
void check_counting(const IterationGraph& graph, const Op& op) {
  if (op.counts() != op.counter.valid() || (op.counter.valid() && op.counter.index() >= graph.counters().size()))
    bad_graph("operation `" + op.name + "` can't use its counter: posts and awaits need one that exists, nothing else");
  if (op.amount < 1 || op.bound < 0 || (op.bound > 0 && op.kind != OpKind::await))
    bad_graph("operation `" + op.name + "` counts by less than 1, or has a bound without being an await");
  if (op.kind != OpKind::post) return;
  if (op.phase != kEveryPhase)
    bad_graph("`" + op.name + "` posts in a part of the iterations: every iteration has to post");
  const OpId post{static_cast<std::size_t>(&op - graph.ops().data())};
  const auto keeps_order = [&](const Dependency& each) {
    return each.before == post && each.after == post && each.lag == 1;
  };
  if (std::ranges::none_of(graph.dependencies(), keeps_order))
    bad_graph("`" + op.name + "` doesn't wait for the post of the iteration before: iterations have to post in order");
}

}  // namespace

void IterationGraph::validate_counters() const {
  for (const Op& op : ops_) check_counting(*this, op);
  for (std::size_t c = 0; c < counters_.size(); ++c) {
    const std::string& name = counters_[c].name;
    if (name.empty() || std::ranges::count(counters_, name, &Counter::name) > 1)
      bad_graph("counters need names of their own, not `" + name + "`");
    std::int64_t posts = 0, awaits = 0, posted = 0, awaited = 0;
    for (const Op& op : ops_) {
      if (op.counter != CounterId{c}) continue;
      ++(op.kind == OpKind::post ? posts : awaits);
      std::int64_t& most = op.kind == OpKind::post ? posted : awaited;
      most = std::max(most, op.amount);
    }
    if (posts > 1) bad_graph("two operations post to counter `" + name + "`: one of each job may");
    if (posts + awaits == 0 || (!counters_[c].shared && (posts == 0 || awaits == 0)))
      bad_graph("nobody posts to counter `" + name + "`, or nobody waits for it");
    if (!counters_[c].shared && awaited > posted)
      bad_graph(
          fmt::format("counter `{}` rises by {} in an iteration, and an operation waits for {}: the job would "
                      "stop for ever",
                      name, posted, awaited));
  }
}

void IterationGraph::validate_order() const {
  std::vector<int> predecessors(ops_.size(), 0);
  std::vector<std::vector<OpId>> successors(ops_.size());
  for (const Dependency& d : dependencies_) {
    if (d.before.index() >= ops_.size() || d.after.index() >= ops_.size())
      bad_graph("a dependency names an operation that does not exist");
    if (d.lag != 0 && d.lag != 1) bad_graph("the lag of a dependency must be 0 or 1");
    const Op& before = ops_[d.before.index()];
    const Op& after = ops_[d.after.index()];
    if (before.per_rank() && after.per_rank() &&
        roles_[before.role.index()].ranks != roles_[after.role.index()].ranks) {
      bad_graph("`" + before.name + "` -> `" + after.name + "` joins roles of different size");
    }
    if (d.lag != 0) continue;
    ++predecessors[d.after.index()];
    successors[d.before.index()].push_back(d.after);
  }
  for (const Op& post : ops_) {
    if (post.kind != OpKind::post || counters_[post.counter.index()].shared) continue;
    for (const Op& await : ops_) {  // of this iteration, if it may not be behind
      if (await.kind != OpKind::await || await.counter != post.counter || await.bound > 0) continue;
      const auto after = static_cast<std::size_t>(&await - ops_.data());
      ++predecessors[after];
      successors[static_cast<std::size_t>(&post - ops_.data())].emplace_back(after);
    }
  }
  // Kahn's algorithm: an operation whose predecessors never all end lies on or behind a cycle.
  std::vector<OpId> free;
  for (std::size_t i = 0; i < ops_.size(); ++i) {
    if (predecessors[i] == 0) free.emplace_back(i);
  }
  std::size_t freed = 0;
  while (!free.empty()) {
    const OpId op = free.back();
    free.pop_back();
    ++freed;
    for (const OpId after : successors[op.index()]) {
      if (--predecessors[after.index()] == 0) free.push_back(after);
    }
  }
  if (freed == ops_.size()) return;
  const auto stuck = std::find_if(predecessors.begin(), predecessors.end(), [](int n) { return n > 0; });
  bad_graph("a cycle runs through or before `" + ops_[static_cast<std::size_t>(stuck - predecessors.begin())].name +
            "`");
}

std::vector<bool> IterationGraph::tasks_before_joins() const {
  std::vector<bool> before(ops_.size());
  for (std::size_t i = 0; i < ops_.size(); ++i)
    before[i] = ops_[i].runs_on_lane() && roles_[ops_[i].role.index()].late > 0;
  for (bool changed = true; changed;) {
    changed = false;
    for (const Dependency& d : dependencies_) {
      if (d.lag != 0 || !before[d.after.index()] || before[d.before.index()]) continue;
      before[d.after.index()] = false;
      changed = true;
    }
  }
  return before;
}

void IterationGraph::validate_late() const {
  for (const Role& role : roles_) {
    if (role.late < 0 || role.late >= role.ranks)
      bad_graph(fmt::format("{} of the {} ranks of `{}` can't be left behind", role.late, role.ranks, role.name));
  }
  const auto leaves_behind = [](const Role& role) { return role.late > 0; };
  for (const Role& role : roles_) {
    if (!role.patience) continue;
    if (role.patience->tolerance < 0 || role.patience->burst < 1 || role.patience->window < role.patience->burst)
      bad_graph(fmt::format("`{}` is patient with bursts of {} iterations in windows of {} beyond {} thousandths",
                            role.name, role.patience->burst, role.patience->window, role.patience->tolerance));
    if (std::ranges::count_if(roles_, leaves_behind) > 1)
      bad_graph("with patience only ranks of `" + role.name + "` can be left behind");
  }
  if (in_flight_ > kUsuallyInFlight) bad_graph("ranks can't be left behind with more than two iterations in flight");
  const std::vector<bool> is_task = tasks_before_joins();
  for (const Op& op : ops_) {
    if (op.roles > 1)
      bad_graph("ranks can't be left behind where several roles wait for each other, as for `" + op.name + "`");
    if (op.kind == OpKind::message && !op.joint)
      bad_graph("ranks can't be left behind where each sends messages of its own, such as `" + op.name + "`");
  }
  for (const Dependency& d : dependencies_) {
    const Op& before = ops_[d.before.index()];
    const Op& after = ops_[d.after.index()];
    if (before.per_rank() && after.per_rank() && before.role != after.role)
      bad_graph("ranks can't be left behind where those of `" + after.name + "` wait for those of `" + before.name +
                "`");
    if (!is_task[d.before.index()] || after.per_rank()) continue;
    const auto leads_there = [&](const Dependency& each) { return each.after == d.after; };
    if (d.lag != 0 || std::ranges::count_if(dependencies_, leads_there) != 1)
      bad_graph("no rank can be left behind by `" + after.name +
                "`, which waits for more than one task of this iteration");
  }
}

}  // namespace contend
