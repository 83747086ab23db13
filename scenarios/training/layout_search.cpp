#include "scenarios/training/layout_search.hpp"

#include "scenarios/keys/policy_codec.hpp"
#include "scenarios/keys/setup_codecs.hpp"
#include "scenarios/run/lone_job.hpp"
#include "scenarios/run/rounds_kept.hpp"
#include "scenarios/training/parallel_job.hpp"
#include "scenarios/training/parallel_memory.hpp"
#include "sim/error.hpp"
#include "sim/parallel.hpp"

#include <algorithm>
#include <limits>
#include <numeric>
#include <tuple>

#include <fmt/format.h>

namespace contend {
namespace {

constexpr std::int64_t kLeastTokens = 4096;  // of a sequence on a context-parallel rank
constexpr int kMostChunks = 8;
constexpr int kMostSequences = 8;    // of a micro-batch
constexpr std::size_t kMostFor = 4;  // layouts that are simulated for each that is wanted
constexpr std::int64_t kSimulated = 2;
constexpr std::size_t kAtOnce = 4;  // layouts that are simulated before the next look at the fastest

std::vector<int> divisors(std::int64_t number, std::int64_t most = std::numeric_limits<int>::max()) {
  std::vector<int> all;
  for (std::int64_t each = 1; each <= std::min(number, most); ++each)
    if (number % each == 0) all.push_back(static_cast<int>(each));
  return all;
}

bool divides_layers(const TransformerModel& model, int parts) {
  return model.all_layers() % parts == 0 || (model.all_layers() + 2) % parts == 0;
}

/// Chunks of a pipeline rank: one, whatever the layers, or more if these can be cut evenly.
std::vector<int> chunks_of(const TransformerModel& model, int pipeline) {
  std::vector<int> all{1};
  for (int chunks = 2; pipeline > 1 && chunks <= kMostChunks; ++chunks)
    if (chunks * pipeline <= model.all_layers() + 2 && divides_layers(model, chunks * pipeline)) all.push_back(chunks);
  return all;
}

/// Adds the layouts of these degrees, whose other members are not yet chosen.
void add_members(const Layout& degrees, const TransformerModel& model, int data, int most_sequences,
                 std::vector<Layout>& all) {
  Layout each = degrees;
  for (const int chunks : chunks_of(model, degrees.pipeline)) {
    each.chunks = chunks;
    for (each.batch = 1; each.batch <= most_sequences; each.batch *= 2) {
      const bool shares = data * degrees.context > 1;
      for (each.zero = shares ? 1 : 0; each.zero <= (shares ? 3 : 0); ++each.zero)
        for (const Recomputation recompute : {Recomputation::none, Recomputation::core_attn, Recomputation::full}) {
          each.recompute = recompute;
          all.push_back(each);
        }
    }
  }
}

/// Counts layouts that can't be trained, by the member that is to blame.
class Refused {
 public:
  void add(const std::string& key, const std::string& reason) {
    const auto known = std::ranges::find(all_, key, &RefusedLayouts::key);
    RefusedLayouts& row = known != all_.end() ? *known : all_.emplace_back(RefusedLayouts{key, reason, 0});
    ++row.count;
  }
  void add(const InputError& error) { add(error.complaints().front().key, error.complaints().front().reason); }
  [[nodiscard]] std::vector<RefusedLayouts> most_frequent_first() {
    std::ranges::stable_sort(all_, std::ranges::greater{}, &RefusedLayouts::count);
    return std::move(all_);
  }

