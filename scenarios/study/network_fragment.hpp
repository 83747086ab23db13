#pragma once
// A calibration of a network as the beginning of a scenario, to be included.

#include "calibration/network_fit.hpp"

#include <optional>
#include <span>
#include <string>
#include <vector>

namespace contend {

enum class FragmentStudy {
  overlap,  ///< of one iteration: alpha and beta of the link for the ring, or of the whole all-reduce
  jobs      ///< alpha, beta and eta of whole transfers
};

struct FragmentChoice {
  FragmentStudy study = FragmentStudy::overlap;
  int ranks = 0;  ///< the whole all-reduce among so many; 0: the link, where there is one, else the only all-reduce
  std::optional<SizeRange> sizes{};  ///< fitted to these; not given: those of the last region
};

struct NetworkFragment {
  std::string yaml;
  std::string says;                ///< in a line, which costs these are
  std::vector<std::string> notes;  ///< what they can't say, beyond what holds for the whole calibration; also in `yaml`
};

/// `provenance` are lines of comment about the samples. Throws InputError where the samples don't tell what was chosen.
[[nodiscard]] NetworkFragment network_fragment(const NetworkCalibration& calibration, const FragmentChoice& choice,
                                               std::span<const std::string> provenance);

}  // namespace contend
