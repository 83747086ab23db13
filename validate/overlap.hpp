#pragma once
// Scheduling of gradients inside an iteration against published measurements and simulations: the K80 cluster of
// MG-WFBP (INFOCOM 2019), its V100 cluster (TPDS 2021), and the survey of 2020 on 32 RTX 2080 Ti.

#include "models/layers.hpp"
#include "models/overlap/exchange_cost.hpp"
#include "models/overlap/problem.hpp"

#include <cstdio>
#include <string>
#include <string_view>
#include <vector>

namespace contend {

/// A published figure and ours.
struct OverlapCheck {
  std::string name;
  double published = 0;
  double ours = 0;
  double tolerance = 0;  ///< share of the published figure
  std::string_view why;  ///< why it is outside, if that is known and expected; else empty

  [[nodiscard]] double deviation() const { return ours / published - 1; }
  [[nodiscard]] bool is_within() const { return deviation() >= -tolerance && deviation() <= tolerance; }
};

/// One table of the suite.
struct OverlapTable {
  std::string title;
  std::vector<OverlapCheck> checks;
  std::vector<std::string> notes{};  ///< what was fitted, on what
  std::string skipped{};             ///< why it was not run, else empty
};

/// A table holds if every figure is within its tolerance or has a reason, and none that is within has one.
[[nodiscard]] bool holds(const OverlapTable& table);

[[nodiscard]] OverlapTable overlap_k80_simulated();        ///< reference simulation of GoogLeNet, 4 to 64 nodes
[[nodiscard]] OverlapTable overlap_k80_measured();         ///< speed-ups measured on 2 to 8 nodes
[[nodiscard]] OverlapTable overlap_v100_measured();        ///< ratios measured on 16 V100
[[nodiscard]] std::vector<OverlapTable> overlap_survey();  ///< throughput measured on 8 to 32 RTX 2080 Ti

/// The iteration in seconds of a policy of the table, with its usual parameters but for the overrides in YAML
/// (`{policy: mg-wfbp, optimal: false}`).
[[nodiscard]] double overlap_iteration_s(const OverlapProblem& problem, const std::string& policy);
/// A model of the catalogue by the roofline of a device, scaled to a measured iteration of one worker.
[[nodiscard]] TimedModel scaled_model(const std::string& model, const std::string& device, int batch, int sequence,
                                      double iteration_s);

/// Suite `overlap`.
int validate_overlap(std::FILE* out);

}  // namespace contend
