#pragma once
// The algorithms of collectives: what each sends (its schedule) and what it costs where nothing else is sent (its
// closed form). A new algorithm is one .cpp, one line in rows.hpp and one in table.cpp.
//
// Closed forms are alpha-beta-gamma costs: a step costs alpha, plus beta for each byte that a rank sends or receives
// (it does both at once), plus gamma for each byte that it reduces. n ranks, V bytes: the size of the full tensor on
// one rank, also for reduce-scatter, all-gather (of its result) and all-to-all. Each row has its formula and source;
// tests hold the executed schedule on an idle switch equal to it.

#include "network/collectives/schedule.hpp"
#include "sim/graph.hpp"

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace contend {

/// Who takes part and how. Ranks are numbered in ring order; rank 0 is the root of broadcast and reduce.
struct CollectiveShape {
  int ranks = 2;            ///< >= 2
  std::vector<int> groups;  ///< sizes of levels from inside to outside, their product is `ranks`; {}: not grouped
  int chunks = 1;           ///< pipelined ones: pieces that follow each other, >= 1
  int servers = 0;          ///< parameter server: the first ranks serve a part each; 0: all ranks
};

/// A start-up (s) and a slope (s per byte), as one rank sees them while all ranks communicate.
struct LinkCost {
  double alpha = 0;
  double beta = 0;
};

struct CollectiveCosts {
  LinkCost flat;                 ///< between neighbours in order of rank: for algorithms that know no levels
  std::vector<LinkCost> levels;  ///< on level i of `groups`, the last for all further ones; empty: `flat`
  double gamma = 0;              ///< s per byte reduced
  bool two_ports = false;        ///< neighbours to the left and right hang on links of their own, as in a torus

  [[nodiscard]] LinkCost on_level(std::size_t level) const {
    return levels.empty() ? flat : levels[level < levels.size() ? level : levels.size() - 1];
  }
};

struct CollectiveAlgorithm {
  std::string_view name;
  std::string_view summary;  ///< one line
  std::string_view formula;  ///< of the all-reduce, or of its first kind; a, b, g are alpha, beta and gamma
  std::string_view source;
  std::span<const CollectiveKind> kinds;
  /// Why it can't be used for this shape; empty if it can.
  std::string (*refusal)(CollectiveKind kind, const CollectiveShape& shape);
  void (*expand)(CollectiveKind kind, const CollectiveShape& shape, std::int64_t bytes, StepForm form,
                 CollectiveSchedule& schedule);
  double (*seconds)(CollectiveKind kind, const CollectiveShape& shape, double bytes, const CollectiveCosts& costs);
  /// The number of chunks, as a real number, that makes `seconds` smallest; null if it isn't pipelined.
  double (*best_chunks)(const CollectiveShape& shape, double bytes, const LinkCost& cost);
};

/// All algorithms, in the order of the catalogue.
[[nodiscard]] std::span<const CollectiveAlgorithm> collective_algorithms();
[[nodiscard]] std::string_view name_of(CollectiveKind kind);  ///< "all-reduce"
[[nodiscard]] bool supports(const CollectiveAlgorithm& algorithm, CollectiveKind kind);

/// Throws InputError: no such algorithm (with the nearest name), or not for this kind (with those that are).
[[nodiscard]] const CollectiveAlgorithm& find_collective_algorithm(std::string_view name, CollectiveKind kind);

/// The schedule. Throws InputError with all reasons: fewer than 2 ranks, no bytes, a shape that the algorithm refuses.
[[nodiscard]] CollectiveSchedule expand_collective(const CollectiveAlgorithm& algorithm, CollectiveKind kind,
                                                   const CollectiveShape& shape, Bytes bytes,
                                                   StepForm form = StepForm::exact);
/// The closed form, in seconds. Throws as `expand_collective`.
[[nodiscard]] double collective_seconds(const CollectiveAlgorithm& algorithm, CollectiveKind kind,
                                        const CollectiveShape& shape, Bytes bytes, const CollectiveCosts& costs);

/// One message from rank 0 to rank 1; costs alpha + V beta.
[[nodiscard]] CollectiveSchedule point_to_point(Bytes bytes);

}  // namespace contend
