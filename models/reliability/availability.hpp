#pragma once
// What can be said in closed form about components that fail and come back: whether copies survive, and how often
// spares run out. Rates have one unit of the caller.

namespace contend {

/// The probability that all checkpoints can be restored from the memory of other machines when `lost` of `machines`
/// fail at once, each set of them equally likely, if groups of `copies` machines hold copies of one another's: no
/// group may lose all. `copies`, at most kMostCopies, divides `machines`, and lost <= machines. Source: Gemini, SOSP
/// 2023, section 4: 1 - sum over j >= 1 of (-1)^(j+1) C(N/m, j) C(N - jm, k - jm) / C(N, k). Takes the time of machines
/// x lost steps.
inline constexpr int kMostCopies = 16;
[[nodiscard]] double recovery_probability(int machines, int copies, int lost);

/// The probability that fewer than `needed` >= 1 servers are up, if `needed` work and fail at `failure_rate` each,
/// `spares` >= 0 more wait without failing, and every server that is down is repaired at `repair_rate`. While fewer
/// than needed are up, those that are go on failing. The birth-death process of down servers: births at
/// min(needed, up) failure_rate, deaths at down repair_rate.
[[nodiscard]] double spares_short_probability(int needed, int spares, double failure_rate, double repair_rate);

}  // namespace contend
