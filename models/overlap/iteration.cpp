#include "models/overlap/iteration.hpp"

#include "sim/check.hpp"
#include "sim/error.hpp"

#include <algorithm>
#include <utility>

namespace contend {

namespace {
/// The priority of a kernel that a collective waits for. It goes before the tasks of layers, which have priority 0.
constexpr std::int32_t kBeforeCollective = -1;
}  // namespace

IterationBuilder::IterationBuilder(const OverlapProblem& problem) : problem_{problem}, layers_{problem.layers.size()} {
  CONTEND_CHECK(layers_ > 0 && !problem.gradients.empty(), "a model has layers and gradients");
  sum_.emplace_back();
  for (const OverlapProblem::Gradient& each : problem.gradients) sum_.push_back(sum_.back() + each.size);
  if (problem.method != nullptr) moment_ = problem.method->moment();
  worker_ = graph.add_role("worker", problem.workers);
  for (std::size_t i = 0; i < layers_; ++i) {
    graph.add_compute(problem.layers[i].name + " forward", worker_, problem.layers[i].forward);
  }
  for (std::size_t i = layers_; i-- > 0;) {
    graph.add_compute(problem.layers[i].name + " backward", worker_, problem.layers[i].backward);
  }
  for (std::size_t i = 0; i + 1 < 2 * layers_; ++i) graph.add_dependency(OpId{i}, OpId{i + 1});
  graph.add_dependency(backward(0), forward(0), 1);
  if (moment_ != ExchangeMoment::late) return;
  use_ = graph.add_timer("use of the last exchange", worker_, Time{});
  graph.add_dependency(backward(0), use_);
  graph.add_dependency(use_, forward(0), 1);
}

void IterationBuilder::use_channel(int messages, Bytes window) {
  const bool two = problem_.cost.duplex();
  out_ = graph.add_channel(two ? "push" : "network", messages, window);
  in_ = two ? graph.add_channel("pull", messages, window) : out_;
}

void IterationBuilder::use_last_gradients() {
  if (moment_ != ExchangeMoment::gradients) throw InputError{"is about gradients, and this method exchanges weights"};
  moment_ = ExchangeMoment::weights;
}

OpId IterationBuilder::collective(const std::string& name, CollectiveKind kind, Bytes bytes, std::int32_t priority,
                                  CollectiveScope scope) {
  const OpId op = graph.add_collective(name, kind, worker_, bytes, scope);
  const ChannelId channel = kind == CollectiveKind::broadcast ? in_ : out_;
  if (channel.valid()) graph.put_into(channel, op, priority);
  return op;
}

void IterationBuilder::record(std::string name, std::size_t gradients, Bytes dense, std::vector<OpId> ops) {
  messages_.push_back({std::move(name), gradients, dense, std::move(ops), 0});
}

std::vector<ExchangeStage> IterationBuilder::dense(Bytes bytes) const {
  if (problem_.cost.kind() == ExchangeKind::all_reduce)
    return {ExchangeStage::send("all-reduce", CollectiveKind::all_reduce, bytes)};
  return {ExchangeStage::send("push", CollectiveKind::reduce, bytes),
          ExchangeStage::send("pull", CollectiveKind::broadcast, bytes)};
}

/// Puts what the framework and the host do around the stages of a message.
void IterationBuilder::wrap(std::size_t tensors, Bytes bytes, std::vector<ExchangeStage>& stages) const {
  contend::wrap(problem_, {tensors, bytes, problem_.gradient_element_bytes, problem_.workers}, stages);
}

OpId IterationBuilder::add_stage(const ExchangeStage& stage, const std::string& message, std::int32_t priority,
                                 bool before_collective) {
  const std::string title = stage.name + " " + message;
  if (stage.collective) return collective(title, *stage.collective, stage.bytes, priority, stage.scope);
  if (stage.site != StageSite::gpu) {
    OpId& last = last_at_[static_cast<std::size_t>(stage.site)];
    const OpId work = graph.add_timer(title, worker_, stage.duration);
    if (last.valid()) graph.add_dependency(last, work);
    return last = work;
  }
  const OpId kernel = graph.add_compute(title, worker_, stage.duration);
  if (before_collective) graph.put_into(ChannelId::none(), kernel, kBeforeCollective);
  return kernel;
}

/// `layer` is the one whose backward pass completes a group; without it the caller orders the kernels.
std::optional<IterationBuilder::Exchange> IterationBuilder::send(const std::string& name, std::size_t gradients,
                                                                 Bytes bytes, std::vector<ExchangeStage> stages,
                                                                 std::optional<std::size_t> layer,
                                                                 std::int32_t priority) {
  if (stages.empty()) return std::nullopt;
  wrap(gradients, bytes, stages);
  std::vector<OpId> ops;
  OpId send = OpId::none(), kernel = OpId::none();  // the last kernel before the first collective
  const auto last = std::find_if(stages.rbegin(), stages.rend(), [](const auto& each) { return each.collective; });
  const auto collectives_end = static_cast<std::size_t>(stages.rend() - last);
  for (const ExchangeStage& stage : stages) {
    const auto has_name = [&](const ExchangeStage& each) { return each.name == stage.name; };
    CONTEND_CHECK(std::count_if(stages.begin(), stages.end(), has_name) == 1, "timelines tell tasks apart by names");
    const OpId op = add_stage(stage, name, priority, ops.size() + 1 < collectives_end);
    if (!ops.empty()) graph.add_dependency(ops.back(), op);
    // The stream runs kernels in the order in which the backward pass launches them.
    if (stage.collective && !send.valid()) {
      send = op;
      if (kernel.valid() && layer && *layer > 0 && moment_ == ExchangeMoment::gradients)
        graph.add_dependency(kernel, backward(*layer - 1));
    }
    if (!stage.collective && stage.site == StageSite::gpu && !send.valid()) kernel = op;
    ops.push_back(op);
  }
  CONTEND_CHECK(send.valid(), "an exchange has a collective");
  const Exchange made{ops.front(), send, ops.back()};
  record(name, gradients, bytes, std::move(ops));
  return made;
}

OpId IterationBuilder::prepare(const std::string& name, std::size_t tensors, Bytes bytes, OpId ready,
                               std::vector<OpId>& ops) {
  std::vector<ExchangeStage> stages{ExchangeStage::send("", CollectiveKind::all_reduce, bytes)};
  wrap(tensors, bytes, stages);
  for (const ExchangeStage& stage : stages) {
    if (stage.collective) break;
    ops.push_back(add_stage(stage, name, 0, true));
    graph.add_dependency(ready, ops.back());
    ready = ops.back();
  }
  return ready;
}

OpId IterationBuilder::finish(const std::string& name, std::size_t tensors, Bytes bytes, OpId arrived,
                              std::vector<OpId>& ops) {
  std::vector<ExchangeStage> stages{ExchangeStage::send("", CollectiveKind::all_reduce, bytes)};
  wrap(tensors, bytes, stages);
  const auto sent = std::ranges::find_if(stages, [](const auto& each) { return each.collective.has_value(); });
  for (auto stage = std::next(sent); stage != stages.end(); ++stage) {
    ops.push_back(add_stage(*stage, name, 0, false));
    graph.add_dependency(arrived, ops.back());
    arrived = ops.back();
  }
  return arrived;
}

void IterationBuilder::attach(const Exchange& sent, const GradientGroup& group, OpId next) {
  switch (moment_) {
    case ExchangeMoment::gradients:
    case ExchangeMoment::background:
    case ExchangeMoment::late:
      graph.add_dependency(backward(layer(group)), sent.begin);
      break;
    case ExchangeMoment::weights:
      graph.add_dependency(backward(0), sent.begin, 1);
      // The weights are those after the previous exchange; they do not depend on the gradients of the last batch.
      if (problem_.method != nullptr && problem_.method->moment() == ExchangeMoment::weights)
        graph.add_dependency(sent.end, sent.begin, 1);
      break;
    case ExchangeMoment::updated:
      graph.add_dependency(backward(0), sent.begin);
      break;
  }
  if (moment_ == ExchangeMoment::late) next = use_;
  if (moment_ != ExchangeMoment::background) graph.add_dependency(sent.end, next, 1);
}

std::optional<IterationBuilder::Exchange> IterationBuilder::exchange(const std::string& name,
                                                                     const GradientGroup& group, OpId next,
                                                                     std::int32_t priority) {
  std::vector<ExchangeStage> stages =
      problem_.method != nullptr ? problem_.method->stages(problem_, group) : dense(size(group));
  const auto sent = send(name, group.last - group.first + 1, size(group), std::move(stages), layer(group), priority);
  if (sent) attach(*sent, group, next);
  return sent;
}

IterationBuilder::Exchange IterationBuilder::piece(const std::string& name, Bytes bytes, std::int32_t priority) {
  if (problem_.method != nullptr) throw InputError{"cuts gradients into pieces, which can't be compressed one by one"};
  return *send(name, 1, bytes, dense(bytes), std::nullopt, priority);
}

void join_layers(FusedIteration& iteration, std::size_t layers) {
  const IterationGraph& graph = iteration.graph;
  const std::vector<Op>& ops = graph.ops();
  const std::size_t tasks = 2 * layers;
  const auto is_task = [&](std::size_t i) { return i < tasks; };
  for (std::size_t i = tasks; i < ops.size(); ++i) {
    if (ops[i].kind == OpKind::compute) return;
  }
  // A task begins a new one if anything but the task before it leads to it, or if that one leads to something else.
  std::vector<bool> begins(tasks, false);
  begins[0] = begins[layers] = true;
  for (const Dependency& each : graph.dependencies()) {
    const std::size_t before = each.before.index(), after = each.after.index();
    if (is_task(before) && is_task(after) && after == before + 1 && each.lag == 0) continue;
    if (is_task(after)) begins[after] = true;
    if (is_task(before) && before + 1 < tasks) begins[before + 1] = true;
  }
  IterationGraph joined = graph.without_operations();
  std::vector<OpId> becomes(ops.size());
  for (std::size_t first = 0; first < tasks;) {
    std::size_t end = first + 1;
    while (end < tasks && !begins[end]) ++end;
    Time duration;
    for (std::size_t i = first; i < end; ++i) duration += ops[i].duration;
    const bool all_of_pass = end - first == layers;
    std::string name = ops[first].name;
    if (all_of_pass)
      name = first == 0 ? "forward" : "backward";
    else if (end - first > 1)
      name += " to " + ops[end - 1].name;
    const OpId task = joined.add_compute(std::move(name), ops[first].role, duration);
    for (; first < end; ++first) becomes[first] = task;
  }
  for (std::size_t i = tasks; i < ops.size(); ++i) becomes[i] = joined.add(ops[i]);
  for (const Dependency& each : graph.dependencies()) {
    const OpId before = becomes[each.before.index()], after = becomes[each.after.index()];
    if (before != after || each.lag != 0) joined.add_dependency(before, after, each.lag);
  }
  for (SentMessage& message : iteration.messages)
    for (OpId& op : message.ops) op = becomes[op.index()];
  iteration.graph = std::move(joined);
}

}  // namespace contend
