#pragma once
// The page: one HTML file that needs nothing else. Its script draws from JSON; its content security policy lets only
// this script run and forbids the network altogether, so that nothing in a scenario can reach out.

#include "report/figure.hpp"
#include "report/replay.hpp"
#include "report/run_folder.hpp"
#include "report/sweep_data.hpp"

#include <span>
#include <string>
#include <vector>

namespace contend {

struct RunPage {
  const RunFolder& folder;
  const RunFolder::Run& run;  ///< the replica whose jobs and timeline are shown
  const ReplayOutcome& replay;
  std::span<const Figure> figures;
};

[[nodiscard]] std::string run_page(const RunPage& page);
/// Runs go by the names of their folders, which tell them apart: name_apart().
[[nodiscard]] std::string comparison_page(std::span<const RunFolder> folders, std::span<const Figure> figures);
[[nodiscard]] std::string sweep_page(const SweepData& data, const SweepAxes& axes, std::span<const Figure> figures);

/// The document around its data. `json` may hold any text; `timeline` are the bytes of encode_spans(), or empty.
[[nodiscard]] std::string page_document(const std::string& title, const std::string& json, const std::string& timeline);

}  // namespace contend
