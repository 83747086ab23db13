#include "scenarios/sweep/effective.hpp"

#include "scenarios/keys/print.hpp"
#include "scenarios/sweep/sweep_keys.hpp"

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
  files_.visit(scenario, [](std::string& path, const std::optional<std::string>& sha256) {
    if (sha256) path = "sha256:" + *sha256;
  });
  return scenario_hash(scenario);
}

}  // namespace contend
