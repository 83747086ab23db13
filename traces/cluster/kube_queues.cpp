// Reads the queues of Kueue, Volcano and KAI: what `kubectl get clusterqueues,cohorts,localqueues,queues -o json`
// prints, or their manifests. Only quotas of GPUs are read.
#include "text/decimal.hpp"
#include "traces/cluster/json_items.hpp"
#include "traces/cluster/snapshot.hpp"
#include "traces/cluster/snapshot_parts.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

namespace contend {
namespace {

constexpr std::string_view kQueueGpu = "nvidia.com/gpu";

/// A whole number, which a manifest may write as a number or a text; nothing if it is missing.
std::optional<std::int64_t> queue_number(const JsonItem& item, std::string_view name) {
  const JsonValue* const value = item.value->find(name);
  if (value == nullptr || value->is(JsonValue::Kind::null)) return std::nullopt;
  const ScaledDecimal number = parse_integer(value->text);
  if (number.error != DecimalError::none)
    item.fail(name, fmt::format("expected a whole number of GPUs, got \"{}\"", value->text));
  return number.value;
}

double weight_in(const JsonItem& item, std::string_view name) {
  const JsonValue* const value = item.value->find(name);
  if (value == nullptr) return 1;
  const ScaledDecimal weight = parse_scaled(value->text, 6);
  if (weight.error != DecimalError::none || weight.value < 0)
    item.fail(name, fmt::format("expected a weight >= 0, got \"{}\"", value->text));
  return static_cast<double>(weight.value) / 1e6;
}

std::string rule_of(const JsonItem& rules, std::string_view name) {
  static constexpr std::pair<std::string_view, std::string_view> kRules[] = {
      {"", ""},
      {"Never", ""},
      {"LowerPriority", "lower-priority"},
      {"LowerOrNewerEqualPriority", "lower-or-newer"},
      {"Any", "any"}};
  const std::string text = rules.text(name);
  const auto found = std::ranges::find(kRules, text, [](const auto& each) { return std::string{each.first}; });
  if (found == std::end(kRules))
    rules.fail(name, fmt::format("expected Never, LowerPriority, LowerOrNewerEqualPriority or Any, got \"{}\"", text));
  return std::string{found->second};
}

/// Quotas of GPUs, summed over flavours.
void add_quotas(const JsonItem& spec, SnapshotQueue& queue) {
  for (const JsonItem& group : spec.list("resourceGroups"))
    for (const JsonItem& flavor : group.list("flavors"))
      for (const JsonItem& resource : flavor.list("resources")) {
        if (resource.text("name") != kQueueGpu) continue;
        queue.gpus = queue.gpus.value_or(0) + queue_number(resource, "nominalQuota").value_or(0);
        if (const auto limit = queue_number(resource, "borrowingLimit"))
          queue.borrowing_limit = queue.borrowing_limit.value_or(0) + *limit;
        if (const auto limit = queue_number(resource, "lendingLimit"))
          queue.lending_limit = queue.lending_limit.value_or(0) + *limit;
      }
}

void add_kueue(const JsonItem& spec, SnapshotQueue& queue) {
  for (const std::string_view name : {"cohortName", "cohort", "parentName", "parent"})
    if (queue.parent.empty()) queue.parent = spec.text(name);
  add_quotas(spec, queue);
  if (const auto sharing = spec.object("fairSharing")) queue.weight = weight_in(*sharing, "weight");
  queue.is_strict = spec.text("queueingStrategy") == "StrictFIFO";
  const auto preemption = spec.object("preemption");
  if (!preemption) return;
  queue.within = rule_of(*preemption, "withinClusterQueue");
  queue.reclaim = rule_of(*preemption, "reclaimWithinCohort");
  if (const auto borrowing = preemption->object("borrowWithinCohort")) {
    queue.borrows_preempting = !rule_of(*borrowing, "policy").empty();
    queue.threshold = queue_number(*borrowing, "maxPriorityThreshold");
  }
}

void add_kai(const JsonItem& spec, SnapshotQueue& queue) {
  queue.parent = spec.text("parentQueue");
  queue.priority = queue_number(spec, "priority").value_or(100);
  const auto resources = spec.object("resources");
  const auto gpu = resources ? resources->object("gpu") : std::nullopt;
  if (!gpu) return;
  queue.gpus = queue_number(*gpu, "quota").value_or(0);
  queue.weight = weight_in(*gpu, "overQuotaWeight");
  queue.most = queue_number(*gpu, "limit");
  if (queue.most && *queue.most < 0) queue.most.reset();
}

void add_volcano(const JsonItem& spec, SnapshotQueue& queue) {
  queue.parent = spec.text("parent");
  queue.priority = queue_number(spec, "priority").value_or(1);
  queue.weight = weight_in(spec, "weight");
  if (const JsonValue* const may = spec.value->find("reclaimable")) queue.is_reclaimable = may->boolean;
  if (const auto deserved = spec.object("deserved")) queue.gpus = queue_number(*deserved, kQueueGpu);
  queue.is_deserved = queue.gpus.has_value();
  if (const auto capability = spec.object("capability")) queue.most = queue_number(*capability, kQueueGpu);
  const auto guarantee = spec.object("guarantee");
  if (const auto resource = guarantee ? guarantee->object("resource") : std::nullopt)
    queue.guarantee = queue_number(*resource, kQueueGpu);
  if (!queue.gpus) queue.gpus = queue.guarantee.value_or(0);
}

}  // namespace

bool add_kubernetes_queue(const JsonItem& item, ClusterSnapshot& snapshot) {
  const std::string kind = item.text("kind"), version = item.text("apiVersion");
  const bool is_kueue = version.starts_with("kueue.x-k8s.io/");
  const bool is_kai = version.starts_with("scheduling.run.ai/") && kind == "Queue";
  const bool is_volcano = version.starts_with("scheduling.volcano.sh/") && kind == "Queue";
  const bool is_queue = is_kai || is_volcano || (is_kueue && (kind == "ClusterQueue" || kind == "Cohort"));
  const auto metadata = item.object("metadata"), spec = item.object("spec");
  if (is_kueue && kind == "LocalQueue" && metadata && spec) {
    snapshot.local_queues[metadata->text("namespace") + '/' + metadata->text("name")] = spec->text("clusterQueue");
    return true;
  }
  if (!is_queue) return false;
  const std::string system = is_kueue ? "kueue" : is_kai ? "kai" : "volcano";
  if (!snapshot.scheduler.empty() && snapshot.scheduler != system)
    item.fail("kind", fmt::format("a queue of {}, and other files have queues of {}", system, snapshot.scheduler),
              "name the files of one scheduler");
  snapshot.scheduler = system;
  SnapshotQueue queue;
  queue.name = metadata ? metadata->text("name") : "";
  if (queue.name.empty()) item.fail("metadata", "the queue has no name");
  if (std::ranges::find(snapshot.queues, queue.name, &SnapshotQueue::name) != snapshot.queues.end())
    item.fail("metadata", fmt::format("the queue or cohort {} has been read already", queue.name));
  if (spec && is_kueue) add_kueue(*spec, queue);
  if (spec && is_kai) add_kai(*spec, queue);
  if (spec && is_volcano) add_volcano(*spec, queue);
  queue.is_cohort = kind == "Cohort";
  snapshot.queues.push_back(std::move(queue));
  return true;
}

void complete_queues(ClusterSnapshot& snapshot) {
  if (snapshot.queues.empty()) return;
  for (std::size_t q = 0; q < snapshot.queues.size(); ++q) {
    const std::string parent = snapshot.queues[q].parent;
    if (parent.empty() || std::ranges::find(snapshot.queues, parent, &SnapshotQueue::name) != snapshot.queues.end())
      continue;
    if (snapshot.scheduler != "kueue")
      throw InputError{
          {.key = snapshot.queues[q].name, .reason = fmt::format("no file has its parent, the queue {}", parent)}};
    SnapshotQueue cohort;  // one without an object has no quota of its own
    cohort.name = parent;
    cohort.is_cohort = true;
    snapshot.queues.push_back(std::move(cohort));
  }
  for (SnapshotJob& job : snapshot.jobs)
    for (std::string& partition : job.partitions)
      if (const auto local = snapshot.local_queues.find(job.user + '/' + partition);
          local != snapshot.local_queues.end())
        partition = local->second;
}

std::string queue_yaml(const SnapshotQueue& queue, const std::string& name, const std::string& parent,
                       std::int64_t all_gpus) {
  std::string out = "{name: " + name;
  if (!parent.empty()) out += ", parent: " + parent;
  std::int64_t gpus = queue.gpus.value_or(0);
  if (gpus < 0) gpus = all_gpus;  // KAI: any number
  if (queue.most) gpus = std::min(gpus, *queue.most);
  const bool is_free_cohort = queue.is_cohort && !queue.gpus;
  if (!is_free_cohort) out += fmt::format(", gpus: {}", gpus);
  if (queue.borrowing_limit)
    out += fmt::format(", borrowing_limit: {}", *queue.borrowing_limit);
  else if (queue.most)
    out += fmt::format(", borrowing_limit: {}", *queue.most - gpus);
  else if (!is_free_cohort && queue.weight > 0 && queue.may_borrow)
    out += ", borrow: true";
  if (queue.lending_limit) out += fmt::format(", lending_limit: {}", std::min(gpus, *queue.lending_limit));
  if (queue.guarantee) out += fmt::format(", guarantee: {}", std::min(gpus, *queue.guarantee));
  if (queue.weight != 1 && queue.weight > 0) out += fmt::format(", weight: {}", queue.weight);
  if (queue.priority != 1) out += fmt::format(", priority: {}", queue.priority);
  if (queue.is_strict) out += ", strict: true";
  if (!queue.is_reclaimable) out += ", reclaimable: false";
  if (!queue.within.empty()) out += ", preempt_within: " + queue.within;
  if (!queue.reclaim.empty()) out += ", reclaim: " + queue.reclaim;
  if (queue.borrows_preempting) out += ", borrow_preempting: true";
  if (queue.threshold) out += fmt::format(", borrow_threshold: {}", *queue.threshold);
  return out + "}";
}

}  // namespace contend
