// Reads what `kubectl get nodes -o json` and `kubectl get pods -o json` print. The pods of a job are one job, which has
// their GPUs together. Kubernetes knows no limits of time but activeDeadlineSeconds.
#include "text/decimal.hpp"
#include "traces/cluster/json_items.hpp"
#include "traces/cluster/snapshot.hpp"
#include "traces/cluster/snapshot_parts.hpp"
#include "traces/jobs/timestamp.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include <fmt/format.h>

namespace contend {
namespace {

constexpr std::string_view kGpu = "nvidia.com/gpu";

/// A member of the labels or annotations of an object; empty if it isn't there.
std::string mark_of(const JsonItem& metadata, std::string_view kind, std::string_view name) {
  const std::optional<JsonItem> marks = metadata.object(kind);
  return marks ? marks->text(name) : std::string{};
}

JsonItem part_of(const JsonItem& item, std::string_view name) {
  std::optional<JsonItem> part = item.object(name);
  if (!part) item.fail("", fmt::format("the object has no {}", name));
  return *std::move(part);
}

std::int64_t count_in(const JsonItem& resources, std::string_view name) {
  const std::string text = resources.text(name);
  if (text.empty()) return 0;
  const ScaledDecimal number = parse_integer(text);
  if (number.error != DecimalError::none || number.value < 0 || number.value > 1'000'000)
    resources.fail(name, fmt::format("expected a whole number, got \"{}\"", text));
  return number.value;
}

std::string why_no_pod_fits(const JsonItem& spec, const JsonItem& status) {
  const JsonValue* const unschedulable = spec.value->find("unschedulable");
  if (unschedulable != nullptr && unschedulable->boolean) return "unschedulable";
  for (const JsonItem& condition : status.list("conditions"))
    if (condition.text("type") == "Ready" && condition.text("status") != "True") return "not ready";
  for (const JsonItem& taint : spec.list("taints"))
    if (taint.text("effect") != "PreferNoSchedule") return "taint " + taint.text("key");
  return {};
}

void add_kubernetes_node(const JsonItem& item, ClusterSnapshot& snapshot) {
  const JsonItem metadata = part_of(item, "metadata"), spec = part_of(item, "spec"), status = part_of(item, "status");
  SnapshotNode node;
  node.name = metadata.text("name");
  if (node.name.empty()) metadata.fail("name", "expected the name of the node, got nothing");
  node.gpus = static_cast<int>(count_in(part_of(status, "allocatable"), kGpu));
  node.gpu_type = mark_of(metadata, "labels", "nvidia.com/gpu.product");
  node.out = why_no_pod_fits(spec, status);
  add_node_once(std::move(node), item, snapshot);
}

/// GPUs that a pod needs: all containers together, or an init container if that needs more.
std::int64_t gpus_of_pod(const JsonItem& spec) {
  const auto of = [](const JsonItem& container) {
    const std::optional<JsonItem> resources = container.object("resources");
    const std::optional<JsonItem> requests = resources ? resources->object("requests") : std::nullopt;
    return requests ? count_in(*requests, kGpu) : 0;
  };
  std::int64_t sum = 0;
  for (const JsonItem& container : spec.list("containers")) sum += of(container);
  for (const JsonItem& container : spec.list("initContainers")) sum = std::max(sum, of(container));
  return sum;
}

/// The job of a pod: its gang, or the object that made the pod.
std::string job_of_pod(const JsonItem& metadata) {
  static constexpr std::pair<std::string_view, std::string_view> kNames[] = {
      {"annotations", "scheduling.k8s.io/group-name"},
      {"labels", "batch.kubernetes.io/job-name"},
      {"labels", "volcano.sh/job-name"}};
  std::string job;
  for (const auto& [kind, name] : kNames)
    if (job.empty()) job = mark_of(metadata, kind, name);
  for (const JsonItem& owner : metadata.list("ownerReferences"))
    if (job.empty()) job = owner.text("name");
  if (job.empty()) job = metadata.text("name");
  return fmt::format("{}/{}", metadata.text("namespace"), job);
}

std::string queue_of_pod(const JsonItem& metadata) {
  static constexpr std::string_view kQueues[] = {"kueue.x-k8s.io/queue-name", "volcano.sh/queue-name",
                                                 "kai.scheduler/queue"};
  for (const std::string_view name : kQueues)
    for (const std::string_view kind : {"labels", "annotations"})
      if (std::string queue = mark_of(metadata, kind, name); !queue.empty()) return queue;
  return metadata.text("namespace");
}

Time instant_in(const JsonItem& item, std::string_view name) {
  const std::string text = item.text(name);
  const std::optional<Time> time = parse_timestamp(text);
  if (!time) item.fail(name, fmt::format("expected a time such as 2026-11-02T08:00:00Z, got \"{}\"", text));
  return *time;
}

/// When the kubelet began with the pod; of a pod that is bound and that it hasn't taken up, when the pod was bound.
Time start_of(const JsonItem& metadata, const JsonItem& status) {
  if (!status.text("startTime").empty()) return instant_in(status, "startTime");
  for (const JsonItem& each : status.list("conditions"))
    if (each.text("type") == "PodScheduled" && !each.text("lastTransitionTime").empty())
      return instant_in(each, "lastTransitionTime");
  return instant_in(metadata, "creationTimestamp");
}

void add_pod(const JsonItem& item, ClusterSnapshot& snapshot) {
  const JsonItem metadata = part_of(item, "metadata"), spec = part_of(item, "spec"), status = part_of(item, "status");
  const std::string phase = status.text("phase"), name = job_of_pod(metadata);
  if (!snapshot.known.insert(fmt::format("pod {}/{}", metadata.text("namespace"), metadata.text("name"))).second)
    metadata.fail("name", fmt::format("the pod {} has been read already", metadata.text("name")),
                  "name the files to read, if several have the pods of one instant");
  const std::int64_t gpus = gpus_of_pod(spec);
  if (phase == "Succeeded" || phase == "Failed" || gpus == 0) {
    ++snapshot.left_out["pods"][gpus == 0 ? "without GPUs" : "ended: " + phase];
    return;
  }
  const std::string node = spec.text("nodeName");
  auto job = std::ranges::find_if(snapshot.jobs, [&](const SnapshotJob& each) {
    return each.name == name && each.started.has_value() == !node.empty();
  });
  if (job == snapshot.jobs.end()) {
    SnapshotJob made;
    made.name = name;
    made.user = metadata.text("namespace");
    made.partitions = {queue_of_pod(metadata)};
    const JsonValue* const priority = spec.value->find("priority");
    made.priority = priority != nullptr ? parse_integer(priority->text).value : 0;  // it may be below 0
    made.submitted = instant_in(metadata, "creationTimestamp");
    if (const auto seconds = spec.whole("activeDeadlineSeconds"); seconds && *seconds > 0)
      made.limit = Time::seconds(*seconds);
    if (!node.empty()) made.started = start_of(metadata, status);
    made.nodes = 0;
    snapshot.jobs.push_back(std::move(made));
    job = std::prev(snapshot.jobs.end());
  }
  job->gpus += static_cast<int>(gpus);
  ++job->nodes;
  if (node.empty()) return;
  job->started = std::min(*job->started, start_of(metadata, status));
  const auto held = std::ranges::find(job->holds, node, &NodeGpus::node);
  if (held == job->holds.end())
    job->holds.push_back({node, static_cast<int>(gpus)});
  else
    held->gpus += static_cast<int>(gpus);
}

}  // namespace

void add_kubernetes(const JsonValue& document, const std::string& file, ClusterSnapshot& snapshot) {
  const JsonItem all{&document, "", &file};
  for (const JsonItem& item : all.list("items")) {
    const std::string kind = item.text("kind");
    if (kind == "Node")
      add_kubernetes_node(item, snapshot);
    else if (kind == "Pod")
      add_pod(item, snapshot);
    else if (!add_kubernetes_queue(item, snapshot))
      ++snapshot.left_out["objects of Kubernetes"][kind];
  }
}

}  // namespace contend
