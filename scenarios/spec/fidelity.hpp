#pragma once
// The fidelities of the network and what each of them can do. Code asks for a trait and never for a fidelity by name,
// so a further fidelity is a row here and a network model in scenarios/run/make_network.cpp.

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace contend {

enum class Fidelity : std::uint8_t { analytic, contention, flow };

/// What a fidelity models.
struct FidelityTraits {
  Fidelity fidelity;
  std::string_view name;   ///< in scenarios
  std::string_view title;  ///< in reports
  /// Transfers take routes over the links of a topology, which has places for servers, and links that may fail. If
  /// not, collectives take closed forms, and only the interfaces of servers limit transfers.
  bool has_topology;
  /// Transfers that meet slow each other down.
  bool shares;
  /// A GPU that computes and a slow server set the pace of their transfers. If not, only tasks get slower.
  bool paces_transfers;
  double usual_penalty;  ///< eta / beta where the scenario does not say it
};

/// The default of `network.contention_penalty` is the ratio 0.235 / 0.856 of the fit to 10 GbE in the authors'
/// simulator of arXiv 2002.10105. Links of a topology share fairly.
inline constexpr double kMeasuredPenalty = 0.235 / 0.856;

/// All fidelities, in the order of the enumeration.
inline constexpr std::array kFidelities{
    FidelityTraits{Fidelity::analytic, "analytic", "analytic", false, false, true, kMeasuredPenalty},
    FidelityTraits{Fidelity::contention, "contention", "contention on interfaces", false, true, true, kMeasuredPenalty},
    FidelityTraits{Fidelity::flow, "flow", "flow", true, true, false, 0},
};

[[nodiscard]] constexpr const FidelityTraits& traits_of(Fidelity fidelity) {
  return kFidelities[static_cast<std::size_t>(fidelity)];
}

}  // namespace contend
