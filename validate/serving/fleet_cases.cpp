// The same cases by models/serving, and cases drawn at random.

#include "models/serving/fleet.hpp"
#include "sim/random_stream.hpp"
#include "validate/serving/plain_serving.hpp"

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

namespace contend {

namespace {

constexpr std::int64_t kPsOfNs = 1000;

FleetSpec fleet_spec(const ServingCase& input, bool leaps) {
  ReplicaSpec kind;
  kind.law.overhead = input.overhead * kPsOfNs;
  kind.law.weights = input.weights * kPsOfNs;
  kind.law.token = input.token * kPsOfNs;
  kind.law.cache = input.cache * kPsOfNs;
  kind.tokens = input.tokens;
  kind.batch = input.batch;
  kind.block = input.block;
  kind.blocks = input.blocks;
  kind.chunked = input.chunked;
  kind.leaps = leaps;
  FleetSpec spec;
  spec.replicas = input.replicas;
  spec.replica = kind;
  spec.routing = input.route == 0   ? RequestRouting::round_robin
                 : input.route == 1 ? RequestRouting::least
                                    : RequestRouting::affinity;
  spec.speculation.drafts = input.drafts;
  spec.speculation.accepted = input.accepted;
  spec.decode.replicas = input.decode;
  spec.decode.latency = Time::nanoseconds(input.latency);
  spec.decode.per_token = Time::nanoseconds(input.per_token);
  spec.scaling.period = Time::nanoseconds(input.period);
  spec.scaling.cold = Time::nanoseconds(input.cold);
  spec.scaling.up = input.up;
  spec.scaling.down = input.down;
  spec.scaling.least = input.least;
  spec.scaling.most = input.most;
  spec.scaling.by_owner = input.by_owner;
  return spec;
}

/// Draws of one random case.
class CaseDraws {
 public:
  explicit CaseDraws(std::uint64_t number) : stream_{number, "validate/serving"} {}
  std::int64_t whole(std::int64_t low, std::int64_t high) { return stream_.uniform_integer(low, high); }
  bool one_in(std::int64_t n) { return whole(1, n) == 1; }

