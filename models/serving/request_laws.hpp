#pragma once
// Requests drawn from laws: when they come, and how long prompts and answers are.

#include "models/serving/request.hpp"
#include "sim/random_stream.hpp"
#include "sim/units.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace contend {

/// A number of tokens: constant, log-normal or by quantiles, which are at the probabilities 0, 1/(n-1), ..., 1, linear
/// between them (an answer's table in shared formats has 1,001). It is rounded to the nearest whole number, at least 1,
/// and cut at the cap, as servers cut answers.
struct LengthLaw {
  double constant = 1;              ///< tokens; where the others aren't given
  std::optional<double> mu{};       ///< log-normal: mean of the logarithm
  double sigma = 0;                 ///< and its standard deviation, >= 0
  std::vector<double> quantiles{};  ///< tokens, rising
  std::int64_t cap = INT32_MAX;     ///< >= 1

  /// Throws InputError for a length below 1, a spread below 0, quantiles that fall.
  void check() const;
  [[nodiscard]] std::int64_t draw(RandomStream& stream) const;
};

/// When requests come. Gaps are gamma distributed (exponential with cv = 1: a Poisson process) in the time in which the
/// rate is 1, so that a rate that changes by the hour stretches them.
struct ArrivalLaw {
  std::vector<double>
      per_second{};  ///< by hour from the begin on, and again from the first behind the last; >= 0, not all 0
  double cv = 1;     ///< standard deviation of a gap over its mean, > 0; 1: Poisson

  void check() const;
};

struct RequestLaws {
  ArrivalLaw arrivals{};
  LengthLaw prompt{};
  LengthLaw answer{};
  std::int64_t prefixes = 0;  ///< as many prefixes, equally popular; 0: no request has one
  double hits = 0;            ///< share of each prompt whose tokens need no computing, 0 to 1
};

/// Requests without end, in order of their arrivals. Each quantity draws from a stream of its own.
class RequestStream {
 public:
  /// The streams are those named NAME/arrivals, /prompts, /answers and /prefixes. Throws InputError by the checks.
  RequestStream(RequestLaws laws, std::uint64_t seed, const std::string& name, Time begin = {});
  [[nodiscard]] ServedRequest next();

 private:
  [[nodiscard]] double gap();

  RequestLaws laws_;
  RandomStream arrivals_, prompts_, answers_, prefixes_;
  Time begin_;
  double second_ = 0;  // of the last arrival, from begin_ on
};

}  // namespace contend
