// Tests which GPUs the engine simulates as one.

#include "sim/cells.hpp"

#include "tests/sim/test_kit.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <doctest/doctest.h>

using namespace contend;
using namespace contend::test;

namespace {

/// A server of eight GPUs, each of which has just begun the same task of A. B may join it on the four in the middle.
class Server {
 public:
  Server() {
    const std::string pass = " | compute f w 10 | compute b w 20 | f -> b | b => f";
    const std::vector<TestJob> jobs{{"role w 8" + pass, {0, 1, 2, 3, 4, 5, 6, 7}, 5},
                                    {"role w 4" + pass, {2, 3, 4, 5}, 5}};
    state_ = std::make_unique<EngineState>(ClusterSpec{1, 8, Bytes{100}}, workload_of(jobs), policies_of({}, jobs),
                                           std::make_unique<FixedNetwork>(1, 1, 2), SimulationOptions{});
    for (std::size_t job = 0; job < 2; ++job) {
      for (const std::uint32_t gpu : jobs[job].gpus) state_->jobs[job].gpus.emplace_back(gpu);
    }
    occupy(*state_, JobId{0U});
    for (const CellId cell : cells()) begin_task(cell);
  }

  void begin_b() { occupy(*state_, JobId{1U}); }
  void end_b() { leave(*state_, JobId{1U}); }
  /// The numbers of GPUs in the cells of A, the largest last.
  [[nodiscard]] std::vector<std::size_t> sizes() const {
    std::vector<std::size_t> sizes;
    for (const CellId cell : cells()) sizes.push_back(state_->cells[cell.index()].gpus.size());
    std::sort(sizes.begin(), sizes.end());
    return sizes;
  }
  [[nodiscard]] std::vector<CellId> cells() const {
    const auto& cells = state_->jobs[0].live->cells;
    return {cells.begin(), cells.end()};
  }
  /// Makes the loads right after a change of occupants.
  void add_up_loads() {
    for (std::size_t c = 0; c < state_->cells.size(); ++c) {
      state_->loads[c] = GpuTime{};
      for (const Occupant& occupant : state_->cells[c].occupants) state_->loads[c] += state_->load_of(occupant);
    }
  }
  [[nodiscard]] Cell& last() { return state_->at(cells().back()); }
  void merge() {
    const std::vector<CellId> all = cells();
    merge_equal(*state_, all);
    check_seats(*state_);
  }

 private:
  /// A's first, which every GPU runs until 10.
  void begin_task(CellId id) {
    Cell& cell = state_->at(id);
    cell.busy = true;
    cell.running = {JobId{0U}, OpId{0U}, 0};
    cell.end = Time::nanoseconds(10);
    cell.event = state_->calendar.schedule(cell.end, Phase::completions, {CalendarEvent::Kind::task_end, id});
  }

  std::unique_ptr<EngineState> state_;
};

using Sizes = std::vector<std::size_t>;

}  // namespace

TEST_CASE("GPUs that do the same are one cell; a job on some of them splits it, until it has left") {
  Server server;
  CHECK(server.sizes() == Sizes{8});
  server.begin_b();
  CHECK(server.sizes() == Sizes{4, 4});
  server.merge();  // in one of them there is B
  CHECK(server.sizes() == Sizes{4, 4});
  server.end_b();
  CHECK(server.sizes() == Sizes{4, 4});
  server.merge();
  CHECK(server.sizes() == Sizes{8});
}

TEST_CASE("cells that differ in anything stay apart") {
  const auto sizes = [](auto change) {
    Server server;
    server.merge();
    server.begin_b();
    server.end_b();
    change(server.last());
    server.add_up_loads();
    server.merge();
    return server.sizes();
  };
  CHECK(sizes([](Cell&) {}) == Sizes{8});
  CHECK(sizes([](Cell& cell) { cell.running.op = OpId{1U}; }) == Sizes{4, 4});
  CHECK(sizes([](Cell& cell) { cell.running.slot = 1; }) == Sizes{4, 4});
  CHECK(sizes([](Cell& cell) { cell.end = Time::nanoseconds(11); }) == Sizes{4, 4});
  CHECK(sizes([](Cell& cell) { cell.chained = true; }) == Sizes{4, 4});
  CHECK(sizes([](Cell& cell) { cell.occupants[0].remaining_compute = Time::nanoseconds(1); }) == Sizes{4, 4});
  CHECK(sizes([](Cell& cell) { cell.occupants[0].pending[1] = 1; }) == Sizes{4, 4});
}
