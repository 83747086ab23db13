#pragma once
// Draws what an iteration of each job consists of as papers do: a bar of computing, compression kernels and exposed
// communication.

#include "report/run_folder.hpp"

#include <string>
#include <vector>

namespace contend {

struct IterationBars {
  std::string name;   ///< file name without extension, `iteration-8-workers`
  std::string title;  ///< `An iteration of 8 workers`
  std::string svg;
};

/// Of an iteration study, a drawing for each number of workers; of other runs, one of all jobs, unless they are more
/// than a page can show. Jobs without the figures are left out; without any there is no drawing. Throws InputError.
[[nodiscard]] std::vector<IterationBars> iteration_bars(const RunFolder& folder, const RunFolder::Run& run);

}  // namespace contend
