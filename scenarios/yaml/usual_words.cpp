#include "scenarios/yaml/usual_words.hpp"

#include "text/words.hpp"

#include <algorithm>
#include <cstddef>

#include <fmt/format.h>

namespace contend {
namespace {

/// `key` is meant where keys that begin with its first part are possible.
struct UsualWord {
  std::string_view word, key;
  std::string_view says = {};  ///< instead of the question whether the key is meant
};

constexpr std::string_view kDataParallel =
    "data parallelism takes the GPUs of a job that tensor, pipeline and context leave";
constexpr std::string_view kMeanOfLaw = "did you mean \"fails\", a law such as {mean: 100d}?";
constexpr std::string_view kMeanOfRepair = "did you mean \"repair\", a law such as {mean: 6h}?";
constexpr std::string_view kMeanInComponents =
    "did you mean \"failures.components\", such as [{name: server, of: server, fails: {mean: 100d}, repair: {mean: "
    "6h}}]?";
constexpr std::string_view kMeanOfAllRepairs = "did you mean \"failures.repair\", a law such as {mean: 6h}?";

constexpr UsualWord kUsualWords[] = {
    // network, cluster, policies, workload, checkpoints
    {"bandwidth", "nic"},
    {"line_rate", "nic"},
    {"latency", "alpha"},
    {"nodes", "servers"},
    {"machines", "servers"},
    {"gpus_per_node", "gpus_per_server"},
    {"gpus", "gpus_per_server"},
    {"scheduler", "scheduling"},
    {"placer", "placement"},
    {"trace", "jobs"},
    {"arrival_rate", "generate.arrivals"},
    {"interval", "period"},
    {"overhead", "restart_cost"},
    // failures
    {"mtbf", "components", kMeanInComponents},
    {"mttf", "components", kMeanInComponents},
    {"mttr", "components", kMeanOfAllRepairs},
    {"mtbf", "fails", kMeanOfLaw},
    {"mttf", "fails", kMeanOfLaw},
    {"mttr", "repair", kMeanOfRepair},
    // entries of training, and their `parallel`
    {"tp", "tensor"},
    {"tp", "parallel.tensor"},
    {"tensor", "parallel.tensor"},
    {"tensor_parallel", "tensor"},
    {"tensor_parallel", "parallel.tensor"},
    {"pp", "pipeline"},
    {"pp", "parallel.pipeline"},
    {"pipeline", "parallel.pipeline"},
    {"pipeline_parallel", "pipeline"},
    {"pipeline_parallel", "parallel.pipeline"},
    {"cp", "context"},
    {"cp", "parallel.context"},
    {"context", "parallel.context"},
    {"context_parallel", "context"},
    {"context_parallel", "parallel.context"},
    {"ep", "expert"},
    {"ep", "parallel.expert"},
    {"expert", "parallel.expert"},
    {"expert_parallel", "expert"},
    {"expert_parallel", "parallel.expert"},
    {"etp", "expert_tensor"},
    {"sp", "sequence_parallel"},
    {"sp", "parallel.sequence_parallel"},
    {"sequence_parallel", "parallel.sequence_parallel"},
    {"vp", "virtual"},
    {"vpp", "virtual"},
    {"virtual", "parallel.virtual"},
    {"zero", "parallel.zero"},
    {"fsdp", "zero", "did you mean \"zero: 3\"?"},
    {"fsdp", "parallel", "did you mean \"parallel: {zero: 3}\"?"},
    {"dp", "tensor", kDataParallel},
    {"dp", "parallel", kDataParallel},
    {"data", "tensor", kDataParallel},
    {"data", "parallel", kDataParallel},
    {"data_parallel", "tensor", kDataParallel},
    {"data_parallel", "parallel", kDataParallel},
    {"schedule", "parallel.schedule"},
    {"global_batch", "tensor", "it stands beside parallel: training.NAME.global_batch"},
    {"global_batch_size", "global_batch"},
    {"gbs", "global_batch"},
    {"micro_batch", "batch"},
    {"micro_batch_size", "batch"},
    {"mbs", "batch"},
    {"batch_size", "batch"},
    {"micro_batches", "accumulate"},
    {"gradient_accumulation", "accumulate"},
    {"gradient_accumulation_steps", "accumulate"},
    {"seq_len", "sequence"},
    {"seq_length", "sequence"},
    {"sequence_length", "sequence"},
    {"precision", "dtype"},
    {"gpu", "device"},
    {"network", "model"},
    {"activation_checkpointing", "recompute"},
    {"recomputation", "recompute"},
    {"mfu", "efficiency"},
};

struct CalledPolicy {
  std::string_view kind, word, name;
};
constexpr CalledPolicy kCalledPolicies[] = {
    {"scheduling", "tiresias", "las"},
    {"scheduling", "tiresias", "dlas-gpu"},
    {"scheduling", "tiresias", "gittins"},
    {"scheduling", "backfill", "easy"},
    {"scheduling", "backfill", "conservative"},
    {"scheduling", "backfilling", "easy"},
    {"scheduling", "backfilling", "conservative"},
    {"scheduling", "easy-backfill", "easy"},
    {"scheduling", "easy-backfilling", "easy"},
    {"scheduling", "slurm", "easy"},
    {"scheduling", "slurm", "fair-share"},
    {"scheduling", "slurm", "priority"},
    {"scheduling", "fcfs", "fifo"},
    {"scheduling", "sjn", "sjf"},
    {"scheduling", "spt", "sjf"},
    {"scheduling", "srpt", "srtf"},
    {"scheduling", "mlfq", "dlas"},
    {"scheduling", "mlfq", "dlas-gpu"},
    {"scheduling", "gavel", "max-min"},
    {"scheduling", "gavel", "finish-time-fairness"},
    {"scheduling", "gavel", "min-makespan"},
    {"scheduling", "gavel", "min-cost"},
    {"scheduling", "gandiva", "gandiva-fair"},
    {"scheduling", "fair", "fair-share"},
    {"scheduling", "fair", "max-min"},
    {"scheduling", "ada-srsf", "srsf"},
    {"placement", "pack", "consolidated"},
    {"placement", "packed", "consolidated"},
    {"placement", "packing", "consolidated"},
    {"placement", "consolidate", "consolidated"},
    {"placement", "best-fit", "consolidated"},
    {"placement", "binpack", "consolidated"},
    {"placement", "bin-packing", "consolidated"},
    {"placement", "load-balancing", "list-scheduling"},
    {"placement", "least-loaded", "list-scheduling"},
    {"placement", "topology", "topology-aware"},
    {"communication", "ada-srsf", "ada-dual"},
    {"fusion", "pytorch", "ddp"},
    {"fusion", "pytorch-ddp", "ddp"},
    {"fusion", "bucket", "ddp"},
    {"fusion", "buckets", "ddp"},
    {"fusion", "byteps", "bytescheduler"},
    {"compression", "int8", "byte-grad"},
    {"compression", "bf16", "fp16"},
    {"compression", "1bit", "onebit-adam"},
    {"compression", "1-bit", "onebit-adam"},
    {"compression", "1-bit-adam", "onebit-adam"},
    {"pipeline", "pipedream", "1f1b"},
    {"pipeline", "pipedream-flush", "1f1b"},
    {"pipeline", "dapple", "1f1b"},
    {"pipeline", "megatron", "1f1b"},
    {"pipeline", "megatron", "interleaved"},
    {"pipeline", "virtual", "interleaved"},
    {"pipeline", "interleaved-1f1b", "interleaved"},
    {"pipeline", "zero-bubble", "zb-h1"},
    {"pipeline", "zero-bubble", "zb-v"},
    {"pipeline", "zerobubble", "zb-h1"},
    {"pipeline", "zerobubble", "zb-v"},
};

}  // namespace

std::string usual_word_hint(std::string_view word, const std::vector<std::string>& names, std::string_view prefix) {
  for (const UsualWord& each : kUsualWords) {
    if (!same_but_for_case(each.word, word)) continue;
    const std::string first{each.key.substr(0, each.key.find('.'))};
    if (std::ranges::find(names, first) == names.end()) continue;
    return each.says.empty() ? fmt::format("did you mean \"{}{}\"?", prefix, each.key) : std::string{each.says};
  }
  return {};
}

std::string hint_for_key(const std::string& word, const std::vector<std::string>& names, std::string_view prefix) {
  const std::string usual = usual_word_hint(word, names, prefix);
  return usual.empty() ? did_you_mean(word, names) : usual;
}

std::vector<std::string> policies_called(std::string_view kind, std::string_view word) {
  std::vector<std::string> names;
  for (const CalledPolicy& each : kCalledPolicies)
    if (each.kind == kind && same_but_for_case(each.word, word)) names.emplace_back(each.name);
  return names;
}

}  // namespace contend
