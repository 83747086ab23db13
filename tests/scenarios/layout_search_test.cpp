// The search for ways to lay a job out: which are tried, by hand; that the fast search finds what trying all of them
// finds; that memory without times is the memory of the plan.

#include "scenarios/training/layout_search.hpp"

#include "scenarios/run/lone_job.hpp"
#include "scenarios/training/parallel_job.hpp"
#include "scenarios/training/parallel_memory.hpp"
#include "sim/error.hpp"
#include "tests/scenarios/scenario_text.hpp"
#include "tests/test_data.hpp"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/format.h>

using namespace contend;

namespace {

/// Servers of H100s with so much memory, and an entry that is not laid out yet.
Scenario to_lay_out(const std::string& model, int servers = 1, const std::string& memory = "80GiB") {
  return parse_scenario(
      fmt::format("schema_version: 2\nmachine: dgx-h100\ncluster: {{servers: {}, gpu_memory: {}}}\n"
                  "training: {{m: {{{}, device: H100-SXM, optimizer: adamw, parallel: {{zero: 0}}}}}}\n",
                  servers, memory, model),
      "laid_out.yaml");
}

const TrainingEntry& entry_to_lay_out(const Scenario& scenario) {
  return *find_entry(scenario.training, "m");
}

std::vector<Layout> layouts_on(const Scenario& scenario, int gpus) {
  const TrainingEntry& entry = entry_to_lay_out(scenario);
  return possible_layouts(scenario.cluster, entry, transformer_of(entry), gpus);
}

LayoutSearch searched(const Scenario& scenario, int gpus, std::size_t top, unsigned threads = 1) {
  return search_layouts(scenario, entry_to_lay_out(scenario), gpus, top, threads);
}

/// The iteration of a layout on its own; nothing if it can't be trained.
std::optional<Time> iteration_of_layout(const Scenario& scenario, const Layout& layout, int gpus) {
  Scenario laid_out = scenario;
  laid_out.training.front() = layout.on(entry_to_lay_out(scenario));
  try {
    return Time::nanoseconds(lone_job(laid_out, "m", gpus, 2).ns() / 2);
  } catch (const InputError&) {
    return std::nullopt;
  }
}

/// Four small layers.
const std::string kSmall =
    "transformer: {layers: 4, hidden: 512, heads: 8, feed_forward: 2048, vocabulary: 4000}, sequence: 512, "
    "global_batch: 4";

std::string model_of_data(const std::string& path, int sequences) {
  return fmt::format("config: {}, sequence: 8192, global_batch: {}", path, sequences);
}

}  // namespace

TEST_CASE("layouts: two GPUs have so many, counted by hand") {
  // 4 sequences of 4,096 tokens, 32 layers. Two ranks with data parallelism: micro-batches of 1 and 2 sequences, ZeRO 1
  // to 3, 3 kinds of recomputation. Two pipeline ranks: 1, 2, 4 or 8 chunks, micro-batches of 1, 2 and 4 sequences.
  // Two tensor-parallel ranks: micro-batches of 1, 2 and 4 sequences.
  const Scenario scenario = to_lay_out("model: llama-3-8b, sequence: 4096, global_batch: 4");
  const std::vector<Layout> all = layouts_on(scenario, 2);
  CHECK(all.size() == 2 * 3 * 3 + 4 * 3 * 3 + 3 * 3);
  CHECK(std::ranges::none_of(all, [](const Layout& each) { return each.context > 1 || each.expert > 1; }));
  // Sequences of 8,192 tokens can be cut in two, in place of data parallelism.
  const Scenario longer = to_lay_out("model: llama-3-8b, sequence: 8192, global_batch: 4");
  CHECK(layouts_on(longer, 2).size() == all.size() + 3 * 3 * 3);
  // Each of the two ranks may have all 8 experts or half of them, but for pipelines.
  const Scenario mixture = to_lay_out("model: mixtral-8x7b, sequence: 4096, global_batch: 4");
  CHECK(layouts_on(mixture, 2).size() == all.size() + 2 * 3 * 3 + 3 * 3);
}

