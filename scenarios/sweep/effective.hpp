#pragma once
// Determines what a point of a sweep amounts to: the effective values of keys, and a hash of everything that decides
// the results.

#include "scenarios/keys/keys.hpp"
#include "scenarios/run/job_lists.hpp"
#include "scenarios/run/named_files.hpp"
#include "scenarios/scenario.hpp"

#include <optional>
#include <span>
#include <string>
#include <vector>

namespace contend {

/// A key that a sweep shows, or a part of one such as `policies.placement.kappa`.
class EffectiveKey {
 public:
  /// `shown`: all keys and parts that are shown. A policy is then shown without the parameters that are shown
  /// themselves.
  EffectiveKey(const std::string& name, std::span<const std::string> shown);
  [[nodiscard]] const std::string& name() const { return name_; }
  /// The value in effect; nothing if the key has no meaning in the scenario.
  [[nodiscard]] std::optional<PlainValue> value(const Scenario& scenario) const;

 private:
  std::string name_;
  const ScenarioKey* key_;
  std::string part_;                ///< empty: all of the key
  std::vector<std::string> apart_;  ///< parts of the key that are shown on their own
};

/// Hashes scenarios; it reads every input file once. Several threads may share one object.
class PointHasher {
 public:
  /// Job lists count by the bytes that `lists` has read, so that the runs have the jobs that the hash covers.
  explicit PointHasher(JobLists& lists) : files_{lists} {}

  /// 16 hexadecimal digits that cover the scenario without name, description, seed and replicas; input files count by
  /// content, not by path.
  [[nodiscard]] std::string operator()(Scenario scenario);
  /// The files that the scenarios so far name.
  [[nodiscard]] std::vector<InputFile> files() const { return files_.met(); }

 private:
  NamedFiles files_;
};

}  // namespace contend
