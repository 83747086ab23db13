#pragma once
// Closed forms of stragglers: how long a barrier waits for the slowest of many, and what codes of gradients cost that
// need not wait for all. Times are in one unit of the caller.

#include "sim/late_ranks.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace contend {

/// The mean of the time until `awaited` of `workers` have finished whose times are independent and exponential with
/// mean 1: H_workers - H_(workers - awaited), where H_n = 1 + 1/2 + ... + 1/n. 1 <= awaited <= workers. With awaited =
/// workers that is a barrier, with less one with backup workers (Chen et al., arXiv 1604.00981).
[[nodiscard]] double exponential_wait(int workers, int awaited);

/// The same for log-normal times with median 1, whose logarithm has the standard deviation `sigma` in 0..3. By
/// Simpson's rule over the density of the order statistic; relative error < 1e-9 for up to 10^5 workers.
[[nodiscard]] double lognormal_wait(int workers, int awaited, double sigma);

/// How the gradients of a round are coded over workers (M. N. Krishnan, M. Ram, A. Khisti, ICLR 2023).
enum class GradientCode {
  none,              ///< each worker has its part alone
  gradient_coding,   ///< GC: any `stragglers` of a round may be missing (Tandon et al., ICML 2017)
  selective_repeat,  ///< SR-SGC: who straggled does its task again `burst` rounds later
  multiplexed,       ///< M-SGC: parts that repeat and parts that are coded, in one round
};

struct CodingScheme {
  GradientCode code = GradientCode::none;
  int workers = 1;     ///< n >= 1
  int stragglers = 0;  ///< s of gradient_coding, 0..n - 1
  int burst = 1;       ///< B >= 1 of the other two; selective_repeat: a divisor of window - 1
  int window = 2;      ///< W > B
  int distinct = 0;    ///< lambda: stragglers in any W rounds, 0..n
};

/// What is wrong with the parameters; empty if nothing is.
[[nodiscard]] std::string why_no_scheme(const CodingScheme& scheme);
/// A worker computes `computed` / `of` parts of the data in a round, of which there are as many as workers.
struct CodedParts {
  std::int64_t computed = 1, of = 1;
};
[[nodiscard]] CodedParts coding_parts(const CodingScheme& scheme);
/// The stragglers that the code does without in a round, given the stragglers of the rounds before.
[[nodiscard]] LatePattern late_pattern(const CodingScheme& scheme);
/// The part of the data that each worker computes in a round: 1/n without a code, (s + 1)/n with GC and, with s =
/// ceil(B lambda / (W - 1 + B)), SR-SGC; (lambda + 1)(W - 1 + B) / (n (B + (W - 1)(lambda + 1))) with M-SGC, or
/// (W - 1 + B) / (n (W - 1)) if lambda = n.
[[nodiscard]] double coding_load(const CodingScheme& scheme);
/// Rounds after the last for which the results of the last are not complete: 0, 0, B, W - 2 + B.
[[nodiscard]] int coding_delay(const CodingScheme& scheme);

}  // namespace contend
