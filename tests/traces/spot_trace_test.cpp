// Tests traces of spot instances by hand, and Bamboo's published one.

#include "traces/spot_trace.hpp"

#include "sim/error.hpp"
#include "tests/near.hpp"
#include "text/atomic_file.hpp"
#include "traces/failure_events.hpp"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include <doctest/doctest.h>

using namespace contend;

TEST_CASE("a node takes the lowest free server, and a server without one is out of service") {
  const std::string trace = "0,add,a\n0,add,b\n1500,remove,a\n2000,add,c\n2000,remove,b\n";
  CHECK(is_spot_trace(trace));
  CHECK_FALSE(is_spot_trace("component,down_s,up_s\nserver0,1,2\n"));
  CHECK_FALSE(is_spot_trace(""));
  // Server 0 has a until 1.5 s and c from 2 s on; server 1 has b until 2 s; server 2 has none.
  const std::vector<Outage> outages = parse_failure_events(trace, "a.csv", 3, 4);
  REQUIRE(outages.size() == 3);
  CHECK(outages[0].from == Time::milliseconds(1500));
  CHECK(outages[0].until == Time::seconds(2));
  CHECK(outages[0].first == 0);
  CHECK(outages[0].last == 4);
  CHECK(outages[1].from == Time::seconds(2));
  CHECK(outages[1].until == Time::never());
  CHECK(outages[1].first == 4);
  CHECK(outages[2].from == Time{});
  CHECK(outages[2].until == Time::never());
  CHECK(outages[2].last == 12);
}

TEST_CASE("bad rows of a spot trace are named with their lines") {
  const auto complaint = [](const std::string& trace) -> std::string {
    try {
      static_cast<void>(parse_spot_trace(trace, "a.csv", 1, 4));
    } catch (const InputError& error) {
      return error.what();
    }
    return "";
  };
  const auto has = [](const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
  };
  CHECK(has(complaint("0,add,a\n1,add,b\n"), "the cluster has 1 servers, and all have a node when b comes"));
  CHECK(has(complaint("0,add,a\n1,add,a\n"), "a is there when it is to be added"));
  CHECK(has(complaint("0,add,a\n1,remove,b\n"), "b is not there when it is to be removed"));
  CHECK(has(complaint("0,add,a\n1,add,b\n"), "a.csv:2"));
  CHECK(has(complaint("5,add,a\n1,remove,a\n"), "in order of time"));
  CHECK(has(complaint("5,add,a\n6,drop,a\n"), "expected add or remove"));
  CHECK(has(complaint("5,add,a\nx,remove,a\n"), "time_ms"));
}

TEST_CASE("Bamboo's trace: 24.03 of at most 32 nodes on average") {
  const char* const data = std::getenv("CONTEND_DATA");
  if (data == nullptr) return;
  const std::filesystem::path path = std::filesystem::path{data} / "elastic" / "bamboo" / "p3-trace.csv";
  if (!std::filesystem::exists(path)) return;
  const std::vector<Outage> outages = read_failure_events(path.string(), 32, 1);
  constexpr double kHours = 40920.0 / 3600;  // until its last row
  double down_h = 0;
  for (const Outage& each : outages)
    down_h += (std::min(each.until.to_seconds() / 3600, kHours) - each.from.to_seconds() / 3600);
  CHECK(32 - down_h / kHours == near(24.03, 2e-4));
  CHECK_THROWS_AS(static_cast<void>(read_failure_events(path.string(), 31, 1)), InputError);
}
