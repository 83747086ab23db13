#pragma once
// Determines what a point of a sweep amounts to: the effective values of keys, and a hash of everything that decides
// the results.

#include "scenarios/scenario.hpp"

#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

namespace contend {

/// The value of a key, or of a part of one, as people write it; nothing if the key has no meaning in the scenario. A
/// policy is printed as its name and its non-default parameters, except those in `keys`; a list of one element as that
/// element.
[[nodiscard]] std::optional<std::string> effective_value(const Scenario& scenario, const std::string& key,
                                                         const std::vector<std::string>& keys);

/// Hashes scenarios; it reads every input file once. Several threads may share one object.
class PointHasher {
 public:
  /// 16 hexadecimal digits that cover the scenario without name, description, seed and replicas; input files count by
  /// content, not by path.
  [[nodiscard]] std::string operator()(Scenario scenario);

 private:
  [[nodiscard]] std::string content(const std::string& path);

  std::mutex mutex_;
  std::map<std::string, std::string> files_;  ///< SHA-256 by path
};

}  // namespace contend
