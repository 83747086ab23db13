// Reads what `squeue --json`, `sinfo --json` and `scontrol show nodes --json` of Slurm print: plain numbers and words
// in 22.05, objects {set, infinite, number} and lists of words from 23.11 on.
#include "text/decimal.hpp"
#include "traces/cluster/json_items.hpp"
#include "traces/cluster/snapshot.hpp"
#include "traces/cluster/snapshot_parts.hpp"

#include <algorithm>
#include <array>
#include <set>

#include <fmt/format.h>

namespace contend {
namespace {

constexpr std::array<std::string_view, 23> kKnownOfJobs = {"job_id",
                                                           "job_state",
                                                           "array_job_id",
                                                           "array_task_id",
                                                           "array_task_string",
                                                           "dependency",
                                                           "gres_detail",
                                                           "node_count",
                                                           "nodes",
                                                           "partition",
                                                           "priority",
                                                           "start_time",
                                                           "end_time",
                                                           "submit_time",
                                                           "state_reason",
                                                           "time_limit",
                                                           "user_name",
                                                           "user_id",
                                                           "tres_req_str",
                                                           "tres_alloc_str",
                                                           "tres_per_node",
                                                           "tres_per_job",
                                                           "last_sched_evaluation"};
constexpr std::array<std::string_view, 9> kKnownOfNodes = {
    "name", "hostname", "gres", "gres_used", "partitions", "state", "state_flags", "node_names", "reason"};
/// Reasons for which Slurm has a job wait that follow from the queue, the nodes and the column `after`.
constexpr std::array<std::string_view, 5> kUsualReasons = {"", "NONE", "RESOURCES", "PRIORITY", "DEPENDENCY"};

/// Counts the members of an object that say something and are not read.
void note_fields(const JsonItem& item, std::span<const std::string_view> known, const char* kind,
                 ClusterSnapshot& snapshot) {
  for (std::size_t i = 0; i < item.value->names.size(); ++i)
    if (std::ranges::find(known, item.value->names[i]) == known.end() && !says_nothing(item.value->items[i]))
      ++snapshot.left_out[kind][item.value->names[i]];
}

/// GPUs in a list of trackable resources: `cpu=8,gres/gpu=16,gres/gpu:h100=16`.
std::int64_t gpus_of_tres(const JsonItem& job, std::string_view name) {
  std::int64_t all = 0, typed = 0;
  const std::string text = job.text(name);
  for (std::string_view rest = text; !rest.empty();) {
    const std::string_view entry = rest.substr(0, rest.find(','));
    rest.remove_prefix(std::min(entry.size() + 1, rest.size()));
    if (!entry.starts_with("gres/gpu=") && !entry.starts_with("gres/gpu:")) continue;
    const std::size_t equals = entry.find('=');
    const ScaledDecimal number = parse_integer(equals == entry.npos ? "" : entry.substr(equals + 1));
    if (number.error != DecimalError::none || number.value < 0 || number.value > 1'000'000)
      job.fail(name, fmt::format("expected resources such as cpu=8,gres/gpu=2, got \"{}\"", text));
    (entry[8] == '=' ? all : typed) += number.value;
  }
  return std::max(all, typed);
}

std::int64_t gpus_of_gres(const JsonItem& item, std::string_view name, const std::string& text, std::string* type) {
  const std::optional<GresGpus> gres = slurm_gres(text);
  if (!gres) item.fail(name, fmt::format("expected resources such as gpu:h100:8, got \"{}\"", text));
  if (type != nullptr) *type = gres->type;
  return gres->gpus;
}

std::vector<std::string> hosts_of(const JsonItem& item, std::string_view name) {
  const std::string text = item.text(name);
  std::optional<std::vector<std::string>> hosts = slurm_hosts(text);
  if (!hosts) item.fail(name, fmt::format("expected nodes such as gpu[001-004], got \"{}\"", text));
  return *std::move(hosts);
}

/// The nodes that a running job holds: by `gres_detail`, which has an entry for each node, or in equal parts.
std::vector<NodeGpus> held_nodes(const JsonItem& item, std::int64_t gpus) {
  const std::vector<std::string> hosts = hosts_of(item, "nodes");
  std::vector<NodeGpus> holds;
  const std::vector<JsonItem> details = item.list("gres_detail");
  const auto count = static_cast<std::int64_t>(hosts.size());
  std::int64_t sum = 0;
  for (std::size_t h = 0; h < hosts.size(); ++h) {
    const bool is_told = details.size() == hosts.size() && details[h].value->is(JsonValue::Kind::string);
    const std::int64_t here = is_told ? gpus_of_gres(item, "gres_detail", details[h].value->text, nullptr)
                                      : gpus / count + (static_cast<std::int64_t>(h) < gpus % count ? 1 : 0);
    sum += here;
    if (here > 0) holds.push_back({hosts[h], static_cast<int>(here)});
  }
  if (sum != gpus)
    item.fail("gres_detail", fmt::format("the nodes of the job have {} GPUs, and tres_alloc_str says {}", sum, gpus));
  return holds;
}

/// The jobs after whose end this one comes; other kinds of dependencies are noted.
std::vector<std::string> jobs_before(const JsonItem& item, ClusterSnapshot& snapshot) {
  std::vector<std::string> before;
  std::string text = item.text("dependency");
  if (text.find('?') != text.npos) ++snapshot.left_out["dependencies of which one suffices; here all must end"][text];
  std::ranges::replace(text, '?', ',');
  for (std::string_view rest = text; !rest.empty();) {
    std::string_view entry = rest.substr(0, rest.find(','));
    rest.remove_prefix(std::min(entry.size() + 1, rest.size()));
    entry = entry.substr(0, entry.find('('));
    const std::string kind{entry.substr(0, entry.find(':'))};
    if (kind != "afterok" && kind != "afterany" && kind != "afternotok" && kind != "aftercorr") {
      ++snapshot.left_out["kinds of dependencies"][kind];
      continue;
    }
    for (entry.remove_prefix(std::min(kind.size() + 1, entry.size())); !entry.empty();) {
      const std::string_view id = entry.substr(0, entry.find(':'));
      before.emplace_back(id.substr(0, id.find('+')));
      entry.remove_prefix(std::min(id.size() + 1, entry.size()));
    }
  }
  return before;
}

/// The tasks of an array that wait in one entry: `3,5-9:2%4`.
std::vector<std::int64_t> waiting_tasks(const JsonItem& item, ClusterSnapshot& snapshot) {
  const std::string text = item.text("array_task_string");
  std::string_view list = text;
  const std::size_t percent = list.find('%');
  if (percent != list.npos) ++snapshot.left_out["limits of arrays"][std::string{list.substr(percent)}];
  list = list.substr(0, percent);
  std::vector<std::int64_t> tasks;
  while (!list.empty()) {
    std::string_view range = list.substr(0, list.find(','));
    list.remove_prefix(std::min(range.size() + 1, list.size()));
    std::int64_t step = 1;
    const auto number = [&](std::string_view digits) {
      const ScaledDecimal parsed = parse_integer(digits);
      if (parsed.error != DecimalError::none || parsed.value < 0 || parsed.value > 4'000'000)
        item.fail("array_task_string", fmt::format("expected tasks such as 3,5-9, got \"{}\"", text));
      return parsed.value;
    };
    if (const std::size_t colon = range.find(':'); colon != range.npos) {
      step = std::max<std::int64_t>(1, number(range.substr(colon + 1)));
      range = range.substr(0, colon);
    }
    const std::size_t dash = range.find('-');
    const std::int64_t first = number(range.substr(0, dash));
    const std::int64_t last = dash == range.npos ? first : number(range.substr(dash + 1));
    for (std::int64_t task = first; task <= last; task += step) tasks.push_back(task);
  }
  return tasks;
}

/// Why a job isn't of the snapshot; empty if it is.
std::string why_not_kept(const JsonItem& item, const std::string& state, const std::string& reason) {
  const bool waits = state.find("PENDING") != std::string::npos;
  const bool runs = state.find("RUNNING") != std::string::npos || state.find("CONFIGURING") != std::string::npos;
  if (state.empty()) item.fail("job_state", "expected the state of the job, got nothing");
  if (!waits && !runs) return "ended or suspended: " + state;
  if (waits && (reason.starts_with("JOBHELD") || item.whole("priority") == 0)) return "held";
  return {};
}

void add_job(const JsonItem& item, ClusterSnapshot& snapshot) {
  const std::string state = item.words("job_state"), reason = item.words("state_reason");
  if (const std::string why = why_not_kept(item, state, reason); !why.empty()) {
    ++snapshot.left_out["jobs"][why];
    return;
  }
  const bool runs = state.find("PENDING") == std::string::npos;
  SnapshotJob job;
  std::int64_t gpus = gpus_of_tres(item, runs ? "tres_alloc_str" : "tres_req_str");
  job.nodes = static_cast<int>(std::clamp<std::int64_t>(item.whole("node_count").value_or(1), 1, 1'000'000));
  if (gpus == 0 && !runs) gpus = gpus_of_gres(item, "tres_per_node", item.text("tres_per_node"), nullptr) * job.nodes;
  if (gpus == 0 && !runs) gpus = gpus_of_gres(item, "tres_per_job", item.text("tres_per_job"), nullptr);
  if (gpus == 0) {
    ++snapshot.left_out["jobs"]["without GPUs"];
    return;
  }
  if (gpus > 1'000'000) item.fail("tres_req_str", fmt::format("the job has {} GPUs, expected at most 1000000", gpus));
  job.gpus = static_cast<int>(gpus);
  const std::optional<std::int64_t> id = item.whole("job_id"), submit = item.whole("submit_time");
  if (!id) item.fail("job_id", "expected the number of the job, got nothing");
  if (!submit) item.fail("submit_time", "expected when the job was submitted, got nothing");
  job.name = fmt::format("{}", *id);
  job.user = item.text("user_name");
  job.partitions = split_words(item.text("partition"), ',');
  job.priority = item.whole("priority").value_or(0);
  job.submitted = Time::seconds(*submit);
  if (const auto minutes = item.whole("time_limit"); minutes && *minutes != kInfinite && *minutes > 0)
    job.limit = Time::seconds(60) * *minutes;
  if (runs) {
    const std::optional<std::int64_t> start = item.whole("start_time");
    if (!start || *start == 0) item.fail("start_time", "the job runs, and doesn't say since when");
    job.started = Time::seconds(*start);
    job.holds = held_nodes(item, gpus);
  } else {
    job.after = jobs_before(item, snapshot);
    if (std::ranges::find(kUsualReasons, reason) == kUsualReasons.end())
      ++snapshot.left_out["reasons to wait"][item.text("state_reason")];
  }
  note_fields(item, kKnownOfJobs, "fields of jobs", snapshot);
  snapshot.last_seen = std::max(snapshot.last_seen, Time::seconds(item.whole("last_sched_evaluation").value_or(0)));
  const std::int64_t array = item.whole("array_job_id").value_or(0);
  const std::vector<std::int64_t> tasks = runs ? std::vector<std::int64_t>{} : waiting_tasks(item, snapshot);
  if (tasks.empty()) {
    if (array > 0) job.name = fmt::format("{}_{}", array, item.whole("array_task_id").value_or(0));
    add_job_once(std::move(job), item, snapshot);
    return;
  }
  for (const std::int64_t task : tasks) {
    job.name = fmt::format("{}_{}", array > 0 ? array : *id, task);
    add_job_once(job, item, snapshot);
  }
}

std::string why_out_of_service(const JsonItem& node, const std::string& states) {
  if (!is_out_of_service(states) && states.find("UNKNOWN") == std::string::npos) return {};
  const JsonValue* const reason = node.value->find("reason");
  const bool is_told = reason != nullptr && reason->is(JsonValue::Kind::string) && !reason->text.empty();
  return is_told ? fmt::format("{}: {}", states, reason->text) : states;
}

void add_node(const JsonItem& item, ClusterSnapshot& snapshot) {
  SnapshotNode node;
  node.name = item.text("name");
  if (node.name.empty()) item.fail("name", "expected the name of the node, got nothing");
  node.gpus = static_cast<int>(gpus_of_gres(item, "gres", item.text("gres"), &node.gpu_type));
  for (const JsonItem& partition : item.list("partitions")) node.partitions.push_back(partition.value->text);
  const std::string flags = item.words("state_flags");
  std::string states = item.words("state");
  if (!flags.empty()) states += (states.empty() ? "" : "+") + flags;
  if (states.empty()) item.fail("state", "expected the state of the node, got nothing");
  node.out = why_out_of_service(item, states);
  note_fields(item, kKnownOfNodes, "fields of nodes", snapshot);
  add_node_once(std::move(node), item, snapshot);
}

/// `sinfo --json` from 23.02 on: nodes that are alike, by partition.
void add_group(const JsonItem& item, ClusterSnapshot& snapshot) {
  const std::optional<JsonItem> nodes = item.object("nodes"), gres = item.object("gres"), state = item.object("node"),
                                partition = item.object("partition");
  if (!nodes || !gres || !state) item.fail("", "expected a group with nodes, node and gres");
  SnapshotNode node;
  node.gpus = static_cast<int>(gpus_of_gres(*gres, "total", gres->text("total"), &node.gpu_type));
  node.out = why_out_of_service(*state, state->words("state"));
  if (partition) node.partitions.push_back(partition->text("name"));
  for (const JsonItem& name : nodes->list("nodes")) {
    node.name = name.value->text;
    if (node.gpus == 0) {  // there is a group for each of its partitions
      if (snapshot.known.insert("node " + node.name).second) ++snapshot.left_out["nodes"]["without GPUs"];
      continue;
    }
    const auto known = std::ranges::find(snapshot.nodes, node.name, &SnapshotNode::name);
    if (known == snapshot.nodes.end()) {
      add_node_once(node, item, snapshot);
    } else {
      known->partitions.insert(known->partitions.end(), node.partitions.begin(), node.partitions.end());
    }
  }
}

void take_version(const JsonValue& document, ClusterSnapshot& snapshot) {
  const JsonValue* const meta = document.find("meta");
  if (meta == nullptr) return;
  for (const std::string_view name : {"slurm", "Slurm"})
    if (const JsonValue* const slurm = meta->find(name))
      if (const JsonValue* const cluster = slurm->find("cluster")) snapshot.name = cluster->text;
}

}  // namespace

void add_squeue(const JsonValue& document, const std::string& file, ClusterSnapshot& snapshot) {
  const JsonItem all{&document, "", &file};
  take_version(document, snapshot);
  if (const auto update = all.whole("last_update"); update && snapshot.now_source.empty()) {
    snapshot.now = Time::seconds(*update);
    snapshot.now_source = "last_update of " + file;
  }
  for (const JsonItem& job : all.list("jobs")) {
    if (!job.value->is(JsonValue::Kind::object)) job.fail("", "expected an object, a job");
    add_job(job, snapshot);
  }
}

void add_slurm_nodes(const JsonValue& document, const std::string& file, ClusterSnapshot& snapshot) {
  const JsonItem all{&document, "", &file};
  take_version(document, snapshot);
  for (const JsonItem& node : all.list("nodes")) add_node(node, snapshot);
  for (const JsonItem& group : all.list("sinfo")) add_group(group, snapshot);
}

}  // namespace contend
