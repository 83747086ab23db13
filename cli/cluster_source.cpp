#include "cli/cluster_source.hpp"

#include "cli/instant_option.hpp"
#include "cli/load.hpp"
#include "cli/manifest_yaml.hpp"
#include "cli/quantity_option.hpp"
#include "scenarios/keys/reader.hpp"

#include <filesystem>
#include <memory>

namespace contend {

ClusterSource::ClusterSource(const Arguments& arguments, const std::string& path) : arguments_{arguments}, path_{path} {
  if (!std::filesystem::is_directory(path)) {
    for (const char* const option : {"now", "limit"}) arguments.refuse(option, "with a scenario, only with a folder");
    return;
  }
  ClusterSnapshot snapshot = read_snapshot({&path, 1}, instant_of(arguments, "now", "since 1970"), read_manifests);
  snapshot_ = scenario_of(snapshot, "snapshot.csv", quantity_of<Time>(arguments, "limit"));
  path_ = (std::filesystem::path{path} / "snapshot.yaml").string();
}

Scenario ClusterSource::load(const std::vector<std::string>& more, const std::string& more_option) const {
  if (!snapshot_) return load_scenarios(arguments_, {&path_, 1}, more, more_option).scenarios.front();
  LoadOptions options{.overrides = arguments_.values("set")};
  options.overrides.insert(options.overrides.end(), more.begin(), more.end());
  return parse_scenario(snapshot_->yaml, path_, options);
}

void ClusterSource::fit(std::vector<JobRequest>& jobs) const {
  if (!snapshot_) return;
  for (JobRequest& job : jobs)
    if (const auto types = snapshot_->types.find(job.vc); types != snapshot_->types.end()) job.gpu_type = types->second;
}

JobLists ClusterSource::lists(const std::map<std::string, std::string>& texts) const {
  const std::string list = snapshot_ ? std::filesystem::path{path_}.replace_extension(".csv").string() : std::string{};
  return JobLists{[this, list, &texts](const std::string& path) -> std::unique_ptr<ByteSource> {
    if (snapshot_ && path == list) return std::make_unique<TextSource>(snapshot_->jobs);
    const auto text = texts.find(path);
    if (text != texts.end()) return std::make_unique<TextSource>(text->second);
    return open_bytes(path);
  }};
}

}  // namespace contend
