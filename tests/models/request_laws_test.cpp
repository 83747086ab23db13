// Requests drawn from laws: means and spreads of many draws beside the law's.

#include "models/serving/request_laws.hpp"

#include "sim/error.hpp"
#include "tests/near.hpp"

#include <cmath>

#include <doctest/doctest.h>

using namespace contend;

namespace {

struct GapMoments {
  double mean = 0, cv = 0;
};

GapMoments gaps_of(double rate, double cv, int draws) {
  RequestLaws laws;
  laws.arrivals = {{rate}, cv};
  RequestStream stream{laws, 7, "gaps"};
  double sum = 0, squares = 0, before = 0;
  for (int i = 0; i < draws; ++i) {
    const double at = stream.next().arrival.to_seconds(), gap = at - before;
    sum += gap;
    squares += gap * gap;
    before = at;
  }
  const double mean = sum / draws;
  return {mean, std::sqrt(squares / draws - mean * mean) / mean};
}

}  // namespace

TEST_CASE("request laws: gaps have the mean and the variation that are asked for") {
  for (const double cv : {0.5, 1.0, 2.0}) {
    const GapMoments gaps = gaps_of(4, cv, 40'000);
    CHECK(gaps.mean == near(0.25, 0.03 * cv));
    CHECK(gaps.cv == near(cv, 0.05));
  }
}

TEST_CASE("request laws: a rate by the hour stretches the gaps") {
  // 2 a second in even hours, none in odd ones: 14,400 requests in four hours, the first 7,200 in the first.
  RequestLaws laws;
  laws.arrivals = {{2, 0}, 1};
  RequestStream stream{laws, 1, "hours"};
  int first = 0, second = 0, third = 0;
  for (Time at = stream.next().arrival; at < Time::seconds(3 * 3600); at = stream.next().arrival) {
    ++(at < Time::seconds(3600) ? first : at < Time::seconds(7200) ? second : third);
  }
  CHECK(first == near(7200, 0.04));
  CHECK(second == 0);
  CHECK(third == near(7200, 0.04));
}

TEST_CASE("request laws: lengths are constant, log-normal or by quantiles, and cut at their cap") {
  RandomStream draws{3, "lengths"};
  LengthLaw law;
  law.constant = 17;
  CHECK(law.draw(draws) == 17);
  law.cap = 12;
  CHECK(law.draw(draws) == 12);
  law = {};
  law.mu = 5;
  law.sigma = 0.5;
  double sum = 0, quantiles = 0;
  LengthLaw table;
  table.quantiles = {10, 20, 60};
  for (int i = 0; i < 20'000; ++i) {
    sum += std::log(static_cast<double>(law.draw(draws)));
    quantiles += static_cast<double>(table.draw(draws));
  }
  CHECK(sum / 20'000 == near(5, 0.01));
  CHECK(quantiles / 20'000 == near((15 + 40) / 2.0, 0.02));
  table.quantiles = {10, 5};
  CHECK_THROWS_AS(table.check(), InputError);
  CHECK_THROWS_AS(ArrivalLaw{}.check(), InputError);
}
