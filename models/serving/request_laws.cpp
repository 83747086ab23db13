#include "models/serving/request_laws.hpp"

#include "sim/error.hpp"
#include "sim/portable_math.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace contend {

namespace {

constexpr double kHour = 3600;

/// Gamma of this shape and mean `shape`: Marsaglia and Tsang, "A simple method for generating gamma variables", ACM
/// TOMS 26 (2000); below 1 a gamma of shape + 1 times u^(1 / shape).
double gamma(RandomStream& stream, double shape) {
  if (shape < 1) {
    const double large = gamma(stream, shape + 1);
    return large * portable_exp(portable_log(1 - stream.uniform()) / shape);
  }
  const double d = shape - 1.0 / 3, c = 1 / std::sqrt(9 * d);
  for (;;) {
    const double x = stream.normal(0, 1), v = (1 + c * x) * (1 + c * x) * (1 + c * x);
    if (v <= 0) continue;
    if (portable_log(1 - stream.uniform()) < 0.5 * x * x + d - d * v + d * portable_log(v)) return d * v;
  }
}

}  // namespace

void LengthLaw::check() const {
  if (cap < 1 || cap > INT32_MAX) throw InputError("the largest length is below 1, or above 2^31");
  if (!(constant >= 1 && std::isfinite(constant))) throw InputError("a length is below 1");
  if (mu && !(std::isfinite(*mu) && std::isfinite(sigma) && sigma >= 0)) {
    throw InputError("a log-normal length needs a mean of its logarithm and a standard deviation >= 0");
  }
  const bool valid =
      std::is_sorted(quantiles.begin(), quantiles.end()) &&
      std::all_of(quantiles.begin(), quantiles.end(), [](double q) { return std::isfinite(q) && q >= 0; });
  if (!valid) throw InputError("the quantiles of a length are negative or fall");
}

std::int64_t LengthLaw::draw(RandomStream& stream) const {
  double tokens = constant;
  if (!quantiles.empty()) {
    const double place = stream.uniform() * static_cast<double>(quantiles.size() - 1);
    const auto below = static_cast<std::size_t>(place);
    const double low = quantiles[below], high = quantiles[std::min(below + 1, quantiles.size() - 1)];
    tokens = low + (high - low) * (place - static_cast<double>(below));
  } else if (mu) {
    tokens = stream.lognormal(*mu, sigma);
  }
  return static_cast<std::int64_t>(std::clamp(std::floor(tokens + 0.5), 1.0, static_cast<double>(cap)));
}

void ArrivalLaw::check() const {
  const auto valid = [](double rate) { return rate >= 0 && rate <= 1e9; };
  if (!std::all_of(per_second.begin(), per_second.end(), valid) ||
      !std::any_of(per_second.begin(), per_second.end(), [](double rate) { return rate > 0; })) {
    throw InputError("requests need a rate above 0 in some hour, and none below 0 or above 1e9/s");
  }
  if (!(cv > 0 && cv <= 1000)) throw InputError("the variation of gaps must be above 0, and at most 1000");
}

RequestStream::RequestStream(RequestLaws laws, std::uint64_t seed, const std::string& name, Time begin)
    : laws_{std::move(laws)},
      arrivals_{seed, name + "/arrivals"},
      prompts_{seed, name + "/prompts"},
      answers_{seed, name + "/answers"},
      prefixes_{seed, name + "/prefixes"},
      begin_{begin} {
  laws_.arrivals.check();
  laws_.prompt.check();
  laws_.answer.check();
  if (laws_.prefixes < 0 || !(laws_.hits >= 0 && laws_.hits <= 1)) {
    throw InputError("the number of prefixes is negative, or the share of hits isn't between 0 and 1");
  }
}

double RequestStream::gap() {
  const double cv = laws_.arrivals.cv;
  if (cv == 1) return arrivals_.exponential(1);
  return gamma(arrivals_, 1 / (cv * cv)) * cv * cv;
}

ServedRequest RequestStream::next() {
  const std::vector<double>& rates = laws_.arrivals.per_second;
  double left = gap();  // requests that are expected until this one
  for (;;) {
    const double hour = std::floor(second_ / kHour);
    const double rate = rates[static_cast<std::size_t>(std::fmod(hour, static_cast<double>(rates.size())))];
    const double until = rates.size() == 1 ? left / rate : (hour + 1) * kHour - second_;
    if (rates.size() == 1 || left <= rate * until) {
      second_ += left / rate;
      break;
    }
    left -= rate * until;
    second_ = (hour + 1) * kHour;
  }
  ServedRequest request;
  request.arrival = begin_ + Time::ceil_nanoseconds(second_ * 1e9);
  request.prompt = laws_.prompt.draw(prompts_);
  request.answer = laws_.answer.draw(answers_);
  if (laws_.prefixes > 0) request.prefix = prefixes_.uniform_integer(0, laws_.prefixes - 1);
  request.hits = static_cast<std::int64_t>(std::floor(laws_.hits * static_cast<double>(request.prompt)));
  return request;
}

}  // namespace contend