 private:
  std::vector<RefusedLayouts> all_;
};

/// What a layout's times follow from, beside its memory.
struct TimedLayout {
  FittingLayout found;
  std::string refused_key, refused_reason;  // empty: none
  std::vector<Time> busy, update;
  Time makespan, likely;
  int micro_batches = 0;
  int degrees[4] = {};
};

/// True if nothing that the iteration follows from tells them apart.
bool are_twins(const TimedLayout& a, const TimedLayout& b) {
  return a.makespan == b.makespan && a.busy == b.busy && a.update == b.update && a.micro_batches == b.micro_batches &&
         std::ranges::equal(a.degrees, b.degrees) && a.found.memory == b.found.memory;
}

}  // namespace

TrainingSystem laid_out(const TrainingSystem& system, const TrainingEntry& entry, const Layout& layout) {
  TrainingSystem changed = system;
  *std::ranges::find(changed.training, entry.name, &TrainingEntry::name) = layout.on(entry);
  return changed;
}

TrainingEntry Layout::on(TrainingEntry entry) const {
  ParallelSetup& setup = *entry.parallel;
  setup.tensor = tensor;
  setup.sequence_parallel = tensor > 1;
  setup.pipeline = pipeline;
  setup.context = context;
  setup.expert = expert;
  setup.virtual_stages = chunks > 1 ? chunks : 0;
  setup.schedule = default_policy(policy_kind("pipeline"), chunks > 1 ? "interleaved" : "1f1b");
  setup.partition = LayerPartition::uneven;
  setup.zero = zero;
  entry.batch = batch;
  entry.recompute = recompute;
  return entry;
}

std::vector<std::string> Layout::members() const {
  std::string parallel = fmt::format("tensor: {}", tensor);
  if (tensor > 1) parallel += ", sequence_parallel: true";
  parallel += fmt::format(", pipeline: {}", pipeline);
  if (chunks > 1) parallel += fmt::format(", virtual: {}, schedule: interleaved", chunks);
  if (pipeline > 1) parallel += ", partition: uneven";
  if (context > 1) parallel += fmt::format(", context: {}", context);
  if (expert > 1) parallel += fmt::format(", expert: {}", expert);
  return {fmt::format("batch: {}", batch), fmt::format("recompute: {}", recompute_codec().print(recompute)),
          fmt::format("parallel: {{{}, zero: {}}}", parallel, zero)};
}

std::vector<Layout> possible_layouts(const ClusterSetup& cluster, const TrainingEntry& entry,
                                     const TransformerModel& model, int gpus) {
  std::vector<Layout> all;
  const std::int64_t sequence = entry.sequence.value_or(static_cast<int>(model.default_sequence));
  Layout each;
  for (const int tensor : divisors(std::gcd(cluster.gpus_per_server, gpus))) {
    each.tensor = tensor;
    for (const int pipeline : divisors(gpus / tensor, model.all_layers())) {
      each.pipeline = pipeline;
      const int replicas = gpus / tensor / pipeline;
      for (const int context : divisors(replicas, std::max<std::int64_t>(1, sequence / kLeastTokens))) {
        each.context = context;
        const int data = replicas / context;
        const int most = std::min<int>(kMostSequences, entry.global_batch.value_or(1) / data);
        const std::int64_t experts = model.mixture ? model.mixture->experts : 1;
        for (const int expert : divisors(std::gcd(experts, std::int64_t{tensor} * replicas))) {
          each.expert = expert;
          add_members(each, model, data, std::max(1, most), all);
        }
      }
    }
  }
  return all;
}

namespace {

/// The layouts that fit, without times, or only the first of them; others are counted.
std::vector<TimedLayout> tested_memory(const TrainingSystem& system, const TrainingEntry& entry,
                                       const TransformerModel& model, int gpus, const std::vector<Layout>& layouts,
                                       Refused& refused, LayoutSearch& search, bool first_only = false) {
  constexpr int kRounds = 16;
  TrainingSystem shorter = system;
  shorter.rounds_kept = kRounds;
  std::vector<TimedLayout> fitting;
  for (const Layout& layout : layouts) {
    if (first_only && !fitting.empty()) break;
    try {
      std::vector<GpuMemory> memory = held_memory(shorter, layout.on(entry), model, gpus);
      const GpuMemory& most = memory[fullest(memory)];
      if (!search.leanest || most.total() < search.leanest->second.total()) search.leanest = {layout, most};
      if (most.total() > system.cluster.gpu_memory)
        refused.add("memory", fmt::format("needs {} on a GPU, {} more than there is", gib(most.total()),
                                          gib(most.total() - system.cluster.gpu_memory)));
      else
        fitting.emplace_back().found = {.layout = layout, .twins = {}, .memory = std::move(memory)};
    } catch (const InputError& error) {
      refused.add(error);
    }
  }
  return fitting;
}

/// For how long the rank exchanges gradients and weights that does so longest.
Time longest_exchange(const ParallelJob& job) {
  Time longest;
  for (const std::vector<int>& stages : job.iteration.plan.stage_of) {
    Time sum;
    for (const int stage : stages) sum += job.exchange[static_cast<std::size_t>(stage)];
    longest = std::max(longest, sum);
  }
  return longest;
}

void take_times(const TrainingSystem& system, const TrainingEntry& entry, int gpus, TimedLayout& timed) {
  const Layout& layout = timed.found.layout;
  try {
    leaping_rounds(laid_out(system, entry, layout), [&](const TrainingSystem& each) {
      const ParallelJob job = plan_parallel(each, layout.on(entry), gpus, true);
      const PipelineTimes times = evaluate(job.iteration.plan, job.iteration.costs());
      timed.makespan = times.makespan;
      timed.busy = times.busy;
      timed.update = job.iteration.update;
      const Time passes = times.makespan + *std::ranges::min_element(timed.update), exchange = longest_exchange(job);
      timed.found.least = std::max(passes, exchange);
      timed.likely = Time::nanoseconds(timed.found.least.ns() + std::min(passes, exchange).ns() / 2);
      timed.micro_batches = job.micro_batches;
      const TrainingIteration& it = job.iteration;
      const bool shares = it.dense_shards().size > 1 || it.expert_shards().size > 1;
      const int degrees[] = {it.tensor, it.context, it.expert, shares ? static_cast<int>(it.sharding) : 0};
      std::ranges::copy(degrees, timed.degrees);
      return 0;
    });
  } catch (const InputError& error) {
    timed.refused_key = error.complaints().front().key;
    timed.refused_reason = error.complaints().front().reason;
  }
}

/// Joins layouts that are twins; the first of them stays.
void join_twins(std::vector<TimedLayout>& all, LayoutSearch& search) {
  std::ranges::stable_sort(all, {}, [](const TimedLayout& each) { return each.found.least; });
  std::vector<TimedLayout> kept;
  for (TimedLayout& each : all) {
    const auto twin = std::find_if(kept.rbegin(), kept.rend(), [&](const TimedLayout& other) {
      return other.found.least < each.found.least || are_twins(other, each);
    });
    if (twin != kept.rend() && twin->found.least == each.found.least) {
      twin->found.twins.push_back(each.found.layout);
      ++search.twins;
    } else {
      kept.push_back(std::move(each));
    }
  }
  all = std::move(kept);
}

}  // namespace

LayoutSearch search_layouts(const TrainingSystem& system, const TrainingEntry& entry, int gpus, std::size_t top,
                            unsigned threads) {
  const TransformerModel model = transformer_of(entry);
  LayoutSearch search;
  Refused refused;
  const std::vector<Layout> layouts = possible_layouts(system.cluster, entry, model, gpus);
  search.tested = std::ssize(layouts);
  std::vector<TimedLayout> fitting = tested_memory(system, entry, model, gpus, layouts, refused, search);
  const auto never = [] { return false; };
  const auto time_one = [&](std::size_t i) { take_times(system, entry, gpus, fitting[i]); };
  parallel_for(
      threads, fitting.size(), [&] { return time_one; }, never);
  for (const TimedLayout& each : fitting)
    if (!each.refused_key.empty()) refused.add(each.refused_key, each.refused_reason);
  std::erase_if(fitting, [](const TimedLayout& each) { return !each.refused_key.empty(); });
  search.fitting = std::ssize(fitting);
  search.refused = refused.most_frequent_first();
  join_twins(fitting, search);
  std::ranges::stable_sort(fitting, {}, &TimedLayout::likely);
  std::vector<FittingLayout>& fastest = search.fastest;
  std::size_t next = 0;
  // Layouts that can't be among the fastest any more, whatever a simulation says, go.
  const auto drop_slower = [&] {
    if (fastest.size() < top) return;
    const auto rest = fitting.begin() + static_cast<std::ptrdiff_t>(next);
    fitting.erase(
        std::remove_if(rest, fitting.end(),
                       [&](const TimedLayout& each) { return each.found.least >= fastest[top - 1].iteration; }),
        fitting.end());
  };
  while (next < std::min(fitting.size(), kMostFor * top)) {
    const std::size_t count = std::min(kAtOnce, fitting.size() - next);
    const auto simulate = [&](std::size_t i) {
      FittingLayout& each = fitting[next + i].found;
      const Time both = lone_job(laid_out(system, entry, each.layout), entry.name, gpus, kSimulated);
      each.iteration = Time::nanoseconds(both.ns() / kSimulated);
    };
    parallel_for(
        threads, count, [&] { return simulate; }, never);
    for (std::size_t i = 0; i < count; ++i) fastest.push_back(fitting[next + i].found);
    std::ranges::stable_sort(fastest, {}, &FittingLayout::iteration);
    next += count;
    drop_slower();
  }
  search.simulated = static_cast<std::int64_t>(next);
  search.open = std::ssize(fitting) - search.simulated;
  if (fastest.size() > top) fastest.resize(top);
  return search;
}

std::optional<int> gpus_that_fit(const TrainingSystem& system, const TrainingEntry& entry, int gpus) {
  constexpr int kMostDoublings = 12;
  const TransformerModel model = transformer_of(entry);
  TrainingSystem larger = system;
  for (int doubled = 0, count = gpus; doubled < kMostDoublings && count <= std::numeric_limits<int>::max() / 2;
       ++doubled) {
    count *= 2;
    larger.cluster.servers = (count + system.cluster.gpus_per_server - 1) / system.cluster.gpus_per_server;
    LayoutSearch search;
    Refused refused;
    const std::vector<Layout> layouts = possible_layouts(larger.cluster, entry, model, count);
    if (!tested_memory(larger, entry, model, count, layouts, refused, search, true).empty()) return count;
  }
  return {};
}

}  // namespace contend
