#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "sim/complaints.hpp"

using contend::amended;
using contend::Complaint;
using contend::Complaints;
using contend::InputError;

namespace {

std::string thrown_by(Complaints& complaints) {
  try {
    complaints.throw_if_any();
  } catch (const InputError& error) {
    return error.what();
  }
  return "nothing";
}

}  // namespace

TEST_CASE("without a complaint nothing is thrown") {
  Complaints complaints;
  CHECK(complaints.empty());
  CHECK(thrown_by(complaints) == "nothing");
}

TEST_CASE("complaints are thrown together, in the order in which they were added") {
  Complaints complaints;
  complaints.add("servers", "expected at least 1, got 0");
  complaints.add({.file = "jobs.csv", .line = 7, .key = "gpus", .reason = "expected a whole number"});
  complaints.add("", "there is no GPU", "set cluster.gpus_per_server");
  CHECK_FALSE(complaints.empty());
  CHECK(thrown_by(complaints) ==
        "servers: expected at least 1, got 0\n"
        "jobs.csv:7: gpus: expected a whole number\n"
        "there is no GPU; set cluster.gpus_per_server");
}

TEST_CASE("a fault that two parts find is told once") {
  Complaints complaints;
  const auto part = [] { throw InputError{{.file = "a.csv", .line = 3, .reason = "no such GPU"}}; };
  complaints.collect(part);
  complaints.collect(part);
  complaints.collect([] { throw InputError{{.file = "a.csv", .line = 4, .reason = "no such GPU"}}; });
  CHECK(thrown_by(complaints) == "a.csv:3: no such GPU\na.csv:4: no such GPU");
}

TEST_CASE("complaints that were thrown are not thrown again") {
  Complaints complaints;
  complaints.add("batch", "expected at least 1, got 0");
  CHECK(thrown_by(complaints) != "nothing");
  CHECK(complaints.empty());
  CHECK(thrown_by(complaints) == "nothing");
  complaints.add("type", "int8 is for inference");
  CHECK(thrown_by(complaints) == "type: int8 is for inference");
}

TEST_CASE("an amended error has every complaint after the change") {
  const InputError error{std::vector<Complaint>{{.key = "a", .reason = "first"}, {.line = 3, .reason = "second"}}};
  const InputError in_file = amended(error, [](Complaint& each) { each.file = "layers.csv"; });
  CHECK(std::string{in_file.what()} ==
        "layers.csv: a: first\n"
        "layers.csv:3: second");
  CHECK(in_file.complaints().size() == 2);
  CHECK(std::string{error.what()} == "a: first\nsecond");
}
