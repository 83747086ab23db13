#pragma once
// Studies of one iteration as papers plot them: for each method a bar of computing, kernels of compression and
// communication that nothing hides.

#include <string>
#include <vector>

namespace contend {

struct IterationBars {
  std::string name;  ///< a file name without its ending, `iteration-8-workers`
  std::string svg;
};

/// Whether the folder holds such a study, by its files.
[[nodiscard]] bool is_study_folder(const std::string& folder);

/// One drawing a number of workers of the folder's overlap.csv, rows in its order. Throws InputError.
[[nodiscard]] std::vector<IterationBars> iteration_bars(const std::string& folder);

}  // namespace contend
