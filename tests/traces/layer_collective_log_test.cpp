#include "layer_test_kit.hpp"

#include "traces/layers/collective_log.hpp"

#include <string>

using namespace contend;

namespace {

std::string complaints(const std::string& text) {
  try {
    static_cast<void>(parse_collective_log(text, "log"));
  } catch (const InputError& error) {
    return error.what();
  }
  return {};
}

}  // namespace

TEST_CASE("collective logs: OSU, with and without ranks, and CSV") {
  const auto plain =
      parse_collective_log("\n# OSU MPI Allreduce\n# Size  Avg\n4    54.50\r\n1048576 2251.961\n", "log");
  REQUIRE(plain.size() == 2);
  CHECK(plain[0].ranks == 0);
  CHECK(plain[0].size == Bytes{4});
  CHECK(plain[0].time == Time::nanoseconds(54'500));
  CHECK(plain[1].time == Time::nanoseconds(2'251'961));
  CHECK(parse_collective_log("8,4  82.28", "log")[0].ranks == 8);

  const auto table = parse_collective_log("node_num,job_num,msg_size,avg_latency\n2,3,100,5.25\n", "log");
  REQUIRE(table.size() == 1);
  CHECK(table[0].ranks == 2);
  CHECK(table[0].jobs == 3);
  CHECK(table[0].time == Time::nanoseconds(5'250));
}

TEST_CASE("collective logs: what is wrong, and where") {
  const std::string all = complaints("# x\n4 nan\n  0,8 1\nx 1\n8 1 2\n8\n");
  check_says(all, "log:2:3: latency: expected a time >= 0, got \"nan\"");
  check_says(all, "log:3:3: ranks: expected a whole number from 1 to 2147483647, got 0");
  check_says(all, "log:3:1: ranks: expected the same number of ranks as in the first row");
  check_says(all, "log:4:1: size: expected a whole number, got \"x\"");
  check_says(all, "log:5:5: expected `SIZE LATENCY` and nothing behind it");
  check_says(all, "log:6:2: latency: expected a time >= 0, got \"\"");
  check_says(complaints("4 0\n"), "log:1:3: latency: expected a time > 0, got 0");
  check_says(complaints("# only comments\n"), "log: the log has no samples");
  check_says(complaints("node_num,job_num,msg_size\n1,1,1\n"), "no column \"avg_latency\"");
}

TEST_CASE("published: all-reduce logs on 10 Gb/s Ethernet") {
  const std::string data = overlap_data();
  if (data.empty()) return;
  const std::string folder = data + "/bcaffe_googlenet_k80/";
  for (const auto& entry : {std::pair{"allreduce2.log", 2}, std::pair{"allreduce4.log", 0},
                            std::pair{"allreduce4.older_commit_2ef1db1.log", 4}, std::pair{"allreduce8.log", 8}}) {
    const std::string file = entry.first;
    const int ranks = entry.second;
    CAPTURE(file);
    const auto samples = read_collective_log(folder + file);
    CHECK(samples.size() == 266);
    CHECK(samples.front().ranks == ranks);
    CHECK(samples.back().size == Bytes{1'048'576});
  }
  CHECK(read_collective_log(folder + "allreduce8.log").back().time == Time::nanoseconds(4'678'910));
  CHECK(read_collective_log(data + "/network/dreamddp_network_benchmark_results.csv").size() == 56);
}
