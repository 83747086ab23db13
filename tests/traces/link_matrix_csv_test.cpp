#include "traces/link_matrix_csv.hpp"

#include "sim/error.hpp"

#include <algorithm>
#include <cstddef>
#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/core.h>

using namespace contend;

namespace {

std::vector<std::string> matrix_complaints(const std::string& text) {
  std::vector<std::string> found;
  try {
    static_cast<void>(parse_link_matrix(text, "links.csv"));
  } catch (const InputError& error) {
    for (const Complaint& each : error.complaints())
      found.push_back(fmt::format("{}:{}: {}: {}", each.file, each.line, each.key, each.reason));
  }
  return found;
}

}  // namespace

TEST_CASE("links are read in any order of columns; a pair may have one direction or none") {
  const LinkMatrix links = parse_link_matrix("mbps,from,to,latency_ms\n80,b,a,1.5\n8,a,b,0\n16,a,c,0.000001\n", "x");
  CHECK(links.sites() == std::vector<std::string>{"b", "a", "c"});
  CHECK(*links.link(0, 1) == SiteLink{Time::microseconds(1500), ByteRate{1e7}});
  CHECK(*links.link(1, 0) == SiteLink{Time{}, ByteRate{1e6}});
  CHECK(*links.link(1, 2) == SiteLink{Time::nanoseconds(1), ByteRate{2e6}});
  CHECK_FALSE(links.link(2, 1));
  CHECK_FALSE(links.complete());
  CHECK(*links.slower_rate(0, 1) == ByteRate{1e6});
  CHECK_FALSE(links.slower_rate(1, 2));
  CHECK(links.first(2).complete());
}

TEST_CASE("every bad row is complained about at its line") {
  CHECK(matrix_complaints("from,to,latency_ms,mbps\n"
                          "a,b,5,100\n"
                          "a,a,5,100\n"
                          "b,a,-1,0\n"
                          "a,b,6,100\n"
                          ",a,x,100\n") ==
        std::vector<std::string>{"links.csv:3: to: a link from \"a\" to itself",
                                 "links.csv:4: latency_ms: expected a number from 0 and at most 3600000, got \"-1\"",
                                 "links.csv:4: mbps: expected a number above 0 and at most 1000000000, got \"0\"",
                                 "links.csv:5: to: the link from \"a\" to \"b\" is on line 2 already",
                                 "links.csv:6: latency_ms: expected a number from 0 and at most 3600000, got \"x\"",
                                 "links.csv:6: from: expected the name of a site, got nothing"});
  CHECK(matrix_complaints("from,too,latency_ms\na,b,1\n") ==
        std::vector<std::string>{"links.csv:1: : unknown column \"too\"", "links.csv:1: : no column \"mbps\""});
  CHECK(matrix_complaints("from,to,latency_ms,mbps\n") ==
        std::vector<std::string>{"links.csv:1: : the table has no links"});
}

TEST_CASE("the shipped matrices are complete; what they say of a pair, by hand") {
  // Tokyo to Oregon: a round trip of 96 ms, 523 Mbit/s.
  const LinkMatrix aws = read_link_matrix("scenarios/overlap/aws-regions.csv");
  CHECK(aws.size() == 10);
  CHECK(aws.complete());
  const std::vector<std::string>& names = aws.sites();
  const auto at = [&](const char* name) {
    return static_cast<std::size_t>(std::find(names.begin(), names.end(), name) - names.begin());
  };
  CHECK(*aws.link(at("Tokyo"), at("Oregon")) == SiteLink{Time::milliseconds(48), ByteRate{523 * 125'000}});
  // The same both ways.
  const LinkMatrix google = read_link_matrix("scenarios/overlap/google-cloud.csv");
  CHECK(google.size() == 12);
  CHECK(google.complete());
  for (std::size_t a = 0; a < 12; ++a) {
    for (std::size_t b = 0; b < a; ++b) CHECK(*google.link(a, b) == *google.link(b, a));
  }
}

TEST_CASE("a relay passes messages on: latencies add up, and the slowest part counts") {
  const std::string legs = "from,to,latency_ms,mbps,relay\na,r,10,80,\nr,a,20,40,\nr,b,3,16,\nb,r,4,800,\n";
  const LinkMatrix links = parse_link_matrix(legs + "a,b,,,r\nb,a,0.5,24,r\n", "x");
  CHECK(links.sites() == std::vector<std::string>{"a", "r", "b"});
  CHECK(*links.link(0, 2) == SiteLink{Time::milliseconds(13), ByteRate{2e6}});
  CHECK(*links.link(2, 0) == SiteLink{Time::microseconds(24'500), ByteRate{3e6}});
  CHECK(links.complete());
  CHECK(matrix_complaints(legs + "a,b,,,q\n") ==
        std::vector<std::string>{"links.csv:6: relay: \"q\" has no link of its own from \"a\""});
  CHECK(matrix_complaints(legs + "c,b,,,r\n") ==
        std::vector<std::string>{"links.csv:6: relay: \"r\" has no link of its own from \"c\""});
  CHECK(matrix_complaints(legs + "a,b,,,\n").size() == 2);
}
