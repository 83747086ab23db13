#include "scenarios/study/study_messages.hpp"

#include "models/overlap/volume.hpp"

#include <fmt/format.h>

namespace contend {

StudyMessage StudyPhase::total() const {
  StudyMessage sum;
  sum.name = "total";
  for (const StudyMessage& each : messages) {
    sum.gradients += each.gradients;
    sum.dense += each.dense;
    sum.sent_bytes += each.sent_bytes;
    sum.compress += each.compress;
    sum.transfer += each.transfer;
    sum.decompress += each.decompress;
    sum.off_gpu += each.off_gpu;
    sum.exposed_s += each.exposed_s;
  }
  return sum;
}

namespace {

/// The messages of an iteration of this phase.
std::vector<StudyMessage> messages_of_phase(const FusedIteration& iteration, const OverlapProblem& problem,
                                            std::size_t phase) {
  std::vector<StudyMessage> messages;
  for (const SentMessage& sent : iteration.messages) {
    if (sent.phase != phase) continue;
    StudyMessage& message = messages.emplace_back();
    message.name = sent.name;
    message.gradients = sent.gradients;
    message.dense = sent.dense;
    bool begun = false;
    for (const OpId id : sent.ops) {
      const Op& op = iteration.graph.ops()[id.index()];
      if (op.kind == OpKind::collective) {
        begun = true;
        message.transfer += problem.cost.sized(op.bytes, op.collective, op.scope).of(op.bytes);
        const SentVolume volume =
            sent_volume(op.collective, op.scope, op.bytes, problem.workers, problem.cost.per_server());
        message.sent_bytes += volume.by_worker;
        if (volume.by_interface > 0) message.between_servers.push_back(op.bytes);
      } else if (op.kind == OpKind::timer) {
        message.off_gpu += op.duration;
      } else {
        (begun ? message.decompress : message.compress) += op.duration;
      }
    }
  }
  return messages;
}

}  // namespace

StudyMessage* PhasedMessages::of(std::string_view op) {
  const auto found = by_op.find(op);
  return found == by_op.end() ? nullptr : &phases[found->second.phase].messages[found->second.message];
}

const StudyPhase* PhasedMessages::phase_of(std::string_view op) const {
  const auto found = by_op.find(op);
  return found == by_op.end() ? nullptr : &phases[found->second.phase];
}

IterationPart PhasedMessages::kind_of(const Op& op) const {
  if (by_op.contains(op.name)) return IterationPart::kernels;
  // A layer, or a task of a graph that is spread over GPUs.
  const bool waits = op.name == "wait for input forward" || op.name == "wait for input";
  return waits ? IterationPart::input : IterationPart::compute;
}

PhasedMessages phased_messages(const FusedIteration& iteration, const OverlapProblem& problem) {
  PhasedMessages all;
  const std::vector<double> shares = iteration.graph.phases().shares();
  for (std::size_t phase = 0; phase < shares.size(); ++phase) {
    if (shares[phase] == 0) continue;
    std::size_t number = 0;
    for (const SentMessage& sent : iteration.messages) {
      if (sent.phase != phase) continue;
      for (const OpId op : sent.ops)
        all.by_op.emplace(iteration.graph.ops()[op.index()].name, PhasedMessages::Place{all.phases.size(), number});
      ++number;
    }
    all.phases.push_back({shares[phase], messages_of_phase(iteration, problem, phase)});
  }
  return all;
}

std::span<const MessageColumn> message_columns() {
  static constexpr MessageColumn kColumns[] = {
      {"gradients", "gradients", 1, "gradients in the message; 1 for a piece of a gradient",
       [](const StudyMessage& m) { return static_cast<double>(m.gradients); }},
      {"dense_bytes", "dense [KiB]", 1.0 / 1024, "uncompressed size of those gradients",
       [](const StudyMessage& m) { return m.dense.to_double(); }},
      {"sent_bytes", "sent [KiB]", 1.0 / 1024, "bytes sent by each worker, over all collectives",
       [](const StudyMessage& m) { return m.sent_bytes; }},
      {"compress_s", "compress [ms]", 1e3, "time of kernels before the first collective",
       [](const StudyMessage& m) { return m.compress.to_seconds(); }},
      {"transfer_s", "transfer [ms]", 1e3,
       "time of collectives, each alone in the network; at fidelity `flow` as they were, beside each other",
       [](const StudyMessage& m) { return m.transfer.to_seconds(); }},
      {"decompress_s", "decompress [ms]", 1e3, "time of kernels between collectives and after the last",
       [](const StudyMessage& m) { return m.decompress.to_seconds(); }},
      {"off_gpu_s", "off GPU [ms]", 1e3,
       "time of what no GPU does for it: copies between GPU and host (`staging`), work of the host",
       [](const StudyMessage& m) { return m.off_gpu.to_seconds(); }, true},
      {"exposed_s", "exposed [ms]", 1e3, "time for which the GPU was idle because of its collectives",
       [](const StudyMessage& m) { return m.exposed_s; }},
  };
  return kColumns;
}

std::string messages_markdown() {
  std::string out = R"(
## messages.csv

`contend run --explain` of an iteration study writes one row for each message of each iteration of `jobs.csv`, in the
order in which they become ready.

| column | type | meaning |
|---|---|---|
| `job_id` | text | as in `jobs.csv` |
| `phase` | integer | which of the kinds of iterations of a method, from 1 on |
| `share` | number | of all iterations, that are of this phase |
| `message` | text | its first gradient, and the layers that it covers |
)";
  for (const MessageColumn& each : message_columns()) {
    const bool is_whole = each.name == "gradients" || each.name == "dense_bytes";
    out += fmt::format("| `{}` | {} | {} |\n", each.name,
                       is_whole                    ? "integer"
                       : each.name.ends_with("_s") ? "seconds"
                                                   : "number",
                       each.text);
  }
  return out;
}

}  // namespace contend
