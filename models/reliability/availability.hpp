#pragma once
// What can be said in closed form about components that fail and come back: how often a job of many servers is
// interrupted, whether copies survive, how often spares run out, and how long a queue is whose servers break down.
// Times are in one unit of the caller, rates in its reciprocal.

namespace contend {

/// The mean time between interruptions of a job on `servers` >= 1 servers, each of which fails at `rate` > 0, that is
/// also interrupted at `job_rate` >= 0 whatever its size: 1 / (servers rate + job_rate). Faults of hardware scale with
/// the servers, faults of software often don't; one rate for both fits neither (arXiv 2410.21680).
[[nodiscard]] double interruption_mean(int servers, double rate, double job_rate = 0);

/// The probability that all checkpoints can be restored from the memory of other machines when `lost` of `machines`
/// fail at once, each set of them equally likely, if groups of `copies` machines hold copies of one another's: no
/// group may lose all. `copies` divides `machines`, and lost <= machines. Source: Gemini, SOSP 2023, section 4:
/// 1 - sum over j >= 1 of (-1)^(j+1) C(N/m, j) C(N - jm, k - jm) / C(N, k).
[[nodiscard]] double recovery_probability(int machines, int copies, int lost);

/// The probability that fewer than `needed` >= 1 servers are up, if `needed` work and fail at `failure_rate` each,
/// `spares` >= 0 more wait without failing, and every server that is down is repaired at `repair_rate`. While fewer
/// than needed are up, those that are go on failing. The birth-death process of down servers: births at
/// min(needed, up) failure_rate, deaths at down repair_rate.
[[nodiscard]] double spares_short_probability(int needed, int spares, double failure_rate, double repair_rate);

/// The mean number of customers in a queue with one server, arrivals at `arrival` and service at `service`, whose
/// server fails at `failure` whether it works or idles and is repaired at `repair`; service goes on where it stopped.
/// L = a ((f + r)^2 + s f) / ((f + r) (r s - a (f + r))). NaN if the queue grows without bound. Source: White and
/// Christie, Operations Research 6 (1958); checked by a matrix-geometric solution.
[[nodiscard]] double mean_in_breakdown_queue(double arrival, double service, double failure, double repair);

/// The probability that a customer waits with `servers` >= 1 servers and `load` erlangs, 0 <= load < servers: Erlang C.
[[nodiscard]] double erlang_c(int servers, double load);

/// The long-run share of time in which a component works: repair rate over the sum of both rates.
[[nodiscard]] double availability(double failure_rate, double repair_rate);

}  // namespace contend
