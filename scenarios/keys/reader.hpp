#pragma once
// Reads scenarios strictly: an unknown or duplicate key, or a value of the wrong type, unit or range, is an error, and
// the errors of all files are thrown at once as one InputError.
//
// The last layer that sets a key determines its value (scenarios/yaml/source_layers.hpp). Values are replaced as a
// whole, except policies, whose parameters stay until another policy is named. A group that a later layer sets to {}
// has its defaults again. A key that a later layer displaces (ScenarioKey::displaces) counts as never set. Paths are
// relative to the file that contains them.

#include "scenarios/scenario.hpp"
#include "scenarios/yaml/source_layers.hpp"

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace contend {

struct LoadOptions {
  std::vector<std::string> overrides;  ///< `key=value` with a dotted key and a value in YAML; the last one wins
  /// If given, is set to a line for each override that takes the meaning from keys which were given before it, or the
  /// place of workload.like or workload.jobs.
  std::vector<std::string>* notes = nullptr;
  /// If given, is asked for further complaints about a scenario that has some: about files that it names, as far as it
  /// could be read. `training_read` is false if entries of training may be missing.
  std::function<std::vector<Complaint>(const Scenario& scenario, bool training_read)> more = {};
};

/// Reads the scenario in a file. Throws InputError.
[[nodiscard]] Scenario load_scenario(const std::string& path, const LoadOptions& options = {});

/// Reads the scenario in `text`; messages call it `name`, and paths are relative to its folder. `read` supplies
/// included files; without it every include is an error. Throws InputError.
[[nodiscard]] Scenario parse_scenario(std::string_view text, const std::string& name, const LoadOptions& options = {},
                                      const FileReader& read = {});

/// A scenario that is parsed once and then varied many times by layers on top of it.
class ScenarioVariants {
 public:
  /// Throws InputError for faults that every variant has. Constraints between keys are checked only in each variant,
  /// because one of its layers may satisfy them.
  ScenarioVariants(std::string_view text, const std::string& name, const LoadOptions& options, FileReader read);
  ~ScenarioVariants();
  ScenarioVariants(ScenarioVariants&&) noexcept;
  ScenarioVariants& operator=(ScenarioVariants&&) noexcept;

  /// The scenario from which all variants start; it need not be valid by itself.
  [[nodiscard]] const Scenario& base() const;
  [[nodiscard]] Scenario& base();
  /// The variant with these layers. Several threads may call it. Throws InputError.
  [[nodiscard]] Scenario with(std::span<const ScenarioLayer* const> layers) const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace contend
