#include "models/training_profile.hpp"

#include <cmath>
#include <cstdint>
#include <string>

#include <doctest/doctest.h>

using namespace contend;

namespace {
struct Row {
  const char* name;
  double mebibytes;
  std::int64_t memory_mebibytes;
  int batch;
  std::int64_t forward_ms, backward_ms;
};
}  // namespace

TEST_CASE("the profiles are the profiles of the reference table, in order of name") {
  // Size and memory in MiB, times in ms: authors' simulator of arXiv 2002.10105.
  const Row rows[] = {{"inception-v3", 103.0, 3291, 16, 35, 52},
                      {"lstm", 251.8, 2751, 64, 32, 47},
                      {"resnet50", 99.2, 3213, 16, 25, 37},
                      {"vgg16", 526.4, 4527, 16, 36, 54}};
  REQUIRE(training_profiles().size() == std::size(rows));
  for (std::size_t i = 0; i < std::size(rows); ++i) {
    const TrainingProfile& profile = training_profiles()[i];
    INFO(rows[i].name);
    CHECK(profile.name == rows[i].name);
    CHECK(profile.batch == rows[i].batch);
    CHECK(profile.forward == Time::milliseconds(rows[i].forward_ms));
    CHECK(profile.backward == Time::milliseconds(rows[i].backward_ms));
    CHECK(profile.memory == Bytes::mebibytes(rows[i].memory_mebibytes));
    CHECK(std::abs(profile.gradient.to_double() - rows[i].mebibytes * 1'048'576) <= 0.5);
    CHECK_FALSE(profile.source.empty());
    CHECK(find_training_profile(rows[i].name) == &profile);
  }
  CHECK(find_training_profile("vgg") == nullptr);
  CHECK(find_training_profile("") == nullptr);

  // How many of each fit on a GPU of 32768 MiB (reference, section 2).
  const auto fit = [](const char* name) {
    return Bytes::mebibytes(32768).count() / find_training_profile(name)->memory.count();
  };
  CHECK(fit("vgg16") == 7);
  CHECK(fit("resnet50") == 10);
  CHECK(fit("inception-v3") == 9);
  CHECK(fit("lstm") == 11);
}

TEST_CASE("data parallelism: forward, backward, one all-reduce, and the next forward waits for it") {
  const TrainingProfile& profile = *find_training_profile("resnet50");
  const IterationGraph graph = data_parallel_graph(profile, 8);
  graph.validate();
  REQUIRE(graph.roles().size() == 1);
  CHECK(graph.ranks() == 8);
  REQUIRE(graph.ops().size() == 3);
  CHECK(graph.ops()[0].duration == Time::milliseconds(25));
  CHECK(graph.ops()[1].duration == Time::milliseconds(37));
  CHECK(graph.ops()[2].kind == OpKind::collective);
  CHECK(graph.ops()[2].collective == CollectiveKind::all_reduce);
  CHECK(graph.ops()[2].bytes == profile.gradient);
  CHECK(graph.compute_total() == GpuTime{Time::milliseconds(62), 8});
  std::string edges;
  for (const Dependency& d : graph.dependencies()) {
    edges += graph.ops()[d.before.index()].name + (d.lag == 1 ? "=>" : "->") + graph.ops()[d.after.index()].name + " ";
  }
  CHECK(edges == "forward->backward backward->all-reduce all-reduce=>forward ");
}
