// Logs of NCCL Inspector and the flight recorder: bandwidths by hand, what calibration reads of them, and hangs.

#include "traces/recording/production_log.hpp"
#include "tests/near.hpp"
#include "tests/temporary_folder.hpp"
#include "text/atomic_file.hpp"
#include "traces/layers/collective_log.hpp"

#include <initializer_list>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace contend {
namespace {

std::string inspected(int rank, std::string_view collective, int number, std::string_view bytes, std::string_view us,
                      int ranks = 8) {
  return fmt::format(
      R"({{"header":{{"id":"0x7f","rank":{},"n_ranks":{},"nnodes":1}},"metadata":{{"hostname":"a"}},"coll_perf":{{)"
      R"("coll":"{}","coll_sn":{},"coll_msg_size_bytes":{},"coll_exec_time_us":{},"coll_timing_source":"kernel_gpu"}}}})",
      rank, ranks, collective, number, bytes, us);
}

std::string flight_entry(int number, std::string_view state, int length = 1024,
                         std::string_view name = "nccl:all_reduce", std::string_view more = "") {
  return fmt::format(
      R"({{"pg_id":0,"process_group":["0","default_pg"],"collective_seq_id":{0},"is_p2p":false,"profiling_name":"{3}",)"
      R"("input_sizes":[[{2}]],"input_dtypes":["Float"],"output_sizes":[[{2}, 2]],"output_dtypes":["Float"],)"
      R"("time_created_ns":{0}000,"state":"{1}"{4}}})",
      number, state, length, name, more);
}

std::string flight(std::initializer_list<std::string> entries, std::string_view ranks = "[0, 1]") {
  return fmt::format(R"({{"version":"2.10","pg_config":{{"0":{{"name":"0","desc":"default_pg","ranks":"{}"}}}},)"
                     R"("entries":[{}]}})",
                     ranks, fmt::join(entries, ","));
}

ProductionLog logged(std::initializer_list<std::string> texts) {
  ProductionLog log;
  std::size_t number = 0;
  for (const std::string& each : texts) {
    TextSource source{each};
    add_production_log(source, fmt::format("nccl_trace_rank_{}", number++), log);
  }
  return log;
}

/// Bus bandwidth in GB/s.
double bus_of(const CollectiveSample& sample) {
  return sample.size.to_double() / sample.time.to_seconds() * bus_factor(sample.exchange, sample.ranks) / 1e9;
}

using Ranks = std::vector<std::int64_t>;

}  // namespace

TEST_CASE("Inspector: the size of a reduce-scatter is the share of a rank") {
  const auto samples = logged_samples(logged({inspected(0, "AllReduce", 1, "1000000000", "5000") + "\n" +
                                              inspected(0, "ReduceScatter", 2, "2147483648", "41057.0")}));
  REQUIRE(samples.size() == 2);
  CHECK(bus_of(samples[0].sample) == near(350.0, 1e-9));
  CHECK(samples[1].sample.size == Bytes{17'179'869'184});
  CHECK(bus_of(samples[1].sample) == near(366.134, 2e-6));
}

TEST_CASE("Inspector: of the ranks of a collective the shortest time, because the others wait") {
  const ProductionLog log =
      logged({inspected(0, "AllGather", 3, "1000", "40.25", 2) + inspected(1, "AllGather", 3, "1000", "12.5", 2) +
              inspected(1, "Strange", 4, "1000", "1", 2) + inspected(0, "AllReduce", 5, "1000", "1", 2)});
  const auto samples = logged_samples(log);
  REQUIRE(samples.size() == 2);
  CHECK(samples[0].sample.time.ns() == 12'500);
  CHECK(samples[0].sample.size == Bytes{2000});
  CHECK(log.not_understood.size() == 1);
  CHECK(log.ranks == std::set<std::int64_t>{0, 1});
  CHECK(waiting_collectives(log).empty());  // it has no collective that hasn't ended
  // As `contend calibrate network --csv` reads them.
  const CollectiveLog table = parse_collective_log(samples_csv(samples), "a.csv", CollectiveFormat::csv);
  REQUIRE(table.samples.size() == 2);
  CHECK(table.samples[0].exchange == TimedExchange::all_gather);
  CHECK(table.samples[0].ranks == 2);
  CHECK(table.samples[0].size == Bytes{2000});
  CHECK(table.samples[0].time.ns() == 12'500);
}

TEST_CASE("flight recorder: the rank that never enqueued a collective is named") {
  const ProductionLog log = logged(
      {flight({flight_entry(4, "completed"), flight_entry(5, "started")}), flight({flight_entry(4, "completed")})});
  const auto waiting = waiting_collectives(log);
  REQUIRE(waiting.size() == 1);
  CHECK(waiting[0].operation.number == 5);
  CHECK(waiting[0].operation.kind == RecordedCollective::all_reduce);
  CHECK(waiting[0].operation.bytes == Bytes{4096});
  CHECK(waiting[0].started == Ranks{0});
  CHECK(waiting[0].missing == Ranks{1});
  CHECK(waiting[0].without_log.empty());
}

TEST_CASE("flight recorder: streams that are late, ranks without a log, sizes that differ") {
  const auto waiting =
      waiting_collectives(logged({flight({flight_entry(7, "started"), flight_entry(8, "scheduled")}, "[0, 1, 2, 3]"),
                                  flight({flight_entry(7, "scheduled", 512)}, "[0, 1, 2, 3]"),
                                  flight({flight_entry(9, "completed")}, "[0, 1, 2, 3]")}));
  REQUIRE(waiting.size() == 1);
  CHECK(waiting[0].operation.number == 7);
  CHECK(waiting[0].started == Ranks{0});
  CHECK(waiting[0].enqueued == Ranks{1});
  CHECK(waiting[0].missing.empty());  // rank 2 has lost its earlier operations
  CHECK(waiting[0].without_log == Ranks{3});
  CHECK(waiting[0].disagrees);
}

TEST_CASE("flight recorder: nothing waits where all is done; times and sizes of tensors") {
  const std::string gather =
      flight({flight_entry(1, "completed", 10, "nccl:_all_gather_base", R"(,"duration_ms":0.5)")});
  const ProductionLog log = logged({gather, gather});
  CHECK(waiting_collectives(log).empty());
  const auto samples = logged_samples(log);
  REQUIRE(samples.size() == 1);
  CHECK(samples[0].sample.size == Bytes{80});  // [10, 2] in fp32: what a rank gets
  CHECK(samples[0].sample.time.ns() == 500'000);
  CHECK(samples[0].sample.ranks == 2);
}

TEST_CASE("a folder of logs: a pickle and a broken log don't hide the others") {
  const TemporaryFolder folder;
  write_file(folder.path("nccl_trace_rank_0"), flight({flight_entry(1, "started")}));
  write_file(folder.path("nccl_trace_rank_1"), std::string{"\x80\x02}q\x01(X\x09\x00\x00\x00pg_configq\x02", 22});
  write_file(folder.path("nccl_trace_rank_2"), flight({}).substr(0, 60));
  CHECK(is_production_log(folder.path("")));
  const ProductionLog log = read_production_log(folder.path(""));
  CHECK(log.operations.size() == 1);
  REQUIRE(log.faults.size() == 2);
  CHECK(log.faults[0].reason.find("a pickle of the flight recorder") != std::string::npos);
  CHECK_THROWS_AS(static_cast<void>(read_production_log(folder.path("nccl_trace_rank_1"))), InputError);
  write_file(folder.path("rank0.json"), R"({"traceEvents":[]})");
  CHECK(!is_production_log(folder.path("rank0.json")));
}

}  // namespace contend
