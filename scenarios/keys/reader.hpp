#pragma once
// Reads scenarios, strictly: an unknown or duplicate key, a value of the wrong type, unit or range is an error, and all
// errors of all files are thrown at once as one InputError.
//
// A key is taken from the last layer that sets it (scenarios/yaml/source_layers.hpp); its value is replaced as a whole,
// but for policies, whose parameters stay until another policy is named. A key that a later layer displaces (see
// ScenarioKey::displaces) is as if it had never been set. Paths are relative to the file that holds them.

#include "scenarios/scenario.hpp"
#include "scenarios/yaml/source_layers.hpp"

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace contend {

struct LoadOptions {
  std::vector<std::string> overrides;  ///< `key=value` with a dotted key and a value in YAML; the last wins
};

/// Throws InputError.
[[nodiscard]] Scenario load_scenario(const std::string& path, const LoadOptions& options = {});

/// The scenario in `text`; `name` stands for the file in messages, and paths are relative to its folder. Included files
/// come from `read`; without it every include is an error. Throws InputError.
[[nodiscard]] Scenario parse_scenario(std::string_view text, const std::string& name, const LoadOptions& options = {},
                                      const FileReader& read = {});

/// A scenario that is read once and varied many times, by layers on top of it.
class ScenarioVariants {
 public:
  /// Throws InputError for what is wrong in any case. What spans several keys is only checked in each variant: one of
  /// its layers may mend it.
  ScenarioVariants(std::string_view text, const std::string& name, const LoadOptions& options, FileReader read);
  ~ScenarioVariants();
  ScenarioVariants(ScenarioVariants&&) noexcept;
  ScenarioVariants& operator=(ScenarioVariants&&) noexcept;

  /// What the variants start from. It may not be valid alone.
  [[nodiscard]] const Scenario& base() const;
  [[nodiscard]] Scenario& base();
  /// May be called by several threads. Throws InputError.
  [[nodiscard]] Scenario with(std::span<const ScenarioLayer* const> layers) const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace contend
