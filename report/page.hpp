#pragma once
// Writes the report page: one self-contained HTML file. Its script draws from embedded JSON. Its content security
// policy allows only this script and no network access, so that nothing in a scenario can send data out.

#include "report/figure.hpp"
#include "report/iteration_bars.hpp"
#include "report/replay.hpp"
#include "report/run_folder.hpp"
#include "report/sweep_data.hpp"

#include <span>
#include <string>

namespace contend {

struct RunPage {
  const RunFolder& folder;
  const RunFolder::Run& run;  ///< the replica whose jobs and timeline are shown
  const ReplayOutcome& replay;
  std::span<const Figure> figures;
  std::span<const IterationBars> drawings{};
};

[[nodiscard]] std::string run_page(const RunPage& page);
/// Runs go by the names of their folders, which name_apart() has made distinct.
[[nodiscard]] std::string comparison_page(std::span<const RunFolder> folders, std::span<const Figure> figures);
[[nodiscard]] std::string sweep_page(const SweepData& data, const SweepAxes& axes, std::span<const Figure> fronts = {});

/// Wraps data in a document. `json` may hold any text; `timeline` holds the bytes of encode_spans(), or is empty.
[[nodiscard]] std::string page_document(const std::string& title, const std::string& json, const std::string& timeline);

}  // namespace contend
