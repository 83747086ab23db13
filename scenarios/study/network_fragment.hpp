#pragma once
// Writes a network calibration as a scenario fragment, which other scenarios include.

#include "calibration/measured_communication.hpp"
#include "calibration/network_fit.hpp"

#include <optional>
#include <span>
#include <string>
#include <vector>

namespace contend {

enum class FragmentStudy {
  overlap,  ///< an iteration study: alpha and beta of the link for the ring, or of the whole all-reduce
  jobs      ///< a study of jobs: alpha, beta and eta of whole transfers
};

/// Which costs a fragment gets.
struct FragmentChoice {
  FragmentStudy study = FragmentStudy::overlap;
  int ranks = 0;  ///< the whole all-reduce among this many ranks; 0: the link if there is one, else the only all-reduce
  std::optional<SizeRange> sizes{};  ///< fit to these sizes; if not given, to the sizes of the last region
  std::optional<MeasuredInterference> interference{};  ///< the factors of network.interference
};

/// A fragment and its description.
struct NetworkFragment {
  std::string yaml;
  std::string says;                ///< one line that names the costs
  std::vector<std::string> notes;  ///< their limitations, without the limitations of the whole calibration; also in
                                   ///< `yaml`
};

/// Writes a fragment; `provenance` are comment lines about the samples. Throws InputError if the samples do not
/// determine the chosen costs.
[[nodiscard]] NetworkFragment network_fragment(const NetworkCalibration& calibration, const FragmentChoice& choice,
                                               std::span<const std::string> provenance);

/// A fragment with choice.interference alone, which is there.
[[nodiscard]] NetworkFragment interference_fragment(const FragmentChoice& choice,
                                                    std::span<const std::string> provenance);

}  // namespace contend
