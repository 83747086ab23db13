#include "cli/study_warnings.hpp"

#include "cli/layers_report.hpp"
#include "cli/output.hpp"
#include "scenarios/study/fitted_bytes.hpp"
#include "scenarios/study/study_model.hpp"
#include "scenarios/study/study_notes.hpp"

#include <algorithm>
#include <cstddef>
#include <string>
#include <utility>

#include <fmt/format.h>

namespace contend {
namespace {

class StudyWarnings {
 public:
  /// Adds a warning unless it is empty.
  void add(const Scenario& about, const std::string& warning) {
    if (warning.empty()) return;
    auto there = std::ranges::find(warnings_, warning, &Warning::first);
    if (there == warnings_.end()) there = warnings_.insert(there, {warning, {}});
    there->second.push_back(about.name);
  }
  void print() const {
    for (const auto& [warning, names] : warnings_)
      print_message("contend: warning: {}: {}\n", fmt::join(names, ", "), warning);
  }

 private:
  using Warning = std::pair<std::string, std::vector<std::string>>;
  std::vector<Warning> warnings_;
};

}  // namespace

void warn_of_studies(std::span<const Scenario> scenarios) {
  StudyWarnings warnings;
  for (const Scenario& scenario : scenarios) {
    for (const std::string& warning : calibration_warnings(scenario.overlap, study_model(scenario.overlap)))
      warnings.add(scenario, warning);
    for (const std::string& note : study_notes(scenario.cluster, scenario.network, scenario.overlap))
      warnings.add(scenario, note);
  }
  warnings.print();
}

void warn_of_sizes(std::span<const Scenario> scenarios, std::span<const std::vector<StudyMessages>> messages) {
  StudyWarnings warnings;
  for (std::size_t i = 0; i < messages.size(); ++i)
    warnings.add(scenarios[i], unfitted_bytes(scenarios[i].network, messages[i]).note());
  warnings.print();
}

}  // namespace contend
