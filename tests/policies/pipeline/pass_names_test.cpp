// Names of passes, written by the iteration graph and read back.

#include "models/parallel/pass_names.hpp"
#include "models/parallel/training_iteration.hpp"
#include "models/passes/spread_passes.hpp"
#include "tests/policies/pipeline/pipeline_kit.hpp"

#include <cstddef>
#include <string>
#include <vector>

#include <doctest/doctest.h>

using namespace contend;
using namespace contend::test;

TEST_CASE("the names of all passes of a graph are read back as what they are") {
  for (const char* schedule : {"1f1b", "zb-h1", "dualpipe"}) {
    TrainingIteration job;
    job.plan = valid_plan({schedule, {}}, {.ranks = 4, .micro_batches = 12, .chunks = 0});
    ModelUnit unit;
    unit.forward = unit.backward_input = unit.backward_weight = Time::nanoseconds(10);
    unit.dense_elements = 5;
    job.units.assign(static_cast<std::size_t>(job.plan.stages), {2, unit});
    job.data = 2;
    job.bucket = 1;  // the last passes are cut in two
    job.messages.assign(static_cast<std::size_t>(job.plan.stages - 1), Bytes{1});
    job.update.assign(job.plan.ranks(), Time::nanoseconds(7));
    const IterationGraph graph = training_graph(job);
    std::vector<std::vector<NamedPass>> read(graph.roles().size());
    std::size_t cut = 0, merged = 0;
    for (const Op& op : graph.ops()) {
      const std::vector<NamedPass> passes = passes_of_name(op.name);
      CHECK(passes.empty() == (op.kind != OpKind::compute || op.name == "update"));
      if (op.kind == OpKind::compute && op.name.find(" part ") != std::string::npos) ++cut;
      if (passes.size() == 2) ++merged;
      for (const NamedPass& pass : passes) {
        std::vector<NamedPass>& lane = read[op.role.index()];
        CHECK(pass.stage == job.plan.stage(op.role.index(), pass.pass));
        if (lane.empty() || lane.back().pass != pass.pass) lane.push_back(pass);
      }
    }
    CHECK(cut > 0);
    CHECK((merged > 0) == (std::string{schedule} == "dualpipe"));
    for (std::size_t rank = 0; rank < job.plan.ranks(); ++rank) {
      std::vector<PipelinePass> planned, seen;
      for (const PipelineStep& step : job.plan.order[rank])
        for (const PipelinePass& pass : step.passes()) planned.push_back(pass);
      for (const NamedPass& pass : read[rank]) seen.push_back(pass.pass);
      CHECK(seen == planned);
    }
  }
}

TEST_CASE("what is no pass is none") {
  for (const char* name : {"", "update", "F", "F1", "F1.", "F1.0", "F1.0 stage", "F1.0 stage x", "X1.0 stage 2",
                           "F-1.0 stage 2", "F1.0 stage 2 + update", "F1.0 stage 2x", "forward"})
    CHECK(passes_of_name(name).empty());
  CHECK(passes_of_name("Bi3.1 stage 2 part 7").size() == 1);
}
