// Logs in the formats of nccl-tests' versions, with figures of our own.

#include "layer_test_kit.hpp"

#include "traces/layers/collective_log.hpp"

#include <string>

using namespace contend;

namespace {

CollectiveLog read(const std::string& text, const CollectiveReadOptions& options = {}) {
  return parse_collective_log(text, "log", CollectiveFormat::nccl, options);
}

std::string nccl_complaints(const std::string& text, const CollectiveReadOptions& options = {}) {
  try {
    static_cast<void>(read(text, options));
  } catch (const InputError& error) {
    return error.what();
  }
  return {};
}

const std::string kNewHeader =
    "#\n"
    "#                                                              out-of-place                       in-place        "
    "  \n"
    "#       size         count      type   redop    root     time   algbw   busbw  #wrong     time   algbw   busbw  "
    "#wrong\n"
    "#        (B)    (elements)                               (us)  (GB/s)  (GB/s)             (us)  (GB/s)  (GB/s)    "
    "   \n";

/// Version 2.17, eight processes on two servers.
std::string new_log(const std::string& program, const std::string& rows) {
  std::string log =
      "# nccl-tests version 2.17.6 nccl-headers=22807 nccl-library=22807\n"
      "# Collective test starting: " +
      program +
      "\n"
      "# nThread 1 nGpus 1 minBytes 8 maxBytes 134217728 step: 2(factor) warmup iters: 1 iters: 20 agg iters: 1 "
      "validation: 1 graph: 0 unalign: 0\n#\n# Using devices\n";
  for (int rank = 0; rank < 8; ++rank)
    log += "#  Rank  " + std::to_string(rank) + " Group  0 Pid   1887 on " + (rank < 4 ? "  node-a" : "  node-b") +
           " device  " + std::to_string(rank % 4) + " [0000:8d:00] NVIDIA H100 80GB HBM3\n";
  return log + kNewHeader + rows +
         "# Out of bounds values : 0 OK\n# Avg bus bandwidth    : 12.5 \n#\n# Collective test concluded: " + program +
         "\n#\n";
}

}  // namespace

