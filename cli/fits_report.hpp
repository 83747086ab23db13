#pragma once
// Prints which ways to lay a model out over GPUs fit: `contend fits`.

#include "cli/parallel_report.hpp"
#include "scenarios/spec/training_system.hpp"
#include "scenarios/training/layout_search.hpp"

#include <string>
#include <vector>

namespace contend {

/// A layout that fits, as `contend show --parallel` has it.
struct FitsRow {
  FittingLayout found;
  ShownJob shown;
};

/// What was found.
struct FitsAnswer {
  TrainingSystem system;
  TrainingEntry entry;  ///< without a layout; one of the system's
  int gpus = 1;
  LayoutSearch search;
  std::vector<FitsRow> rows;  ///< of search.fastest, the fastest iteration first
};

/// A table of the fastest layouts, a table of their memory, and how many others were refused and for what.
[[nodiscard]] std::string fits_text(const FitsAnswer& answer);
/// As JSON: `fits` of docs/schema/output.schema.json.
[[nodiscard]] std::string fits_json(const FitsAnswer& answer);

/// Such as `tensor 8, pipeline 16 x 4, data 64, zero 2, micro-batch 1, recompute none`.
[[nodiscard]] std::string layout_words(const Layout& layout, int gpus);

}  // namespace contend
