// Tables about jobs that share GPUs: speeds of pairs, and stages of models.

#include "traces/sharing_tables.hpp"

#include "sim/error.hpp"
#include "tests/complaint_lines.hpp"

#include <string>

#include <doctest/doctest.h>

using namespace contend;

TEST_CASE("pairs: a row says how fast both of its jobs are") {
  const PairTable pairs = parse_pairs(
      "model,with_model,gpus,type,speed,with_speed\n"
      "a,b,1,v100,0.75,0.5\n"
      "a,a,,,0.5,0.5\n"
      "b,c,2,,0,0\n",
      "p.csv");
  CHECK(pairs.at({"a", "b", 1, "v100"}) == 0.75);
  CHECK(pairs.at({"b", "a", 1, "v100"}) == 0.5);
  CHECK(pairs.at({"a", "a", 0, ""}) == 0.5);
  CHECK(pairs.at({"c", "b", 2, ""}) == 0);
  CHECK(pairs.size() == 5);
}

TEST_CASE("pairs: every bad row is named with its line and column") {
  CHECK(complaint_lines([] {
          static_cast<void>(
              parse_pairs("model,with_model,speed,with_speed,gpus\n"
                          "a,b,1.5,0.5,\n"
                          ",b,0.5,0.5,\n"
                          "a,c,0.5,0,\n"
                          "a,a,0.5,0.25,\n"
                          "b,c,0.5,0.5,x\n"
                          "d,e,0.5,0.5,\n"
                          "e,d,0.5,0.5,\n",
                          "p.csv"));
        }) ==
        "p.csv:2: speed: expected a number from 0 to 1, got \"1.5\"\n"
        "p.csv:3: model: expected a name, got nothing\n"
        "p.csv:4: with_speed: one of them can't run beside the other, which can\n"
        "p.csv:5: with_speed: two jobs of one model with different speeds\n"
        "p.csv:6: gpus: expected a whole number from 1 to 1000000, or nothing, got \"x\"\n"
        "p.csv:8: with_model: the pair is in the table already\n");
  CHECK(complaint_lines([] {
          static_cast<void>(parse_pairs("model,with_model,speed\n", "p.csv"));
        }).find("no column \"with_speed\"") != std::string::npos);
}

TEST_CASE("profiles: stages by model and GPUs, and what is wrong with them") {
  const StageTable stages = parse_stages("model,storage,cpu,gpu,network,gpus\na,1,2,3,0.5,\na,4,0,0,0,8\n", "s.csv");
  CHECK(stages.at({"a", 0}) == StageTimes{1, 2, 3, 0.5});
  CHECK(stages.at({"a", 8}) == StageTimes{4, 0, 0, 0});
  CHECK(complaint_lines([] {
          static_cast<void>(
              parse_stages("model,storage,cpu,gpu,network\na,0,0,0,0\nb,-1,0,2,0\nc,1,1,1,1\nc,1,1,1,1\n", "s.csv"));
        }) ==
        "s.csv:2: storage: an iteration that takes no time\n"
        "s.csv:3: storage: expected a number from 0 to 1e+12, got \"-1\"\n"
        "s.csv:5: model: the model has a row for as many GPUs already\n");
}
