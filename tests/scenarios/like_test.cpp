#include "scenarios/keys/print.hpp"
#include "tests/scenarios/scenario_text.hpp"

#include <string>

#include <doctest/doctest.h>

using namespace contend;

namespace {

std::string errors(std::string_view text, std::vector<std::string> overrides = {}) {
  return errors_of_file(versioned(text), std::move(overrides));
}

}  // namespace

TEST_CASE("workload.like: a trace, a number of jobs, scaling") {
  const Scenario s = parsed("workload: {like: philly, jobs: 100000, scaling: {rate: 2, longest: 7d, largest: 16}}\n");
  CHECK(s.workload.like == "philly");
  CHECK(s.workload.synthetic.jobs == 100'000);
  CHECK_FALSE(s.workload.jobs.has_value());
  CHECK(s.workload.synthetic.rate == 2);
  CHECK(s.workload.synthetic.longest == Time::seconds(7 * 86'400));
  CHECK(s.workload.synthetic.largest == 16);
  // The scenario keeps its meaning when it is printed.
  CHECK(to_yaml(parse_scenario(to_yaml(s), "b.yaml", {}, reader_of({}))) == to_yaml(s));
  CHECK(to_yaml(s).find("generate") == std::string::npos);
  CHECK_FALSE(parsed("workload: {like: itp}\n").workload.synthetic.jobs.has_value());
}

TEST_CASE("workload.jobs is a number or a path: a file of that name is quoted") {
  CHECK(parsed("workload: {jobs: \"100\"}\n").workload.jobs == "100");
  CHECK(parsed("workload: {jobs: 100.csv}\n").workload.jobs == "100.csv");
  const Scenario s = parsed("workload: {jobs: \"100\"}\n");
  CHECK(parse_scenario(to_yaml(s), "b.yaml", {}, reader_of({})).workload.jobs == "100");
  CHECK(errors("workload: {like: philly, jobs: 0}\n") ==
        "a.yaml:2:32: workload.jobs: expected an integer >= 1, got \"0\"");
}

TEST_CASE("a number of jobs needs a trace, a trace can't stand beside a list of jobs") {
  CHECK(errors("workload: {jobs: 100}\n") ==
        "a.yaml:2:18: workload.jobs: a number of jobs needs `workload.like`; name a trace there, or a file here");
  CHECK(errors("workload: {like: phily, jobs: 100}\n").find('\n') == std::string::npos);  // the wrong name alone
  CHECK(errors("workload: {like: phily, jobs: 100}\n").starts_with("a.yaml:2:18: workload.like: expected one of"));
  CHECK(errors("workload: {jobs: list.csv, like: philly}\n") ==
        "a.yaml:2:28: workload.like: needs `no list of jobs (workload.jobs)`");
  // In a later layer a list takes the place of the trace; what scales the trace scales the list.
  const Scenario list = parsed("workload: {like: philly, scaling: {load: 0.5}}\n", {"workload.jobs=list.csv"});
  CHECK(list.workload.jobs == "list.csv");
  CHECK_FALSE(list.workload.like.has_value());
  CHECK(list.workload.synthetic.load == 0.5);
  CHECK(parsed("workload: {like: philly, jobs: 10}\n", {"workload.like=itp"}).workload.synthetic.jobs == 10);
}

TEST_CASE("an override that takes the meaning from other keys is noted") {
  const auto notes = [](const std::string& text, std::vector<std::string> overrides) {
    std::vector<std::string> found;
    static_cast<void>(parse_scenario(versioned(text), "a.yaml", {std::move(overrides), &found}, reader_of({})));
    std::string all;
    for (const std::string& each : found) all += each + "\n";
    return all;
  };
  const std::string trace = "workload: {like: philly, scaling: {load: 0.5}}\n";
  CHECK(notes(trace, {"workload.jobs=list.csv"}) == "--set workload.jobs=list.csv: workload.like no longer counts\n");
  CHECK(notes(trace, {"workload.generate.arrivals=5s"}) ==
        "--set workload.generate.arrivals=5s: workload.like, workload.scaling.load no longer count\n");
  CHECK(notes(trace, {"workload.scaling.load=0.7", "workload.jobs=10"}).empty());
  CHECK(notes("workload: {generate: {arrivals: 5s}}\n", {"cluster.servers=3"}).empty());
}

TEST_CASE("a generated mix and a trace displace each other") {
  const Scenario mix = parsed("workload: {like: philly, scaling: {rate: 2}}\n", {"workload.generate.arrivals=5s"});
  CHECK_FALSE(mix.workload.like.has_value());
  CHECK(parsed("workload: {generate: {arrivals: 5s}}\n", {"workload.like=itp"}).workload.like == "itp");
  CHECK(errors("workload:\n  like: itp\n  generate:\n    arrivals: 5s\n").find("can't stand beside workload.like") !=
        std::string::npos);
}

TEST_CASE("scaling needs a trace; rate and load displace each other") {
  CHECK(errors("workload: {scaling: {largest: 8}}\n") ==
        "a.yaml:2:22: workload.scaling.largest: needs `workload.like, or a list of jobs (workload.jobs)`");
  CHECK(errors("workload: {like: itp, scaling: {load: 0.5, rate: 2}}\n").find("can't stand beside") !=
        std::string::npos);
  CHECK_FALSE(parsed("workload: {like: itp, scaling: {load: 0.5}}\n", {"workload.scaling.rate=2"})
                  .workload.synthetic.load.has_value());
  CHECK(errors("workload: {like: philyl}\n").find("did you mean \"philly\"?") != std::string::npos);
}
