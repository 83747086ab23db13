#include "scenarios/keys/key_tables.hpp"

#include "models/workloads/fitted.hpp"
#include "scenarios/keys/key_rows.hpp"

#include <string>
#include <utility>

#include <fmt/format.h>

namespace contend {
namespace {

using key_rows::displacing;
using key_rows::property;
using key_rows::row;

constexpr std::int64_t kMaxDrawn = 10'000'000;

/// The value of `workload.jobs`: one of the two, or neither.
struct Jobs {
  std::optional<std::string> path;
  std::optional<std::int64_t> number;
};

bool has_list(const Scenario& scenario) {
  return scenario.workload.jobs.has_value();
}

bool has_list_or_trace(const Scenario& scenario) {
  return has_list(scenario) || scenario.workload.like.has_value();
}

/// Keys about the jobs of a list.
std::vector<ScenarioKey> sampling_keys() {
  std::vector<ScenarioKey> keys{
      row<&ListSampling::subset>("workload.scaling.subset", number_codec(1e-6, 1)),
      row<&ListSampling::bootstrap>("workload.scaling.bootstrap", bool_codec()),
  };
  keys.push_back(row<&WorkloadSetup::think_time>("workload.think_time",
                                                 optional_codec(quantity_codec(Time{}, kLongestJobTime), "none")));
  keys.push_back(row<&ListSampling::block>(
      "workload.resample.block",
      optional_codec(quantity_codec(Time::seconds(1), Time::seconds(std::int64_t{3650} * 86'400)), "none")));
  keys.push_back(row<&ListSampling::replace>("workload.resample.replace", bool_codec()));
  for (ScenarioKey& key : keys) {
    key.needs = "a list of jobs (workload.jobs)";
    key.conditions = {has_list};
  }
  keys.back().needs = "workload.resample.block";
  keys.back().conditions = {[](const Scenario& scenario) { return scenario.workload.sampling.block.has_value(); }};
  return keys;
}

bool is_number(const YamlNode& node) {
  return node.kind == YamlNode::Kind::scalar && !node.quoted && !node.text.empty() &&
         node.text.find_first_not_of("+-0123456789") == std::string::npos;
}

Codec<Jobs> jobs_codec() {
  const Codec<std::string> path = path_codec();
  const Codec<std::int64_t> number = integer_codec<std::int64_t>(1, kMaxDrawn);
  Codec<Jobs> codec;
  codec.type = "path or integer";
  codec.range = number.range;
  codec.is_optional = true;
  codec.schema = [path, number](JsonWriter& json) { any_of_schema(json, path.schema, number.schema); };
  codec.read = [path, number](const YamlNode& node, const Reading& reading, Jobs& value) {
    const std::size_t complaints = reading.complaints.size();
    Jobs read;
    if (is_number(node)) {
      number.read(node, reading, read.number.emplace());
    } else {
      path.read(node, reading, read.path.emplace());
    }
    if (reading.complaints.size() == complaints) value = std::move(read);
  };
  codec.print = [path, number](const Jobs& value) {
    if (value.path) return path.print(*value.path);
    return value.number ? number.print(*value.number) : std::string{};
  };
  codec.paths = [path](Jobs& value, const PathVisitor& visit) {
    if (value.path) path.paths(*value.path, visit);
  };
  codec.plain = [path, number](const Jobs& value, PartNames apart) -> std::optional<PlainValue> {
    if (value.path) return plain_value(path, *value.path, apart);
    return value.number ? plain_value(number, *value.number, apart) : std::nullopt;
  };
  return codec;
}

}  // namespace

ScenarioKey jobs_key() {
  return displacing({"workload.generate"}, property<Jobs>(
                                               "workload.jobs",
                                               [](const Scenario& s) {
                                                 return Jobs{s.workload.jobs, s.workload.synthetic.jobs};
                                               },
                                               [](Scenario& s, Jobs value) {
                                                 s.workload.jobs = std::move(value.path);
                                                 s.workload.synthetic.jobs = value.number;
                                               },
                                               jobs_codec()));
}

std::vector<ScenarioKey> like_keys() {
  std::vector<ScenarioKey> keys{
      displacing({"workload.generate"},
                 row<&WorkloadSetup::like>("workload.like", optional_codec(name_codec(fitted_workload_names()), ""))),
      displacing({"workload.scaling.load"},
                 row<&SyntheticWorkload::rate>("workload.scaling.rate", number_codec(0.001, 1'000))),
      displacing({"workload.scaling.rate"},
                 row<&SyntheticWorkload::load>("workload.scaling.load", optional_codec(number_codec(0.001, 100), ""))),
      row<&SyntheticWorkload::durations>("workload.scaling.durations", number_codec(0.001, 1'000)),
      row<&SyntheticWorkload::longest>(
          "workload.scaling.longest",
          optional_codec(quantity_codec(Time::seconds(1), Time::seconds(std::int64_t{3650} * 86'400)), "")),
      row<&SyntheticWorkload::largest>("workload.scaling.largest", optional_codec(integer_codec<int>(1, kMaxGpus), "")),
  };
  for (ScenarioKey& key : keys) {
    if (key.path == "workload.like") {
      key.needs = "no list of jobs (workload.jobs)";
      key.conditions = {[](const Scenario& scenario) { return !scenario.workload.jobs; }};
      continue;
    }
    key.needs = "workload.like, or a list of jobs (workload.jobs)";
    key.conditions = {has_list_or_trace};
  }
  for (ScenarioKey& key : sampling_keys()) keys.push_back(std::move(key));
  return keys;
}

std::optional<Complaint> jobs_complaint(const WorkloadSetup& workload, const MeasureSetup& measure) {
  if (measure.until && *measure.until <= measure.from)
    return Complaint{.key = "measure.until",
                     .reason = fmt::format("no job can be submitted from {} on and before {}",
                                           print_quantity(measure.from), print_quantity(*measure.until)),
                     .hint = "choose a time after measure.from"};
  if (workload.sampling.block && workload.sampling.bootstrap)
    return Complaint{.key = "workload.resample.block",
                     .reason = "blocks of jobs can't be drawn together with single jobs (workload.scaling.bootstrap)",
                     .hint = "choose one of the two"};
  if (!workload.synthetic.jobs || workload.like) return std::nullopt;
  return Complaint{.key = "workload.jobs",
                   .reason = "a number of jobs needs `workload.like`",
                   .hint = "name a trace there, or a file here"};
}

}  // namespace contend