TEST_CASE("layouts: memory without times is the memory of the plan") {
  const Scenario scenario = to_lay_out(kSmall);
  const TrainingEntry& entry = entry_to_lay_out(scenario);
  int compared = 0;
  for (const Layout& layout : layouts_on(scenario, 4)) {
    const TrainingEntry laid_out = layout.on(entry);
    std::vector<GpuMemory> planned;
    try {
      planned = plan_parallel(scenario, laid_out, 4).memory;
    } catch (const InputError&) {
      CHECK_THROWS_AS(static_cast<void>(held_memory(scenario, laid_out, transformer_of(laid_out), 4)), InputError);
      continue;
    }
    const std::vector<GpuMemory> held = held_memory(scenario, laid_out, transformer_of(laid_out), 4);
    REQUIRE(held.size() == planned.size());
    for (std::size_t rank = 0; rank < held.size(); ++rank) CHECK(held[rank].total() == planned[rank].total());
    ++compared;
  }
  CHECK(compared > 50);
}

TEST_CASE("layouts: the search finds the fastest of all, and twins once") {
  const Scenario scenario = to_lay_out(kSmall);
  std::vector<Time> times;
  for (const Layout& layout : layouts_on(scenario, 2))
    // Scores are kept nowhere, so that computing them again changes nothing.
    if (layout.recompute != Recomputation::core_attn)
      if (const auto time = iteration_of_layout(scenario, layout, 2)) times.push_back(*time);
  std::ranges::sort(times);
  const std::size_t all = times.size();
  const LayoutSearch search = searched(scenario, 2, all);
  REQUIRE(search.fastest.size() == all);
  CHECK(search.open == 0);
  CHECK(search.twins * 2 == std::ssize(times));
  CHECK(search.fitting == search.twins * 3);
  for (std::size_t i = 0; i < all; ++i) {
    const FittingLayout& each = search.fastest[i];
    CHECK(each.iteration == times[i]);
    CHECK(each.least <= each.iteration);
    Layout again = each.layout;
    again.recompute = Recomputation::core_attn;
    const bool is_full = each.layout.recompute == Recomputation::full;
    CHECK(each.twins == (is_full ? std::vector<Layout>{} : std::vector{again}));
  }
  std::int64_t refused = 0;
  for (const RefusedLayouts& each : search.refused) refused += each.count;
  CHECK(refused + search.fitting == search.tested);
  // Of few that are wanted, few are simulated.
  const LayoutSearch few = searched(scenario, 2, 2), with_threads = searched(scenario, 2, 2, 4);
  CHECK(few.simulated < std::ssize(times));
  CHECK(few.fastest.front().iteration == times.front());
  for (std::size_t i = 0; i < 2; ++i) CHECK(with_threads.fastest[i].layout == few.fastest[i].layout);
}

TEST_CASE("layouts: what doesn't fit names the least memory, and the GPUs that would do") {
  // 4 layers of 12 x 512^2, two tables: 16.7 M parameters with 18 bytes each, and little more.
  const Scenario scenario = to_lay_out(kSmall, 1, "256MiB");
  const LayoutSearch search = searched(scenario, 1, 1);
  CHECK(search.fastest.empty());
  REQUIRE(search.leanest);
  CHECK(search.leanest->first.recompute == Recomputation::full);
  CHECK(search.leanest->second.total() > Bytes::mebibytes(256));
  REQUIRE(search.refused.size() == 1);
  CHECK(search.refused.front().key == "memory");
  CHECK(search.refused.front().count == search.tested);
  CHECK(gpus_that_fit(scenario, entry_to_lay_out(scenario), 1) == 2);
}

TEST_CASE("layouts: Llama 3 70B doesn't fit on one GPU, 8B fits on eight, and 405B as it was published on 8,192") {
  const auto models = test_data("models");
  if (!models) return;
  const std::string path = *models + "/meta-llama--Meta-Llama-3.1-";
  const Scenario one = to_lay_out(model_of_data(path + "70B.json", 512));
  CHECK(searched(one, 1, 1).fastest.empty());
  const Scenario eight = to_lay_out(model_of_data(path + "8B.json", 16));
  CHECK(searched(eight, 8, 1).fitting > 0);
  // Tensor 8, pipeline 16, FSDP that keeps weights (Llama 3, arXiv 2407.21783, table 4 and section 3.3.2).
  const Scenario many = to_lay_out(model_of_data(path + "405B.json", 2048), 1024);
  Layout published;
  published.tensor = 8;
  published.pipeline = 16;
  published.chunks = 8;
  published.zero = 2;
  const std::vector<Layout> all = layouts_on(many, 8192);
  CHECK(std::ranges::find(all, published) != all.end());
  const TrainingEntry laid_out = published.on(entry_to_lay_out(many));
  const std::vector<GpuMemory> held = held_memory(many, laid_out, transformer_of(laid_out), 8192);
  CHECK(held[fullest(held)].total() <= many.cluster.gpu_memory);
}
