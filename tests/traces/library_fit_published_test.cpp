// NCCL's cost model against published logs of nccl-tests, with NCCL's own constants and with two fitted ones. The
// figures are the figures of docs/validation/network.md.

#include "calibration/library_fit.hpp"
#include "tests/calibration/library_deviation.hpp"
#include "tests/near.hpp"
#include "tests/test_data.hpp"
#include "traces/layers/collective_log.hpp"

#include <algorithm>
#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/core.h>

using namespace contend;

namespace {

struct PublishedLog {
  const char* file;
  const char* version;  ///< of the log, or for one that does not say it
  int servers, ranks;
};

LibraryMeasurements read_measurements(const std::string& path, const PublishedLog& log) {
  CollectiveReadOptions options;
  options.ranks = log.ranks;
  LibraryMeasurements measured;
  measured.servers = log.servers;
  const CollectiveLog read = read_collective_log(path, CollectiveFormat::nccl, options);
  for (const CollectiveSample& sample : read.samples) {
    CHECK(sample.ranks == log.ranks);
    if (is_comparable(sample)) measured.samples.push_back(sample);
  }
  if (!read.nccl_version.empty()) CHECK(read.nccl_version == log.version);
  return measured;
}

std::vector<LibraryPoint> of(std::vector<LibraryPoint> points, TimedExchange exchange, bool held_out) {
  std::erase_if(points, [&](const LibraryPoint& point) {
    return point.sample.exchange != exchange || (held_out && point.for_fit);
  });
  return points;
}

struct Expected {
  TimedExchange exchange;
  double planned;  ///< median of the absolute deviation with NCCL's constants, rounded
};

void check_log(const PublishedLog& log, const std::vector<Expected>& expected) {
  const auto path = test_data("communication/" + std::string{log.file});
  if (!path) return;
  CAPTURE(*path);
  const NcclMachine& machine = find_nccl_machine("dgx-h100");
  const NcclChoices choices{.version = read_nccl_version(log.version), .graph = {}};
  const LibraryMeasurements measured = read_measurements(*path, log);
  const std::vector<LibraryPoint> planned = compare_with_library(measured, machine, choices);
  const NcclFit fit = fit_library(measured, machine, choices);
  const std::vector<LibraryPoint> fitted = compare_with_library(measured, machine, choices, fit);
  std::string figures = fmt::format("{}: hop {:.2f} us, channel {:.2f} GB/s", log.file, *fit.hop, *fit.channel_rate);
  for (const Expected& each : expected) {
    const LibraryDeviation before = deviation_of(of(planned, each.exchange, false));
    const LibraryDeviation after = deviation_of(of(fitted, each.exchange, true));
    figures += fmt::format("\n  {}: planned {:+.1f}% ({:.1f}%), fitted and held out {:+.1f}% ({:.1f}%)",
                           to_string(each.exchange), 100 * before.median, 100 * before.median_error, 100 * after.median,
                           100 * after.median_error);
    CAPTURE(to_string(each.exchange));
    CHECK(before.median_error == near_absolute(each.planned, 0.008));
    CHECK(after.points >= 5);
    CHECK(after.median_error <= 0.10);
  }
  MESSAGE(figures);
}

constexpr auto kReduce = TimedExchange::all_reduce;
constexpr auto kScatter = TimedExchange::reduce_scatter;
constexpr auto kGather = TimedExchange::all_gather;
constexpr auto kAllToAll = TimedExchange::all_to_all;

}  // namespace

TEST_CASE("NCCL's model: one server of AWS from 8 B on") {
  check_log({"aws_p5/all_reduce_8xH100_one_node.txt", "2.23.4", 1, 8}, {{kReduce, 0.074}});
}

TEST_CASE("NCCL's model: three servers of a cluster, each alone") {
  for (const char* file : {"h100_cluster/nccl_N1_G8_cnode3-002.log", "h100_cluster/nccl_N1_G8_cnode3-003.log",
                           "h100_cluster/nccl_N1_G8_cnode3-004.log"})
    check_log({file, "2.29.2", 1, 8}, {{kReduce, 0.034}, {kScatter, 0.023}, {kGather, 0.027}, {kAllToAll, 0.128}});
}

TEST_CASE("NCCL's model: ten servers with one GPU each") {
  check_log({"h100_cluster/nccl_N10_G1.log", "2.29.2", 10, 10},
            {{kReduce, 0.025}, {kScatter, 0.006}, {kGather, 0.012}, {kAllToAll, 0.07}});
}

TEST_CASE("NCCL's model: ten servers with eight GPUs each") {
  check_log({"h100_cluster/nccl_N10_G8.log", "2.29.2", 10, 80},
            {{kReduce, 0.153}, {kScatter, 0.263}, {kGather, 0.239}, {kAllToAll, 0.048}});
}

TEST_CASE("NCCL's model: two servers of another cluster, whose network is slower than the machine's") {
  check_log({"h100_cluster/nccl_N2_G1_cnode2-001_cnode2-002.log", "2.28.7", 2, 2}, {{kAllToAll, 0.715}});
}
