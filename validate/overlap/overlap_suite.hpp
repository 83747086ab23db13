#pragma once
// Validates the scheduling of gradients inside an iteration against published measurements and simulations: the K80
// cluster of MG-WFBP (INFOCOM 2019), its V100 cluster (TPDS 2021), and the survey of 2020 on 32 RTX 2080 Ti.

#include "validate/checked_table.hpp"

#include <cstdio>
#include <string_view>
#include <vector>

namespace contend {

[[nodiscard]] CheckedTable overlap_k80_simulated();        ///< reference simulation of GoogLeNet, 4 to 64 nodes
[[nodiscard]] CheckedTable overlap_k80_measured();         ///< speed-ups measured on 2 to 8 nodes
[[nodiscard]] CheckedTable overlap_v100_measured();        ///< ratios measured on 16 V100
[[nodiscard]] CheckedTable overlap_v100_seconds();         ///< the same in seconds, each network left out of the fit
[[nodiscard]] std::vector<CheckedTable> overlap_survey();  ///< throughput measured on 8 to 32 RTX 2080 Ti

/// The text of survey.txt.
[[nodiscard]] std::string_view survey_text();

/// Runs the suite `overlap`.
int validate_overlap(std::FILE* out);

}  // namespace contend
