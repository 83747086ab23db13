#pragma once
// Published figures as data with their source: Q. Wang, S. Shi, C. Wang, X. Chu, "Communication Contention Aware
// Scheduling of Multiple Deep Learning Training Jobs", arXiv 2002.10105v1. Only its abstract was available, not its
// tables. The figures serve only for comparison; nothing in the simulator depends on them.

#include <string_view>

namespace contend {

struct PublishedFigure {
  std::string_view what;
  double value;
  std::string_view qualifier;  ///< wording of the source
  std::string_view source;
};

namespace published {

inline constexpr std::string_view kAdaSrsfSource = "Wang, Shi, Wang and Chu, arXiv 2002.10105v1 (2020), abstract";

/// Average JCT under first-fit over that under LWF-k.
inline constexpr PublishedFigure kLwfOverFirstFit{"first-fit / LWF-k", 1.59, "up to", kAdaSrsfSource};
/// Average JCT saved by Ada-SRSF, as a share of that under SRSF(1), which avoids all contention.
inline constexpr PublishedFigure kAdaSrsfOverSrsf1{"saved by Ada-SRSF over SRSF(1)", 0.201, "", kAdaSrsfSource};
/// The same over SRSF(2), which accepts all two-way contention.
inline constexpr PublishedFigure kAdaSrsfOverSrsf2{"saved by Ada-SRSF over SRSF(2)", 0.367, "", kAdaSrsfSource};

}  // namespace published
}  // namespace contend
