#include "results/manifest.hpp"

#include "text/json_writer.hpp"

#include <fmt/core.h>
#include <sys/resource.h>

namespace contend {
namespace {

void write_files(JsonWriter& json, std::string_view name, std::span<const InputFile> files) {
  json.key(name).begin_array();
  for (const InputFile& each : files)
    json.begin_object().member("path", each.path).member("sha256", each.sha256).end_object();
  json.end_array();
}

}  // namespace

double peak_memory_mib() {
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_maxrss) / 1024;  // Linux counts KiB
}

std::string exit_state(const Manifest& manifest, std::span<const Replica> replicas) {
  if (manifest.interrupted) return "interrupted";
  for (const Replica& replica : replicas)
    if (!replica.failure.empty()) return "policy failed";
  for (const Replica& replica : replicas)
    if (replica.summary.finished < replica.summary.jobs) return "unfinished jobs";
  return "finished";
}

std::string manifest_json(const Manifest& manifest, std::span<const Replica> replicas,
                          std::span<const InputFile> files) {
  JsonWriter json;
  json.begin_object();
  json.member("program", "contend").member("version", manifest.version).member("git_hash", manifest.git_hash);
  json.key("command_line").begin_array();
  for (const std::string& argument : manifest.command_line) json.value(argument);
  json.end_array();
  json.member("scenario", manifest.scenario_name).member("scenario_hash", manifest.scenario_hash);
  json.member("exit_state", exit_state(manifest, replicas));
  write_files(json, "inputs", manifest.inputs);
  json.member("resampled", draws_of(replicas) == Draws::resamples);
  json.member("peak_memory_mib", peak_memory_mib());
  json.key("replicas").begin_array();
  for (const Replica& replica : replicas) {
    const RunResult& run = replica.result;
    json.begin_object().member("seed", replica.seed).member("interrupted", run.interrupted);
    if (!replica.failure.empty()) json.member("failure", replica.failure);
    json.member("wall_s", replica.wall_s).member("events", run.events).member("leaps", run.leaps);
    json.member("leapt_events", run.leapt_events);
    // As text: 64 bits do not fit the doubles in which most readers keep JSON numbers.
    json.member("fingerprint", fmt::format("{:016x}", run.fingerprint));
    json.member("digest", fmt::format("{:016x}", run.digest)).end_object();
  }
  json.end_array();
  if (!files.empty()) write_files(json, "files", files);
  json.end_object();
  return json.take();
}

}  // namespace contend