TEST_CASE("nccl logs: a new version") {
  const CollectiveLog log = read("NCCL version 2.28.7+cuda13.0\n" +
                                 new_log("all_reduce_perf",
                                         "           0             0     float     sum      -1     5.70    0.00    "
                                         "0.00       0     5.54    0.00    0.00       0\n"
                                         "        1024           256     float     sum      -1    33.25    0.03    "
                                         "0.05       0    30.50    0.03    0.06       0\n"
                                         "node-a:21:21 [0] NCCL INFO comm 0x5600 rank 0 nranks 8 - Destroy COMPLETE\n"
                                         " 10737418240    2684354560     float     sum      -1  80646.8  133.14  "
                                         "233.00       0  80528.8  133.34  233.34     N/A\n"));
  REQUIRE(log.samples.size() == 2);  // the sample of 0 bytes sends nothing
  CHECK_FALSE(log.guessed_exchange);
  CHECK_FALSE(log.used_ranks);
  CHECK(log.servers == 2);
  CHECK(log.nccl_version == "2.28.7");
  CHECK(log.other_lines == 2);
  CHECK(log.samples[0].exchange == TimedExchange::all_reduce);
  CHECK(log.samples[0].ranks == 8);
  CHECK(log.samples[0].jobs == 1);
  CHECK(log.samples[0].size == Bytes{1024});
  CHECK(log.samples[0].time == Time::nanoseconds(30'500));      // in-place
  CHECK(log.samples[1].time == Time::nanoseconds(80'646'800));  // in-place wasn't checked, out-of-place was
  const std::string row =
      "        1024           256     float     sum      -1    33.25    0.03    0.05       0    30.50    0.03    0.06  "
      "     0\n";
  CHECK(read(new_log("all_reduce_perf", row), {.out_of_place = true}).samples[0].time == Time::nanoseconds(33'250));
  CHECK(read(new_log("/opt/bin/all_gather_perf_mpi", row)).samples[0].exchange == TimedExchange::all_gather);
  CHECK(read(new_log("reduce_scatter_perf", row)).samples[0].exchange == TimedExchange::reduce_scatter);
  CHECK(read(new_log("alltoall_perf", row)).samples[0].exchange == TimedExchange::all_to_all);
  CHECK(read(new_log("sendrecv_perf", row)).samples[0].exchange == TimedExchange::message);
  CHECK(read(new_log("broadcast_perf", row)).samples[0].exchange == TimedExchange::broadcast);
  CHECK(read(new_log("reduce_perf", row)).samples[0].exchange == TimedExchange::reduce);
  // Two runs in one log.
  const auto both = read(new_log("all_reduce_perf", row) + new_log("alltoall_perf", row)).samples;
  REQUIRE(both.size() == 2);
  CHECK(both[1].exchange == TimedExchange::all_to_all);
  CHECK(both[1].ranks == 8);
}

TEST_CASE("nccl logs: what launchers put in front of each line changes nothing") {
  const std::string row =
      "        1024           256     float     sum      -1    33.25    0.03    0.05       0    30.50    0.03    0.06  "
      "     0\n";
  const std::string plain = new_log("all_reduce_perf", row + "NCCL INFO from nobody\n\n");
  for (const std::string tag : {"[1,0]<stdout>:", "[prterun-node-a-4711@1,0]<stdout>: ", "0: ", "  0: "}) {
    std::string tagged;
    for (std::size_t at = 0; at < plain.size(); at = plain.find('\n', at) + 1)
      tagged += tag + plain.substr(at, plain.find('\n', at) + 1 - at);
    const CollectiveLog log = read(tagged);
    REQUIRE_MESSAGE(log.samples.size() == 1, tag);
    CHECK(log.samples[0].ranks == 8);
    CHECK(log.samples[0].exchange == TimedExchange::all_reduce);
    CHECK(log.samples[0].time == Time::nanoseconds(30'500));
    CHECK(log.servers == 2);
    CHECK(log.nccl_version == "2.28.7");
    CHECK(log.other_lines == 1);
    // Places are those in the file.
    std::string bad = tagged;
    bad.replace(bad.find("30.50"), 5, "thirt");
    const std::size_t column = row.find("30.50") + tag.size() + 1;
    check_says(nccl_complaints(bad), ":" + std::to_string(column) + ": latency: expected a time >= 0, got \"thirt\"");
  }
  // Another word in brackets, or another number with a colon, is no tag.
  check_says(nccl_complaints("[1,0]<stdout>\n# size count type time algbw busbw\n"), "log: the log has no samples");
  check_says(nccl_complaints("12:34:56 8 2.5\n"), "got \"12:34:56 8 2.5\"");
}

TEST_CASE("nccl logs: old versions, without names, groups, redop and root") {
  const std::string log =
      "# nThread 1 nGpus 2 minBytes 8 maxBytes 134217728 step: 2(factor) warmup iters: 5 iters: 20 validation: 1\n"
      "#\n# Using devices\n"
      "#   Rank  0 Pid   1320 on     gpu-1 device  0 [0x06] Tesla V100-SXM2-16GB\n"
      "#   Rank  1 Pid   1320 on     gpu-1 device  1 [0x07] Tesla V100-SXM2-16GB\n"
      "#\n#                                             out-of-place                       in-place          \n"
      "#       size         count    type     time   algbw   busbw  error     time   algbw   busbw  error\n"
      "#        (B)    (elements)             (us)  (GB/s)  (GB/s)            (us)  (GB/s)  (GB/s)\n"
      "     1048576        131072   float    47.25   22.19   11.10  0e+00    46.84   22.39   11.19  1e-07\n"
      "# Out of bounds values : 0 OK\n# Avg bus bandwidth    : 6.6972\n";
  const CollectiveLog gather = read(log, {.exchange = TimedExchange::all_gather});
  REQUIRE(gather.samples.size() == 1);
  CHECK(gather.samples[0].ranks == 2);
  CHECK(gather.used_exchange);
  CHECK(gather.servers == 1);
  CHECK(gather.samples[0].time == Time::nanoseconds(46'840));
  // Its bandwidths say that it isn't the all-reduce that it would be taken for.
  const std::string all = nccl_complaints(log);
  check_says(all, "log:10:87: busbw: 0.50 times algbw, not 1.00 times as of all-reduce among 2 ranks");
  check_says(all, "--collective");
}

TEST_CASE("nccl logs: columns that newer versions add, and groups") {
  std::string log =
      "# nThread 1 nGpus 4 minBytes 8 maxBytes 8 step: 2(factor)\n"
      "#  Rank  0 Group  0 Pid  7 on h device  0 [0x10] X\n#  Rank  1 Group  1 Pid  7 on h device  1 [0x10] X\n"
      "#  Rank  2 Group  0 Pid  7 on h device  2 [0x10] X\n#  Rank  3 Group  1 Pid  7 on h device  3 [0x10] X\n"
      "#  size  count  type  redop  root  time  algbw  busbw  #wrong  i_min  i_max  i_p99  i_cv%  time  algbw  busbw  "
      "#wrong  i_min  i_max  i_p99  i_cv%  timestamp\n"
      "2097152 524288 float sum -1 100.0 20.97 20.97 0 99 101 101 1 1.1e+02 19.07 19.07 0 99 120 120 1 2026-01-02 "
      "03:04:05\n";
  const CollectiveLog split = read(log);
  REQUIRE(split.samples.size() == 1);
  CHECK(split.samples[0].time == Time::microseconds(110));
  CHECK(split.samples[0].ranks == 2);  // two groups of two, which run at the same time
  CHECK(split.samples[0].jobs == 2);
}

TEST_CASE("nccl logs: what is wrong, and where") {
  const auto row = [](const std::string& text) { return new_log("all_reduce_perf", text); };
  check_says(nccl_complaints("OSU benchmark\n8 2.5\n"), "log:2:1: expected the header of nccl-tests");
  check_says(nccl_complaints("bytes,time_us\n8,2.5\n"),
             "log:1:1: expected the output of nccl-tests, with a header `# size count type ... time algbw busbw`, got "
             "\"bytes,time_us\"");
  check_says(nccl_complaints("\n# OSU MPI Allreduce Latency Test v5\n8 2.5\n"),
             "log:2:1: expected the output of nccl-tests");
  check_says(nccl_complaints(new_log("hypercube_perf", "")), "log:2:29: expected all_reduce_perf, ");
  check_says(nccl_complaints(row("")), "log: the log has no samples");
  const std::string bad =
      nccl_complaints(row("1024 256 float sum -1 33.25 0.03 0.05 0 30.50 0.03 0.06\n"
                          "1024 256 float sum -1 33.25 0.03 0.05 0 nan 0.03 0.06 0\n"
                          "1024 256 float sum -1 33.25 0.03 0.05 3 30.50 0.03 x 7\n"));
  check_says(bad, "log:18:1: expected 13 columns as in the header of line 16, got 12");
  check_says(bad, "log:19:41: latency: expected a time >= 0, got \"nan\"");
  check_says(bad, "log:20:52: bandwidth: expected a number >= 0, got \"x\"");
  check_says(bad, "log:20:54: #wrong: 7 values are wrong");
  check_says(nccl_complaints(row("1048576 1 float sum -1 50 20.97 18.35 0 50 20.97 18.35 0\n")),
             "0.88 times algbw, not 1.75 times as of all-reduce among 8 ranks");
  // Every process ran alone: built without MPI.
  check_says(nccl_complaints("# nThread 1\n#   Rank  0 Pid  1 on a device  0\n#   Rank  0 Pid  2 on b device  0\n"),
             "log:3:5: ranks: rank 0 is there twice");
  check_says(nccl_complaints("#  size count type redop root cputime algbw busbw #wrong\n"), "run without -C");
}
