// The parts of Outages, each by itself, on two servers of two GPUs where no job runs.

#include "sim/agenda.hpp"
#include "sim/components.hpp"
#include "sim/gpus_in_service.hpp"
#include "tests/sim/test_kit.hpp"

#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

namespace contend {
namespace {

using Kind = Agenda::Kind;

struct IdleCluster {
  explicit IdleCluster(FailureSpec failures = {})
      : state{ClusterSpec{2, 2, Bytes{100}}, Workload{}, test::policies_of({}, {}),
              std::make_unique<test::FixedNetwork>(1, 2, 0), with(std::move(failures))} {}
  static SimulationOptions with(FailureSpec failures) {
    SimulationOptions options;
    options.failures = std::move(failures);
    return options;
  }
  EngineState state;
};

}  // namespace

TEST_CASE("an agenda gives what is due at one instant by kind, and then by index") {
  IdleCluster cluster;
  Agenda agenda{cluster.state};
  for (int i = 0; i < 2; ++i) agenda.add_component();
  const Time at = Time::seconds(5);
  const std::vector<Agenda::Due> in_order = {{at, Kind::turn, 0},  {at, Kind::turn, 1},      {at, Kind::spare, 1},
                                             {at, Kind::drain, 0}, {at, Kind::isolation, 1}, {at, Kind::loans, 0},
                                             {at, Kind::step, 0},  {at, Kind::step, 7}};
  for (const std::size_t i : {7U, 4U, 1U, 5U, 3U, 0U, 6U, 2U}) agenda.schedule(at, in_order[i].kind, in_order[i].index);
  agenda.schedule(Time::seconds(6), Kind::spare, 0);
  agenda.settle();
  CHECK(cluster.state.next_outage == at);
  CHECK(cluster.state.calendar.next_time() == at);
  CHECK(!agenda.take());  // nothing is due yet
  cluster.state.clock = at;
  for (const Agenda::Due& each : in_order) CHECK(agenda.take() == std::optional{each});
  CHECK(!agenda.take());
  CHECK(cluster.state.events == in_order.size());
  agenda.settle();
  CHECK(cluster.state.next_outage == Time::seconds(6));
}

TEST_CASE("a component turns when an agenda was told last, and is not isolated after its repair") {
  IdleCluster cluster;
  Agenda agenda{cluster.state};
  for (int i = 0; i < 2; ++i) agenda.add_component();
  agenda.schedule(Time::seconds(3), Kind::turn, 0);
  agenda.schedule(Time::never(), Kind::turn, 0);
  agenda.schedule(Time::seconds(4), Kind::turn, 1);
  agenda.schedule(Time::seconds(7), Kind::turn, 1);
  agenda.schedule(Time::seconds(5), Kind::isolation, 1);
  CHECK(agenda.next_of(0) == Time::never());
  CHECK(agenda.next_of(1) == Time::seconds(5));
  agenda.settle();
  CHECK(cluster.state.next_outage == Time::seconds(5));
  agenda.schedule(Time::never(), Kind::isolation, 1);
  CHECK(agenda.next_of(1) == Time::seconds(7));
  for (const int second : {3, 4, 5}) {
    cluster.state.clock = Time::seconds(second);
    CHECK(!agenda.take());
  }
  cluster.state.clock = Time::seconds(7);
  CHECK(agenda.take() == std::optional{Agenda::Due{Time::seconds(7), Kind::turn, 1}});
  CHECK(agenda.turn_of(1) == Time::never());
}

TEST_CASE("a GPU works again when its last cause is gone, and no job gets it before") {
  FailureSpec failures;
  failures.spares = 1;
  IdleCluster cluster{failures};
  EngineState& state = cluster.state;
  GpusInService gpus{state};
  const GpuId id{3U};
  CHECK(gpus.withhold(id, OutReason::spare));  // at 0 s
  CHECK(!state.capacity.is_free(id));
  state.clock = Time::seconds(10);
  CHECK(!gpus.add_cause(id, OutReason::failed));
  state.clock = Time::seconds(30);
  gpus.remove_cause(id, OutReason::spare);
  CHECK(!state.capacity.is_free(id));
  CHECK(gpus.down(id, Time::seconds(35)) == Time::seconds(35));
  state.clock = Time::seconds(40);
  gpus.remove_cause(id, OutReason::failed);
  CHECK(state.capacity.is_free(id));
  CHECK(gpus.down(id, Time::seconds(100)) == Time::seconds(40));
  CHECK(gpus.take_rejoined().empty());  // no job went on without it
}

TEST_CASE("a server drains GPU by GPU, as jobs leave them, and gets back what was withheld") {
  FailureSpec failures;
  failures.spares = 1;
  IdleCluster cluster{failures};
  EngineState& state = cluster.state;
  GpusInService gpus{state};
  JobSpec job;
  job.memory_per_gpu = Bytes{1};
  const RankDemand demand{job};
  state.take(GpuId{3U}, demand);
  Draining server{1, 2, 2, OutReason::drained};
  server.withhold_free(gpus);
  CHECK(server.is_withheld(2));
  CHECK(!server.is_withheld(3));
  CHECK(!server.is_over());
  state.give_back(GpuId{3U}, demand);
  server.withhold_free(gpus);
  CHECK(server.is_over());
  CHECK(!state.capacity.is_free(GpuId{3U}));
  server.undo(gpus);
  for (const std::uint32_t gpu : {2U, 3U}) CHECK(state.capacity.is_free(GpuId{gpu}));
}

TEST_CASE("components of a cold spare do not age, and those that reach beyond its server do") {
  // GPUs fail 100 s after they begin to work, both servers together after 150 s. From 30 s to 50 s server 1 is cold.
  FailureSpec failures;
  failures.cold_spares = 1;
  const DurationLaw repair = DurationLaw::constant(Time::seconds(20));
  failures.components = {{"gpu", 1, false, DurationLaw::constant(Time::seconds(100)), repair},
                         {"rack", 4, false, DurationLaw::constant(Time::seconds(150)), repair}};
  failures.outages = {{Time::seconds(60), Time::seconds(90), 2, 3}};
  failures.outages.front().drain = Time::seconds(55);
  IdleCluster cluster{failures};
  Agenda agenda{cluster.state};
  Components components{cluster.state, agenda};
  components.begin();
  cluster.state.clock = Time::seconds(30);
  components.suspend(1);
  CHECK(components.next_on(ServerId{0U}) == Time::seconds(100));
  CHECK(components.next_on(ServerId{1U}) == Time::seconds(60));
  cluster.state.clock = Time::seconds(50);
  components.resume(1);
  const std::vector<int> turns = {100, 100, 120, 120, 150, 60};
  for (std::uint32_t c = 0; c < turns.size(); ++c) CHECK(agenda.turn_of(c) == Time::seconds(turns[c]));
  CHECK(components.name_of_failure(4) == "rack");
  CHECK(components.name_of_failure(5) == "a planned outage");
  cluster.state.clock = Time::seconds(120);
  components.turn(2);
  CHECK(components[2].is_out());
  CHECK(agenda.turn_of(2) == Time::seconds(140));
  components.suspend(1);  // a component that is down is repaired nevertheless, and then waits
  CHECK(agenda.turn_of(2) == Time::seconds(140));
  cluster.state.clock = Time::seconds(140);
  components.turn(2);
  CHECK(!components[2].is_down);
}

TEST_CASE("a slow GPU whose class drains takes its server along when it is isolated") {
  FailureSpec failures;
  const DurationLaw law = DurationLaw::constant(Time::seconds(100));
  failures.components = {{"gpu", 1, true, law, law, Slowdown{1'500, 1'000}, FoundBy::slowdown}};
  IdleCluster cluster{failures};
  Agenda agenda{cluster.state};
  Components components{cluster.state, agenda};
  components.turn(3);
  CHECK(components[3].is_slow());
  CHECK(components.slow_under(std::vector{GpuId{1U}, GpuId{2U}}).empty());
  CHECK(components.slow_under(std::vector{GpuId{3U}}) == std::vector<std::uint32_t>{3});
  CHECK(components.out_with(3).first == 3);
  components.set_isolated(3, true);
  CHECK(components[3].is_out());
  CHECK(components.out_with(3).first == 2);
  CHECK(components.out_with(3).last == 4);
  CHECK(components.name_of_failure(3) == "gpu, which is slow,");
  CHECK(components.slow_under(std::vector{GpuId{3U}}).empty());
}

}  // namespace contend
