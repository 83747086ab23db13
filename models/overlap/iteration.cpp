#include "models/overlap/iteration.hpp"

#include "sim/check.hpp"
#include "sim/error.hpp"

#include <algorithm>

namespace contend {

IterationBuilder::IterationBuilder(const OverlapProblem& problem) : problem_{problem}, layers_{problem.layers.size()} {
  CONTEND_CHECK(layers_ > 0 && !problem.gradients.empty(), "a model has layers and gradients");
  sum_.emplace_back();
  for (const OverlapProblem::Gradient& each : problem.gradients) sum_.push_back(sum_.back() + each.size);
  worker_ = graph.add_role("worker", problem.workers);
  for (std::size_t i = 0; i < layers_; ++i) {
    graph.add_compute(problem.layers[i].name + " forward", worker_, problem.layers[i].forward);
  }
  for (std::size_t i = layers_; i-- > 0;) {
    graph.add_compute(problem.layers[i].name + " backward", worker_, problem.layers[i].backward);
  }
  for (std::size_t i = 0; i + 1 < 2 * layers_; ++i) graph.add_dependency(OpId{i}, OpId{i + 1});
  graph.add_dependency(backward(0), forward(0), 1);
}

void IterationBuilder::use_channel(int messages, Bytes window) {
  const bool two = problem_.cost.duplex();
  out_ = graph.add_channel(two ? "push" : "network", messages, window);
  in_ = two ? graph.add_channel("pull", messages, window) : out_;
}

OpId IterationBuilder::collective(const std::string& name, CollectiveKind kind, Bytes bytes, std::int32_t priority) {
  const OpId op = graph.add_collective(name, kind, worker_, bytes);
  const ChannelId channel = kind == CollectiveKind::broadcast ? in_ : out_;
  if (channel.valid()) graph.put_into(channel, op, priority);
  return op;
}

IterationBuilder::Exchange IterationBuilder::dense(const std::string& name, Bytes bytes, std::int32_t priority) {
  if (problem_.cost.kind() == ExchangeKind::all_reduce) {
    const OpId op = collective("all-reduce " + name, CollectiveKind::all_reduce, bytes, priority);
    return {op, op, op};
  }
  const OpId push = collective("push " + name, CollectiveKind::reduce, bytes, priority);
  const OpId pull = collective("pull " + name, CollectiveKind::broadcast, bytes, priority);
  graph.add_dependency(push, pull);
  return {push, push, pull};
}

IterationBuilder::Exchange IterationBuilder::compressed(const std::string& name, const GradientGroup& group,
                                                        std::int32_t priority) {
  Exchange made;
  for (const ExchangeStage& stage : problem_.codec->stages(problem_, group)) {
    const std::string title = stage.name + " " + name;
    const OpId op = stage.collective ? collective(title, *stage.collective, stage.bytes, priority)
                                     : graph.add_compute(title, worker_, stage.duration);
    if (!made.begin.valid()) made.begin = op;
    if (made.end.valid()) graph.add_dependency(made.end, op);
    // The stream takes kernels in the order in which the backward pass launches them.
    if (stage.collective && !made.send.valid()) {
      made.send = op;
      if (made.end.valid() && layer(group) > 0) graph.add_dependency(made.end, backward(layer(group) - 1));
    }
    made.end = op;
  }
  CONTEND_CHECK(made.send.valid(), "an exchange has a collective");
  return made;
}

IterationBuilder::Exchange IterationBuilder::exchange(const std::string& name, const GradientGroup& group,
                                                      std::int32_t priority) {
  return problem_.codec != nullptr ? compressed(name, group, priority) : dense(name, size(group), priority);
}

IterationBuilder::Exchange IterationBuilder::piece(const std::string& name, Bytes bytes, std::int32_t priority) {
  if (problem_.codec != nullptr) throw InputError{"cuts gradients into pieces, which can't be compressed one by one"};
  return dense(name, bytes, priority);
}

std::size_t message_count(const IterationGraph& graph) {
  return static_cast<std::size_t>(std::count_if(graph.ops().begin(), graph.ops().end(),
                                                [](const Op& op) { return op.kind == OpKind::collective; }));
}

}  // namespace contend