 private:
  RandomStream stream_;
};

void draw_limits(CaseDraws& draws, ServingCase& drawn) {
  drawn.overhead = draws.one_in(2) ? 0 : draws.whole(1, 50'000);
  drawn.weights = draws.whole(10'000, 1'000'000);
  drawn.token = draws.whole(0, 50'000);
  drawn.cache = draws.one_in(3) ? 0 : draws.whole(1, 500);
  if (draws.one_in(2)) drawn.batch = draws.whole(1, 6);
  if (draws.one_in(2)) drawn.tokens = draws.whole(4, 40);
  drawn.replicas = static_cast<int>(draws.whole(1, 3));
  drawn.route = static_cast<int>(draws.whole(0, 2));
  if (draws.one_in(4)) {
    drawn.drafts = draws.whole(1, 4);
    for (int i = 0; i < 5; ++i) drawn.accepted.push_back(draws.whole(0, drawn.drafts));
  }
}

/// Acts until `last` or somewhat later.
void draw_acts(CaseDraws& draws, std::int64_t last, std::int64_t grid, ServingCase& drawn) {
  drawn.by_owner = draws.one_in(2);
  if (drawn.cold == 0) drawn.cold = draws.whole(1, 4'000'000);
  const std::int64_t acts = draws.whole(1, 8), mean = (last + 2'000'000) / acts / grid;
  for (std::int64_t i = 0, at = 0; i < acts; ++i) {
    at += (1 + draws.whole(0, 2 * mean)) * grid;
    const std::int64_t stopped = draws.one_in(3) ? -1 : draws.whole(0, drawn.replicas);
    drawn.acts.push_back({at, stopped, draws.one_in(2) ? at : at + draws.whole(1, 1'000'000)});
  }
}

struct FleetOutcome {
  std::vector<RequestResult> records;
  std::vector<std::pair<Time, int>> scaled;
  ServingTotals totals;

  bool operator==(const FleetOutcome&) const = default;
};

/// What an owner does at random instants: it holds the fleet, waits until it stands, and lets it go on; or it loses
/// caches.
class RandomOwner {
 public:
  RandomOwner(Fleet& fleet, std::uint64_t seed) : fleet_{fleet}, stream_{seed, "validate/serving/owner"} { plan(); }
  [[nodiscard]] Time next() const { return left_ > 0 ? at_ : Time::never(); }
  void act(Time now) {
    if (now == at_ && left_ > 0) {
      --left_;
      if (fleet_.held()) {
        fleet_.release(stream_.uniform_integer(0, 1) == 1);
      } else if (const std::int64_t choice = stream_.uniform_integer(0, 3); choice == 0) {
        fleet_.lose(now, static_cast<int>(stream_.uniform_integer(0, fleet_.replicas() - 1)));
      } else if (choice == 1) {
        fleet_.lose(now);
      } else {
        fleet_.hold();
      }
      plan();
    }
    if (left_ == 0 && fleet_.held()) fleet_.release(false);
  }

 private:
  void plan() { at_ += Time::microseconds(100 * stream_.uniform_integer(1, 50)); }

  Fleet& fleet_;
  RandomStream stream_;
  Time at_{};
  int left_ = 12;
};

void act(Fleet& fleet, const ServingCase& input, const std::array<std::int64_t, 3>& act) {
  const Time now = Time::nanoseconds(act[0]);
  if (act[1] >= 0 && act[1] < fleet.replicas()) fleet.stop(now, static_cast<int>(act[1]), Time::nanoseconds(act[2]));
  for (int r = 0; input.by_owner && r < fleet.replicas(); ++r)
    if (fleet.drained(r)) fleet.stop(now, r, now);
  while (fleet.asked() > 0) fleet.start(now, now + Time::nanoseconds(input.cold));
}

FleetOutcome outcome_of(const ServingCase& input, bool leaps, bool interrupted, std::uint64_t seed) {
  Fleet fleet{fleet_spec(input, leaps)};
  for (const auto& [arrival, prompt, answer, prefix, hits] : input.requests) {
    fleet.submit({Time::nanoseconds(arrival), prompt, answer, prefix, hits});
  }
  RandomOwner owner{fleet, seed};
  auto next_act = input.acts.begin();
  for (;;) {
    Time now = interrupted ? std::min(fleet.next(), owner.next()) : fleet.next();
    if (next_act != input.acts.end()) now = std::min(now, Time::nanoseconds((*next_act)[0]));
    if (now == Time::never()) break;
    fleet.advance(now);
    for (; next_act != input.acts.end() && Time::nanoseconds((*next_act)[0]) == now; ++next_act)
      act(fleet, input, *next_act);
    if (interrupted) owner.act(now);
    fleet.begin_steps();
  }
  return {
      {fleet.records().begin(), fleet.records().end()}, {fleet.scaled().begin(), fleet.scaled().end()}, fleet.totals()};
}

}  // namespace

bool leaps_are_exact(const ServingCase& input, bool interrupted, std::uint64_t seed) {
  const FleetOutcome leaping = outcome_of(input, true, interrupted, seed);
  const bool all_end =
      std::ranges::all_of(leaping.records, [](const RequestResult& r) { return r.end != Time::never(); });
  return all_end && leaping == outcome_of(input, false, interrupted, seed);
}

ServingAnswer serve_by_fleet(const ServingCase& input, bool leaps) {
  const FleetOutcome outcome = outcome_of(input, leaps, false, 0);
  ServingAnswer answer;
  for (const RequestResult& record : outcome.records) {
    answer.first.push_back(record.first.ns());
    answer.end.push_back(record.end.ns());
    answer.evictions.push_back(record.evictions);
  }
  for (const auto& [at, live] : outcome.scaled) answer.scaled.emplace_back(at.ns(), live);
  answer.steps = outcome.totals.steps;
  answer.computed = outcome.totals.computed;
  answer.recomputed = outcome.totals.recomputed;
  answer.given = outcome.totals.given;
  answer.gaps = outcome.totals.gaps;
  return answer;
}

ServingCase random_serving_case(std::uint64_t number) {
  CaseDraws draws{number};
  ServingCase drawn;
  draw_limits(draws, drawn);
  if (draws.one_in(4)) {
    drawn.decode = static_cast<int>(draws.whole(1, 2));
    drawn.latency = draws.whole(0, 200'000);
    drawn.per_token = draws.whole(0, 20'000);
  } else if (draws.one_in(3)) {
    drawn.period = draws.whole(500'000, 5'000'000);
    drawn.cold = draws.whole(1, 4'000'000);
    drawn.up = static_cast<double>(draws.whole(1, 4));
    drawn.down = static_cast<double>(draws.whole(0, 1));
    drawn.most = drawn.replicas + static_cast<int>(draws.whole(0, 3));
  }
  // On a grid, where arrivals often fall on ends of steps.
  const std::int64_t grid = draws.one_in(3) ? 100'000 : 1;
  if (grid > 1) {
    drawn.overhead = drawn.token = drawn.cache = 0;
    drawn.weights = grid * draws.whole(1, 5);
  }
  std::int64_t longest = 0, longest_prompt = 0, at = 0;
  const std::int64_t count = draws.whole(3, 40);
  const std::int64_t mean_gap = draws.whole(1, 2'000'000);
  for (std::int64_t i = 0; i < count; ++i) {
    if (!draws.one_in(4)) at += draws.whole(0, mean_gap / grid) * grid;
    const std::int64_t prompt = draws.whole(1, 30), answer = draws.one_in(5) ? 1 : draws.whole(1, 40);
    const std::int64_t hits = draws.one_in(4) ? draws.whole(0, 40) : 0;
    drawn.requests.push_back({at, prompt, answer, draws.whole(0, 5), hits});
    longest = std::max(longest, prompt + answer + drawn.drafts);
    longest_prompt = std::max(longest_prompt, prompt);
  }
  if (draws.one_in(3)) {
    drawn.chunked = false;
    drawn.tokens = std::max(drawn.tokens, longest_prompt);
  }
  if (draws.one_in(2)) {
    drawn.block = draws.whole(1, 8);
    drawn.blocks = longest / drawn.block + 1 + draws.whole(0, 3 * longest / drawn.block);
  }
  if (drawn.decode == 0 && draws.one_in(2)) draw_acts(draws, at, grid, drawn);
  return drawn;
}

}  // namespace contend
