// A day of a million requests on 64 replicas of one GPU, on one core: with leaps, and a part of the day also with every
// step, for the ratio of the two in one run. Lengths are log-normal as in Azure's conversations, the rate follows the
// day.

#include <cstdint>
#include <ctime>
#include <vector>

#include <fmt/core.h>

#include "models/serving/fleet.hpp"
#include "models/serving/request_laws.hpp"

namespace {

using namespace contend;

constexpr int kReplicas = 64;

FleetSpec gpus(bool leaps) {
  ReplicaSpec kind;
  kind.law.overhead = 1'000'000'000;
  kind.law.weights = 7'000'000'000;
  kind.law.token = 30'000'000;
  kind.law.cache = 46'000;
  kind.batch = 256;
  kind.block = 16;
  kind.blocks = 27'000;
  kind.leaps = leaps;
  FleetSpec spec;
  spec.replicas = kReplicas;
  spec.replica = kind;
  return spec;
}

RequestLaws conversations() {
  RequestLaws laws;
  // A million a day, twice the mean rate at noon of a triangle.
  constexpr double kMean = 1e6 / 86'400;
  for (int hour = 0; hour < 24; ++hour) {
    const double from_noon = hour < 12 ? 12 - hour : hour - 12;
    laws.arrivals.per_second.push_back(kMean * 2 * (1 - from_noon / 12));
  }
  laws.prompt.mu = 6.63;
  laws.prompt.sigma = 0.99;
  laws.prompt.cap = 14'050;
  laws.answer.mu = 5.02;
  laws.answer.sigma = 0.86;
  laws.answer.cap = 2'000;
  return laws;
}

struct Served {
  double seconds = 0;
  std::int64_t events = 0, ends_ns = 0;
  ServingTotals totals;
};

Served serve(int requests, bool leaps) {
  RequestStream stream{conversations(), 1, "bench"};
  const std::clock_t begin = std::clock();  // processor time
  Fleet fleet{gpus(leaps)};
  Served served;
  ServedRequest coming = stream.next();
  int submitted = 0;
  for (;;) {
    // One request ahead, so that memory has no day of arrivals.
    const Time next = fleet.next();
    if (submitted < requests && coming.arrival <= next) {
      fleet.submit(coming);
      coming = stream.next();
      ++submitted;
      continue;
    }
    if (next == Time::never()) break;
    fleet.advance(next);
    fleet.begin_steps();
    ++served.events;
  }
  for (const RequestResult& record : fleet.records()) served.ends_ns ^= record.end.ns();
  served.totals = fleet.totals();
  served.seconds = static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC;
  return served;
}

}  // namespace

int main() {
  constexpr int kDay = 1'000'000, kPart = 100'000;
  const Served day = serve(kDay, true);
  fmt::print("{} requests on {} GPUs: {:.2f} s of one core, {} steps in {} events\n", kDay, kReplicas, day.seconds,
             day.totals.steps, day.events);
  const Served leaping = serve(kPart, true), stepping = serve(kPart, false);
  const bool equal = leaping.ends_ns == stepping.ends_ns && leaping.totals == stepping.totals;
  fmt::print("{} requests: {:.2f} s leaping, {:.2f} s step by step: {:.1f} times; ends and counters {}\n", kPart,
             leaping.seconds, stepping.seconds, stepping.seconds / leaping.seconds, equal ? "equal" : "DIFFER");
  return equal ? 0 : 1;
}
