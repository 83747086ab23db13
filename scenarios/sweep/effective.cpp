#include "scenarios/sweep/effective.hpp"

#include "scenarios/keys/print.hpp"
#include "scenarios/sweep/sweep_keys.hpp"
#include "sim/error.hpp"
#include "text/atomic_file.hpp"
#include "text/sha256.hpp"

namespace contend {

EffectiveKey::EffectiveKey(const std::string& name, std::span<const std::string> shown)
    : name_{name}, key_{sweepable_key(name)} {
  if (key_ == nullptr) return;
  const std::string group = std::string{key_->path} + ".";
  if (name.starts_with(group)) part_ = name.substr(group.size());
  for (const std::string& each : shown)
    if (each.starts_with(group)) apart_.push_back(each.substr(group.size()));
}

std::optional<PlainValue> EffectiveKey::value(const Scenario& scenario) const {
  if (key_ == nullptr || !applies(*key_, scenario)) return std::nullopt;
  return part_.empty() ? key_->io->plain(scenario, apart_) : key_->io->part(scenario, part_);
}

std::string PointHasher::operator()(Scenario scenario) {
  scenario.name.clear();
  scenario.description.clear();
  scenario.seed = 1;
  scenario.repeat = 1;
  scenario.sweep = {};
  const std::string* const jobs = scenario.workload.jobs ? &*scenario.workload.jobs : nullptr;
  for (std::string* path : paths_of(scenario)) *path = path == jobs ? content_of_jobs(*path) : content(*path);
  return scenario_hash(scenario);
}

std::string PointHasher::content_of_jobs(const std::string& path) {
  try {
    return "sha256:" + lists_.read(path)->sha256;
  } catch (const InputError&) {
    return path;  // its runs report the error
  }
}

std::string PointHasher::content(const std::string& path) {
  const std::scoped_lock lock{mutex_};
  const auto [there, is_new] = files_.emplace(path, std::string{});
  if (is_new) {
    try {
      there->second = "sha256:" + sha256_hex(read_file(path));
    } catch (const InputError&) {
      there->second = path;  // its runs report the error
    }
  }
  return there->second;
}

}  // namespace contend
