#include "sim/duration_law.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <string>

#include "tests/effort.hpp"

using namespace contend;

namespace {

double mean_of_draws(const DurationLaw& law, int draws) {
  RandomStream stream{7, "law"};
  double sum = 0;
  for (int i = 0; i < draws; ++i) sum += static_cast<double>(law.draw(stream).ns());
  return sum / draws;
}

}  // namespace

// The standard error of the widest law, Weibull's with shape 0.8, is 1.26 / sqrt(draws) of the mean.
TEST_CASE("every law has the mean that it says") {
  const Time mean = Time::seconds(3600);
  const int draws = effort(40'000);
  for (const LawKind& kind : duration_laws()) {
    CAPTURE(std::string{kind.name});
    const DurationLaw law{kind, mean, kind.parameter == LawParameter::none ? 0 : 0.8};
    CHECK(law.mean() == mean);
    const double ratio = mean_of_draws(law, draws) / static_cast<double>(mean.ns());
    CHECK(std::abs(ratio - 1) < 5 * 1.26 / std::sqrt(draws));
  }
}

TEST_CASE("a draw takes at least a nanosecond, and one beyond the longest never comes") {
  RandomStream stream{1, "law"};
  const DurationLaw longest = DurationLaw::weibull(DurationLaw::kLongest, 0.5);
  bool never = false;
  for (int i = 0; i < 1000; ++i) {
    CHECK(DurationLaw::exponential(Time::nanoseconds(1)).draw(stream) >= Time::nanoseconds(1));
    never = never || longest.draw(stream) == Time::never();
  }
  CHECK(never);
  CHECK(DurationLaw::constant(Time::seconds(5)).draw(stream) == Time::seconds(5));
}
