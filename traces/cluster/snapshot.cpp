#include "traces/cluster/snapshot.hpp"

#include "sim/error.hpp"
#include "text/byte_source.hpp"
#include "traces/cluster/snapshot_parts.hpp"

#include <algorithm>
#include <filesystem>

#include <fmt/format.h>

namespace contend {
namespace {

namespace fs = std::filesystem;

/// The files of the paths: of a folder those in it, by name. The second says whether the user named the file.
std::vector<std::pair<std::string, bool>> files_of(std::span<const std::string> paths) {
  std::vector<std::pair<std::string, bool>> files;
  for (const std::string& path : paths) {
    std::error_code error;
    if (!fs::is_directory(path, error)) {
      files.emplace_back(path, true);
      continue;
    }
    std::vector<std::string> inside;
    for (const fs::directory_entry& entry : fs::directory_iterator{path, error})
      if (entry.is_regular_file(error)) inside.push_back(entry.path().string());
    std::ranges::sort(inside);
    for (std::string& name : inside) files.emplace_back(std::move(name), false);
  }
  return files;
}

/// Reads a JSON document of a scheduler. False if it is none.
bool add_json(const std::string& text, const std::string& file, bool is_named, ClusterSnapshot& snapshot) {
  TextSource source{text};
  const JsonValue document = read_json(source, file);
  const auto has = [&](std::string_view member) {
    const JsonValue* const list = document.find(member);
    return list != nullptr && list->is(JsonValue::Kind::array);
  };
  if (has("jobs"))
    add_squeue(document, file, snapshot);
  else if (has("nodes") || has("sinfo"))
    add_slurm_nodes(document, file, snapshot);
  else if (has("items"))
    add_kubernetes(document, file, snapshot);
  else if (is_named)
    JsonItem{&document, "", &file}.fail("", "expected a list jobs, nodes or sinfo (Slurm), or items (Kubernetes)");
  else
    return false;
  return true;
}

/// True if a line at the begin of a document says so.
bool is_manifest(std::string_view text) {
  return text.starts_with("apiVersion:") || text.find("\napiVersion:") != std::string_view::npos;
}

void add_file(const std::string& file, bool is_named, const ManifestReader& yaml, ClusterSnapshot& snapshot) {
  const std::unique_ptr<ByteSource> source = open_file(file);
  const std::string text = read_all(*source);
  const std::size_t begin = text.find_first_not_of(" \t\r\n");
  const bool is_json = begin != std::string::npos && (text[begin] == '{' || text[begin] == '[');
  if (!is_json && yaml && is_manifest(text)) {
    const JsonValue documents = yaml(text, file);
    add_kubernetes(documents, file, snapshot);
    snapshot.files.push_back(file);
    return;
  }
  const bool is_read = is_json ? add_json(text, file, is_named, snapshot) : add_slurm_text(text, file, snapshot);
  if (is_read) {
    snapshot.files.push_back(file);
  } else if (is_named) {
    throw InputError{{.file = file,
                      .reason = "expected slurm.conf, gres.conf, the text of `scontrol show node`, or JSON of squeue, "
                                "sinfo, scontrol or kubectl, or YAML of Kubernetes"}};
  } else {
    ++snapshot.left_out["files"][fs::path{file}.filename().string()];
  }
}

/// Nodes of slurm.conf stand in for nodes that no file shows, and gres.conf names the GPUs that have no kind.
void complete_nodes(ClusterSnapshot& snapshot) {
  if (snapshot.nodes.empty()) {
    for (SnapshotNode& node : snapshot.configured) {
      if (node.gpus > 0)
        snapshot.nodes.push_back(std::move(node));
      else
        ++snapshot.left_out["nodes"]["without GPUs"];
    }
  } else {
    for (const SnapshotNode& node : snapshot.configured)
      if (!snapshot.known.contains("node " + node.name)) ++snapshot.left_out["nodes of slurm.conf alone"][node.name];
  }
  for (SnapshotNode& node : snapshot.nodes) {
    std::ranges::sort(node.partitions);
    const auto type = snapshot.gpu_types.find(node.name);
    if (!node.gpu_type.empty()) continue;
    if (type != snapshot.gpu_types.end())
      node.gpu_type = type->second;
    else if (const auto any = snapshot.gpu_types.find(""); any != snapshot.gpu_types.end())
      node.gpu_type = any->second;
  }
}

/// The time of the snapshot: as given, as the files say, or the last instant of a job.
void complete_now(std::optional<Time> given, ClusterSnapshot& snapshot) {
  if (given) {
    snapshot.now = *given;
    snapshot.now_source = "--now";
  } else if (snapshot.now_source.empty()) {
    snapshot.now = snapshot.last_seen;
    for (const SnapshotJob& job : snapshot.jobs)
      snapshot.now = std::max({snapshot.now, job.submitted, job.started.value_or(Time{})});
    snapshot.now_source = "the last instant that a job tells; --now says it exactly";
  }
  for (const SnapshotJob& job : snapshot.jobs)
    if (std::max(job.submitted, job.started.value_or(Time{})) > snapshot.now)
      throw InputError{
          {.key = "--now",
           .reason = fmt::format(
               "job {} was submitted or has started {} s later", job.name,
               (std::max(job.submitted, job.started.value_or(Time{})) - snapshot.now).ns() / 1'000'000'000)}};
}

void complete_jobs(ClusterSnapshot& snapshot) {
  for (SnapshotJob& job : snapshot.jobs) {
    std::vector<std::string> after;
    for (const std::string& name : job.after) {
      const std::size_t before = after.size();
      for (const SnapshotJob& other : snapshot.jobs)
        if (other.name == name || other.name.starts_with(name + '_')) after.push_back(other.name);
      if (after.size() == before) ++snapshot.left_out["jobs to come after, which have ended or are left out"][name];
    }
    job.after = std::move(after);
  }
  std::ranges::stable_sort(snapshot.jobs, {}, [](const SnapshotJob& job) {
    return std::pair{!job.started.has_value(), job.started.value_or(job.submitted)};
  });
}

}  // namespace

void add_node_once(SnapshotNode node, const JsonItem& item, ClusterSnapshot& snapshot) {
  if (!snapshot.known.insert("node " + node.name).second)
    item.fail("", fmt::format("the node {} has been read already", node.name));
  if (node.gpus == 0)
    ++snapshot.left_out["nodes"]["without GPUs"];
  else
    snapshot.nodes.push_back(std::move(node));
}

void add_job_once(SnapshotJob job, const JsonItem& item, ClusterSnapshot& snapshot) {
  if (!snapshot.known.insert("job " + job.name).second)
    item.fail("job_id", fmt::format("the job {} has been read already", job.name));
  snapshot.jobs.push_back(std::move(job));
}

ClusterSnapshot read_snapshot(std::span<const std::string> paths, std::optional<Time> now, const ManifestReader& yaml) {
  ClusterSnapshot snapshot;
  for (const auto& [file, is_named] : files_of(paths)) add_file(file, is_named, yaml, snapshot);
  complete_nodes(snapshot);
  complete_now(now, snapshot);
  complete_jobs(snapshot);
  complete_queues(snapshot);
  const std::string first = paths.front();
  if (snapshot.nodes.empty())
    throw InputError{{.file = first,
                      .reason = snapshot.left_out.contains("nodes")
                                    ? "none of its nodes has GPUs (gres gpu, or nvidia.com/gpu)"
                                    : "there are no nodes in it",
                      .hint = "nodes come from `sinfo --json`, `scontrol show node`, slurm.conf with Gres=gpu:N, or "
                              "`kubectl get nodes -o json`"}};
  return snapshot;
}

}  // namespace contend
