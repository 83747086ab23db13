#pragma once
// Draws iteration studies as papers do: for each method a bar of computing, compression kernels and exposed
// communication.

#include "results/column_table.hpp"

#include <string>
#include <vector>

namespace contend {

struct IterationBars {
  std::string name;   ///< file name without extension, `iteration-8-workers`
  std::string title;  ///< `An iteration of 8 workers`
  std::string svg;
};

/// True if the folder holds an iteration study, judging by its files.
[[nodiscard]] bool is_study_folder(const std::string& folder);

/// The folder's table of iterations. Throws InputError.
[[nodiscard]] ColumnTable iteration_table(const std::string& folder);

/// One drawing for each number of workers in the folder's overlap.csv, rows in file order. Throws InputError.
[[nodiscard]] std::vector<IterationBars> iteration_bars(const std::string& folder);

}  // namespace contend
