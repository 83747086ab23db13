#pragma once
// What a point of a sweep comes to: the value of a key in effect, and a hash over all that decides the results.

#include "scenarios/keys/keys.hpp"
#include "scenarios/scenario.hpp"

#include <map>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace contend {

/// A key that a sweep shows, or a part of one such as `policies.placement.kappa`.
class EffectiveKey {
 public:
  /// `shown`: all keys and parts that are shown. A policy is then shown without those of its parameters that are.
  EffectiveKey(const std::string& name, std::span<const std::string> shown);
  [[nodiscard]] const std::string& name() const { return name_; }
  /// The value in effect; nothing where the key means nothing.
  [[nodiscard]] std::optional<PlainValue> value(const Scenario& scenario) const;

 private:
  std::string name_;
  const ScenarioKey* key_;
  std::string part_;                ///< empty: all of the key
  std::vector<std::string> apart_;  ///< parts of the key that are shown on their own
};

/// Hashes of scenarios; shared by threads. Every input file is read once.
class PointHasher {
 public:
  /// 16 hexadecimal digits: the scenario without name, description, seed and replicas, with the content of input files
  /// in place of their paths.
  [[nodiscard]] std::string operator()(Scenario scenario);

 private:
  [[nodiscard]] std::string content(const std::string& path);

  std::mutex mutex_;
  std::map<std::string, std::string> files_;  ///< SHA-256 of each, by path
};

}  // namespace contend
