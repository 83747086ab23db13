#include "scenarios/study/study_messages.hpp"

#include "models/overlap/volume.hpp"

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
  }
  return sum;
}

std::vector<StudyMessage> study_messages(const FusedIteration& iteration, const OverlapProblem& problem,
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
      } else {
        (begun ? message.decompress : message.compress) += op.duration;
      }
    }
  }
  return messages;
}

}  // namespace contend
