#pragma once
// What a point of a sweep comes to: the value of a key in effect, and a hash over all that decides the results.

#include "scenarios/scenario.hpp"

#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

namespace contend {

/// The value of a key, or of a part of one, as people write it; nothing where it means nothing. A policy is its name
/// and the parameters that aren't the usual ones, but for those that are among `keys`; a list of one is what it holds.
[[nodiscard]] std::optional<std::string> effective_value(const Scenario& scenario, const std::string& key,
                                                         const std::vector<std::string>& keys);

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
