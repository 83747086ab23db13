#include "layer_test_kit.hpp"

#include "traces/layers/collective_log.hpp"

#include <string>

using namespace contend;

namespace {

std::string log_complaints(const std::string& text, CollectiveFormat format = CollectiveFormat::osu,
                           const CollectiveReadOptions& options = {}) {
  try {
    static_cast<void>(parse_collective_log(text, "log", format, options));
  } catch (const InputError& error) {
    return error.what();
  }
  return {};
}

}  // namespace

TEST_CASE("collective logs: OSU, with and without ranks, and DreamDDP's table") {
  const auto plain = parse_collective_log(
      "\n# OSU MPI Allreduce Latency Test v5.4.0\n# Size       Avg Latency(us)\n"
      "4    54.50\r\n1048576 2251.961\n",
      "log", CollectiveFormat::osu);
  REQUIRE(plain.samples.size() == 2);
  CHECK_FALSE(plain.guessed_exchange);
  CHECK(plain.samples[0].ranks == 0);
  CHECK(plain.samples[0].size == Bytes{4});
  CHECK(plain.samples[0].time == Time::nanoseconds(54'500));
  CHECK(plain.samples[1].time == Time::nanoseconds(2'251'961));
  const auto bare = parse_collective_log("8,4  82.28", "log", CollectiveFormat::osu);
  CHECK(bare.samples[0].ranks == 8);
  CHECK(bare.guessed_exchange);

  const auto table =
      parse_collective_log("node_num,job_num,msg_size,avg_latency\n2,3,100,5.25\n", "log", CollectiveFormat::csv)
          .samples;
  REQUIRE(table.size() == 1);
  CHECK(table[0].ranks == 2);
  CHECK(table[0].jobs == 3);
  CHECK(table[0].time == Time::nanoseconds(5'250));
}

TEST_CASE("collective logs: OSU's other benchmarks, and -f") {
  const auto full = parse_collective_log(
      "# OSU MPI-CUDA Allgather Latency Test v7.0\n# Datatype: MPI_CHAR.\n"
      "# Size       Avg Latency(us)   Min Latency(us)   Max Latency(us)  Iterations\n"
      "1024                    12.50             11.00             14.25        1000\n",
      "log", CollectiveFormat::osu, {.exchange = {}, .ranks = 8});
  REQUIRE(full.samples.size() == 1);
  CHECK(full.samples[0].exchange == TimedExchange::all_gather);
  CHECK(full.samples[0].size == Bytes{8192});  // OSU's size is the size of a rank's block
  CHECK(full.samples[0].time == Time::nanoseconds(12'500));

  const auto latency = parse_collective_log("# OSU MPI Latency Test v5.6.3\n# Size          Latency (us)\n0   1.27\n",
                                            "log", CollectiveFormat::osu);
  CHECK(latency.samples[0].exchange == TimedExchange::message);
  CHECK(latency.samples[0].ranks == 2);
  const auto exchange_of = [](const std::string& title) {
    return parse_collective_log("# OSU MPI " + title + " v7.4\n8 2.5\n", "log", CollectiveFormat::osu,
                                {.exchange = {}, .ranks = 4})
        .samples[0];
  };
  CHECK(exchange_of("All-to-All Personalized Exchange Latency Test").exchange == TimedExchange::all_to_all);
  CHECK(exchange_of("All-to-All Personalized Exchange Latency Test").size == Bytes{32});
  CHECK(exchange_of("Reduce_scatter Latency Test").exchange == TimedExchange::reduce_scatter);
  CHECK(exchange_of("Reduce_scatter Latency Test").size == Bytes{8});
  CHECK(exchange_of("Broadcast Latency Test").exchange == TimedExchange::broadcast);
  CHECK(exchange_of("Reduce Latency Test").exchange == TimedExchange::reduce);
}

TEST_CASE("collective logs: OSU, what is of no use") {
  check_says(log_complaints("\n# OSU MPI Bandwidth Test v7.4\n# Size      Bandwidth (MB/s)\n1 2.32\n"),
             "log:2:1: expected latencies, got a bandwidth test");
  check_says(log_complaints("# Size      Bandwidth (MB/s)\n1 2.32\n"), "log:1:1: expected latencies");
  check_says(log_complaints("# OSU MPI Multi Latency Test v7.4\n1 1.88\n"), "log:1:1: expected osu_allreduce, ");
  check_says(log_complaints("# OSU MPI Scatter Latency Test v7.4\n1 1.88\n"),
             "got \"# OSU MPI Scatter Latency Test v7.4\"");
  check_says(log_complaints("bytes,time_us\n8,1\n"),
             "log:1:1: expected the output of an OSU benchmark, with rows `SIZE LATENCY`, got \"bytes,time_us\"");
  check_says(log_complaints("# nThread 1 nGpus 8 minBytes 8\n8 2 float\n"), "log:1:1: expected the output of an OSU");
  check_says(log_complaints("# OSU MPI Allgather Latency Test v7.4\n1 1.88\n"),
             "log:2:1: ranks: the log does not give the number of ranks; give it by --ranks N");
  check_says(log_complaints("# OSU MPI Latency Test v7\n# OSU MPI Reduce Latency Test v7\n1 1.88\n"),
             "log:2:1: expected one benchmark in a log");
  check_says(log_complaints("# OSU MPI Broadcast Latency Test v7\n# Size  Avg Latency(us)  Min Latency(us)\n1 1.88\n"),
             "log:3:3: expected 3 columns as in the header, got 2");
}

TEST_CASE("collective logs: what is wrong, and where") {
  const std::string all = log_complaints("# x\n4 nan\n  0,8 1\nx 1\n8 1 2\n8\n");
  check_says(all, "log:2:3: latency: expected a time >= 0, got \"nan\"");
  check_says(all, "log:3:3: ranks: expected a whole number from 1 to 2147483647, got 0");
  check_says(all, "log:3:1: ranks: expected the same number of ranks as in the first row");
  check_says(all, "log:4:1: size: expected a whole number, got \"x\"");
  check_says(all, "log:5:5: expected only `SIZE LATENCY`");
  check_says(all, "log:6:2: latency: expected a time >= 0, got \"\"");
  check_says(log_complaints("4 0\n"), "log:1:3: latency: expected a time > 0, got 0");
  check_says(log_complaints("# only comments\n"), "log: the log has no samples");
  check_says(log_complaints("node_num,job_num,msg_size\n1,1,1\n", CollectiveFormat::csv), "no column \"avg_latency\"");
}

TEST_CASE("collective logs: our own table") {
  const auto samples = parse_collective_log(
                           "collective,ranks,jobs,bytes,time_ms\n"
                           "all-gather,4,2,1024,0.5\nmessage,2,1,8,0.001\n",
                           "log", CollectiveFormat::csv)
                           .samples;
  REQUIRE(samples.size() == 2);
  CHECK(samples[0].exchange == TimedExchange::all_gather);
  CHECK(samples[0].ranks == 4);
  CHECK(samples[0].jobs == 2);
  CHECK(samples[0].size == Bytes{1024});
  CHECK(samples[0].time == Time::microseconds(500));
  CHECK(samples[1].exchange == TimedExchange::message);

  const auto least = parse_collective_log("time_ns,bytes\n7,8\n", "log", CollectiveFormat::csv,
                                          {.exchange = TimedExchange::broadcast, .ranks = 16});
  CHECK(least.samples[0].exchange == TimedExchange::broadcast);
  CHECK(least.samples[0].ranks == 16);
  CHECK(least.used_exchange);
  CHECK(least.used_ranks);
  CHECK(parse_collective_log("time_ns,bytes\n7,8\n", "log", CollectiveFormat::csv).guessed_exchange);

  const std::string bad =
      log_complaints("collective,ranks,bytes,time_us\nall-gathr,0,8,1\nreduce,2,8,0\n", CollectiveFormat::csv);
  check_says(bad, "log:2: collective: unknown collective \"all-gathr\"; did you mean \"all-gather\"?");
  check_says(bad, "log:2: ranks: expected a whole number from 1");
  check_says(bad, "log:3: time_us: expected a time > 0, got 0");
  check_says(log_complaints("bytes,tim_us\n1,1\n", CollectiveFormat::csv), "unknown column \"tim_us\"; did you mean");
  check_says(log_complaints("bytes,ranks\n1,2\n", CollectiveFormat::csv), "no column \"time_us\" (or time_ns");
  check_says(log_complaints("\n# OSU MPI Latency\n", CollectiveFormat::csv),
             "log:2:1: expected a table with the columns");
}
