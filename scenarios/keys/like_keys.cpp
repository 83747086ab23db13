#include "scenarios/keys/like_keys.hpp"

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
      row<&ListSampling::subset>(
          "workload.scaling.subset", number_codec(1e-6, 1),
          "share of the jobs of the list that run, drawn at random by the seed; they keep their times of submission"),
      row<&ListSampling::bootstrap>(
          "workload.scaling.bootstrap", bool_codec(),
          "each job of the list keeps its name and submission and takes all else from a job of the list that is drawn "
          "at random, with replacement, by the seed: replicas differ as similar weeks of the cluster would"),
  };
  keys.push_back(row<&WorkloadSetup::think_time>(
      "workload.think_time", optional_codec(quantity_codec(Time{}, kLongestJobTime), "none"),
      "a job that its user submitted at most so long after the recorded end of the user's last job, such as 20min, is "
      "submitted as long after the end of that job in the run: users wait for their jobs. none: jobs come when the "
      "list says"));
  keys.push_back(row<&ListSampling::block>(
      "workload.resample.block",
      optional_codec(quantity_codec(Time::seconds(1), Time::seconds(std::int64_t{3650} * 86'400)), "none"),
      "cut the list into blocks of this length, such as 1d, and draw one fewer than there are with replacement, by the "
      "seed: "
      "replicas differ as other weeks of the cluster would"));
  keys.push_back(row<&ListSampling::replace>("workload.resample.replace", bool_codec(),
                                             "draw the blocks with replacement; false: put them into another order"));
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
  return displacing(
      {"workload.generate"},
      property<Jobs>(
          "workload.jobs",
          [](const Scenario& s) {
            return Jobs{s.workload.jobs, s.workload.synthetic.jobs};
          },
          [](Scenario& s, Jobs value) {
            s.workload.jobs = std::move(value.path);
            s.workload.synthetic.jobs = value.number;
          },
          jobs_codec(),
          "job list (CSV), relative to the file with this key; or the number of jobs to generate from workload.like "
          "(default: as many as the trace has); without either, the job mix of workload.generate"));
}

std::vector<ScenarioKey> like_keys() {
  std::vector<ScenarioKey> keys{
      displacing(
          {"workload.generate"},
          row<&WorkloadSetup::like>("workload.like", optional_codec(name_codec(fitted_workload_names()), ""),
                                    "generate jobs like those of this trace: arrivals, sizes, durations, outcomes")),
      displacing({"workload.scaling.load"},
                 row<&SyntheticWorkload::rate>(
                     "workload.scaling.rate", number_codec(0.001, 1'000),
                     "factor on the arrival rate of the trace or list; the daily and weekly cycles of a trace stay")),
      displacing({"workload.scaling.rate"},
                 row<&SyntheticWorkload::load>(
                     "workload.scaling.load", optional_codec(number_codec(0.001, 100), ""),
                     "arriving GPU time relative to the capacity of the servers that aren't spares; replaces the rate. "
                     "A job of iterations counts with the time that they compute")),
      row<&SyntheticWorkload::durations>(
          "workload.scaling.durations", number_codec(0.001, 1'000),
          "factor on the durations of the trace or list; of a list also on limits and on numbers of iterations"),
      row<&SyntheticWorkload::longest>(
          "workload.scaling.longest",
          optional_codec(quantity_codec(Time::seconds(1), Time::seconds(std::int64_t{3650} * 86'400)), ""),
          "longest duration; longer ones are cut to it, and numbers of iterations to what computes that long"),
      row<&SyntheticWorkload::largest>(
          "workload.scaling.largest", optional_codec(integer_codec<int>(1, kMaxGpus), ""),
          "largest number of GPUs of a job; larger jobs are not generated, or are left out of the list"),
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
