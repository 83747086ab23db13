// Tests lists of outages: components by name, times to the nanosecond, and every bad row.

#include "traces/failure_events.hpp"
#include "sim/error.hpp"

#include <optional>
#include <string>

#include <doctest/doctest.h>

using namespace contend;

TEST_CASE("outages name GPUs, servers and rows of servers") {
  const auto outages = parse_failure_events(
      "component,down_s,up_s\nserver1,10,20.000000001\ngpu3,0.5,\nserver0-server2,7,8\n", "a.csv", 3, 4);
  REQUIRE(outages.size() == 3);
  CHECK(outages[0].from == Time::seconds(10));
  CHECK(outages[0].until == Time::seconds(20) + Time::nanoseconds(1));
  CHECK(outages[0].first == 4);
  CHECK(outages[0].last == 8);
  CHECK(outages[1].from == Time::milliseconds(500));
  CHECK(outages[1].until > Time::seconds(100LL * 365 * 86'400));
  CHECK(outages[1].first == 3);
  CHECK(outages[1].last == 4);
  CHECK(outages[2].first == 0);
  CHECK(outages[2].last == 12);
}

TEST_CASE("bad outages are named with their lines") {
  try {
    static_cast<void>(
        parse_failure_events("component,down_s,up_s\nserver3,1,2\nrack1,1,2\nserver2-server1,1,2\n"
                             "gpu12,1,2\nserver0,-1,2\n",
                             "a.csv", 3, 4));
    FAIL("bad outages were accepted");
  } catch (const InputError& error) {
    CHECK(error.complaints().size() == 5);
    CHECK(std::string{error.what()}.find("the cluster has no \"server3\"") != std::string::npos);
    CHECK(std::string{error.what()}.find("server0 to server2, gpu0 to gpu11") != std::string::npos);
  }
  CHECK_THROWS_AS(static_cast<void>(parse_failure_events("component,down_s,up_s\nserver0,5,5\n", "a.csv", 3, 4)),
                  InputError);
  CHECK_THROWS_AS(static_cast<void>(parse_failure_events("component,down_s\nserver0,5\n", "a.csv", 3, 4)), InputError);
}

TEST_CASE("a list has components that slow down beside those that fail") {
  const auto outages = parse_failure_events(
      "component,down_s,up_s,slows,slows_network\nserver1,1,2,1.5,\ngpu0,1,2,,2\nserver0,1,2,,\n", "a.csv", 3, 4);
  REQUIRE(outages.size() == 3);
  CHECK(outages[0].slows == Slowdown{1500, 1000});
  CHECK(outages[1].slows == Slowdown{1000, 2000});
  CHECK(outages[2].slows == std::nullopt);
  const auto refused = [](const std::string& rows) {
    try {
      static_cast<void>(parse_failure_events(rows, "a.csv", 3, 4));
    } catch (const InputError& error) {
      return std::string{error.what()};
    }
    return std::string{};
  };
  CHECK(refused("component,down_s,up_s,slows,slows_network\nserver1,1,2,0.9,1\n").find("from 1 to 1000, got 0.9") !=
        std::string::npos);
  // Either column may stand alone, and a misspelt one is named.
  CHECK(parse_failure_events("component,down_s,up_s,slows\nserver1,1,2,2\n", "o.csv", 2, 4)[0].slows->network ==
        Slowdown::kFullPace);
  CHECK(parse_failure_events("component,down_s,up_s,slows_network\nserver1,1,2,2\n", "o.csv", 2, 4)[0].slows->compute ==
        Slowdown::kFullPace);
  CHECK(
      refused("component,down_s,up_s,slow\nserver1,1,2,2\n").find("unknown column \"slow\"; did you mean \"slows\"") !=
      std::string::npos);
  const Outage several = parse_failure_events("component,down_s,up_s\ngpu2-gpu5,1,2\n", "o.csv", 2, 4)[0];
  CHECK(several.first == 2);
  CHECK(several.last == 6);
  CHECK(refused("component,down_s,up_s\ngpu2-gpu12,1,2\n") != "");
  CHECK(refused("component,down_s,up_s\ngpu2-server1,1,2\n") != "");
}

TEST_CASE("a list has planned outages, which drain their servers first") {
  const auto outages = parse_failure_events(
      "component,drain_s,down_s,up_s\nserver1,5,10,20\nserver0,,10,20\ngpu0,10,10,20\n", "a.csv", 3, 4);
  REQUIRE(outages.size() == 3);
  CHECK(outages[0].drain == Time::seconds(5));
  CHECK(outages[1].drain == std::nullopt);
  CHECK(outages[2].drain == Time::seconds(10));
  const auto refused = [](const std::string& text) {
    try {
      static_cast<void>(parse_failure_events(text, "a.csv", 3, 4));
    } catch (const InputError& error) {
      return std::string{error.what()};
    }
    return std::string{};
  };
  CHECK(refused("component,drain_s,down_s,up_s\nserver1,11,10,20\n")
            .find("drain_s: expected a time up to down_s, 10, got 11") != std::string::npos);
  CHECK(
      refused("component,drain_s,down_s,up_s,slows\nserver1,1,10,20,2\n").find("what only slows down is not drained") !=
      std::string::npos);
}
