// What is said of the header of a table.

#include "text/csv_header.hpp"

#include <string>
#include <vector>

#include <doctest/doctest.h>

using namespace contend;

namespace {

std::vector<std::string> faults_of_header(const std::vector<std::string>& header) {
  std::vector<std::string> found;
  check_header(header, {"model", "gpus", "type"}, {"model", "gpus"},
               [&](const std::string& reason, const std::string& hint) {
                 found.push_back(hint.empty() ? reason : reason + "; " + hint);
               });
  return found;
}

using Faults = std::vector<std::string>;

}  // namespace

TEST_CASE("a header: each fault once, and none that follows from another") {
  CHECK(faults_of_header({"gpus", "model"}).empty());
  CHECK(faults_of_header({"model"}) == Faults{"no column \"gpus\""});
  CHECK(faults_of_header({"model", "gpus", "gpus"}) == Faults{"column \"gpus\" appears twice"});
  CHECK(faults_of_header({"model", "gpu"}) == Faults{"unknown column \"gpu\"; did you mean \"gpus\"?"});
  CHECK(faults_of_header({"model", "gpus", "colour"}) == Faults{"unknown column \"colour\""});
  CHECK(faults_of_header({"a", "b"}) == Faults{"expected a table with the columns model, gpus, got a, b"});
}
