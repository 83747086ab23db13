// Recordings as jobs: iterations worked out by hand to the nanosecond, on a network in which a byte takes 1 ns, and
// recordings that are no job.

#include "traces/recording/recording_graph.hpp"

#include "sim/error.hpp"
#include "tests/sim/test_kit.hpp"
#include "tests/traces/recording_test_kit.hpp"

#include <cstdint>
#include <memory>
#include <numeric>
#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/format.h>

namespace contend::recorded {
namespace {

constexpr std::uint64_t kJoins = 7;

Recording ranks_of(const std::vector<std::string>& files) {
  Recording job;
  for (std::size_t i = 0; i < files.size(); ++i) {
    job.ranks.push_back(read(files[i], fmt::format("t.{}.et", i)));
    job.ranks.back().rank = static_cast<std::int64_t>(i);
  }
  return job;
}

/// When a job of so many iterations ends, in ns, on servers of one GPU; the run with leaping ends then, too.
std::int64_t replayed(const Recording& recording, int gpus, const RecordingOptions& options = {},
                      std::int64_t iterations = 1) {
  auto graph = std::make_shared<const IterationGraph>(recording_graph(recording, gpus, options).graph);
  std::vector<std::uint32_t> all(static_cast<std::size_t>(gpus));
  std::iota(all.begin(), all.end(), 0U);
  return test::simulate({.servers = gpus}, {{.graph = "", .gpus = all, .iterations = iterations, .made = graph}})
      .finish(0);
}

std::string refusal_of(const Recording& recording, int gpus, const RecordingOptions& options = {}) {
  try {
    static_cast<void>(recording_graph(recording, gpus, options));
  } catch (const InputError& error) {
    std::string text;
    for (const Complaint& each : error.complaints()) text += each.key + ": " + each.reason + "; " + each.hint + "\n";
    return text;
  }
  return {};
}

bool has_part(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

/// A trace that computes and then sums so many bytes.
std::string sums(std::uint64_t us, std::uint64_t bytes, std::string_view ranks = "[]") {
  return metadata() + group("0", ranks) + node({.id = 1, .us = us}) +
         node({.id = 2, .type = kJoins, .more = collective(0, bytes), .needs = {1}});
}

std::string on(std::uint64_t lane) {
  return number("stream", lane);
}

std::string call_of(std::string_view at, int correlation, std::string_view name = "cudaLaunchKernel",
                    std::string_view duration = "1") {
  return event("cuda_runtime", name, at, duration, fmt::format(R"("correlation":{})", correlation));
}

std::string kernel(std::string_view name, std::string_view start, std::string_view duration, int lane, int correlation,
                   std::string_view more = "") {
  return event("kernel", name, start, duration,
               on_stream(lane, fmt::format(R"("correlation":{}{})", correlation, more)));
}

std::string marked(int number, std::string_view start, std::string_view duration) {
  return event("user_annotation", fmt::format("ProfilerStep#{}", number), start, duration, "");
}

constexpr std::string_view kSum = "ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevKernelArgsStorage<4096ul>)";

/// Two kernels, and an all-reduce beside them of 125,000 values in fp32; an iteration of 330 us of the host.
std::string hidden_sum(std::string_view group = R"("Process Group Name":"0","Process Group Ranks":"[0, 1]")") {
  return profile({marked(7, "0", "330"), call_of("2", 1), call_of("40", 2), call_of("122", 3),
                  kernel("gemm_backward", "10", "100", 7, 1),
                  kernel(kSum, "60", "100", 20, 2,
                         fmt::format(R"(,"Collective name":"allreduce","In msg nelems":125000,"Out msg nelems":125000,)"
                                     R"("dtype":"Float",{})",
                                     group)),
                  kernel("gemm_update", "130", "100", 7, 3)});
}

}  // namespace

TEST_CASE("ranks that differ meet in a collective") {
  // 50 us, and then 12,000 B on a network of 1 ns a byte; the next iteration begins when this one has ended.
  const Recording job = ranks_of({sums(10, 12'000, "[0, 1]"), sums(50, 12'000, "[0, 1]")});
  CHECK(replayed(job, 2) == 62'000);
  CHECK(replayed(job, 2, {}, 30) == 30 * 62'000);
  RecordingOptions balanced;
  balanced.balanced = true;
  CHECK(replayed(job, 2, balanced, 3) == 3 * 42'000);  // both compute 30 us
}

TEST_CASE("a trace of a single collective takes the time of the network") {
  const std::string alone =
      metadata() + group("0", "[]") + node({.id = 1, .type = kJoins, .more = collective(0, 1000)});
  CHECK(replayed(ranks_of({alone, alone}), 2, {}, 3) == 3 * 1000);
  const std::string idle = metadata() + node({.id = 1});
  CHECK(has_part(refusal_of(ranks_of({idle, idle}), 2), "neither how long its operations took"));
}

TEST_CASE("streams of a trace are in order, beside each other") {
  const Recording job =
      ranks_of({metadata() + node({.id = 1, .us = 10, .more = on(7)}) + node({.id = 2, .us = 10, .more = on(7)}) +
                node({.id = 3, .us = 15, .more = on(20)})});
  CHECK(replayed(job, 1) == 20'000);
  CHECK(replayed(job, 1, {}, 5) == 100'000);
}

TEST_CASE("what an all-reduce beside computing exposes") {
  for (const std::uint64_t us : {12U, 20U, 33U}) {
    CAPTURE(us);
    const std::string file = metadata() + node({.id = 1, .us = 10, .more = on(7)}) +
                             node({.id = 2, .type = kJoins, .more = collective(0, us * 1000) + on(20), .needs = {1}}) +
                             node({.id = 3, .us = 20, .more = on(7), .needs = {1}}) +
                             node({.id = 4, .us = 5, .more = on(7), .needs = {2, 3}});
    CHECK(replayed(ranks_of({file, file}), 2) ==
          static_cast<std::int64_t>((15 + std::max<std::uint64_t>(us, 20)) * 1000));
  }
}

TEST_CASE("ranks with equal programs are one role, and a copy follows its rank") {
  const Recording job = ranks_of({sums(10, 8'000), sums(10, 8'000), sums(10, 8'000)});
  CHECK(recording_graph(job, 3, {}).graph.roles().size() == 1);
  CHECK(recording_graph(ranks_of({sums(10, 8'000), sums(10, 8'000), sums(11, 8'000)}), 3, {}).graph.roles().size() ==
        2);
  RecordingOptions copy;
  copy.copy = 0;
  const RecordingGraph copied = recording_graph(ranks_of({sums(10, 8'000, "[0, 1, 2, 3]")}), 4, copy);
  CHECK(copied.graph.ranks() == 4);
  CHECK(copied.graph.roles().size() == 1);
  CHECK(replayed(ranks_of({sums(10, 8'000, "[0, 1, 2, 3]")}), 4, copy, 2) == 36'000);
}

TEST_CASE("ranks are repeated: groups of all grow, others are repeated unless they are spread") {
  const auto file = [](std::string_view pair) {
    return metadata() + group("all", "[0, 1, 2, 3]") + group("pair", pair) + node({.id = 1, .us = 10}) +
           node({.id = 2, .type = kJoins, .more = collective(0, 3'000, "pair"), .needs = {1}}) +
           node({.id = 3, .type = kJoins, .more = collective(0, 5'000, "all"), .needs = {2}});
  };
  const Recording job = ranks_of({file("[0, 2]"), file("[1, 3]"), file("[0, 2]"), file("[1, 3]")});
  RecordingOptions twice;
  twice.ranks = 8;
  const auto groups_of = [&](const RecordingOptions& options) {
    const IterationGraph graph = recording_graph(job, 8, options).graph;
    std::vector<std::vector<int>> lists;
    for (const Op& op : graph.ops())
      if (op.bytes == Bytes{3'000})
        for (const std::vector<int>& list : op.groups.lists->groups()) lists.push_back(list);
    return lists;
  };
  CHECK(groups_of(twice) == std::vector<std::vector<int>>{{0, 2}, {1, 3}, {4, 6}, {5, 7}});
  CHECK(replayed(job, 8, twice) == 18'000);
  twice.spread = {"pair"};
  CHECK(groups_of(twice) == std::vector<std::vector<int>>{{0, 2, 4, 6}, {1, 3, 5, 7}});
}

TEST_CASE("ranks with equal programs whose partners differ don't wait for each other's partners") {
  const auto file = [](std::uint64_t us, std::string_view pair) {
    return metadata() + group("pair", pair) + node({.id = 1, .us = us}) +
           node({.id = 2, .type = kJoins, .more = collective(0, 1'000, "pair"), .needs = {1}}) +
           node({.id = 3, .us = 40, .needs = {2}});
  };
  // Rank 0 meets a slow rank, and rank 2 a fast one.
  const Recording job = ranks_of({file(1, "[0, 1]"), file(90, "[0, 1]"), file(1, "[2, 3]"), file(2, "[2, 3]")});
  const IterationGraph graph = recording_graph(job, 4, {}).graph;
  CHECK(graph.roles().size() == 4);
  auto made = std::make_shared<const IterationGraph>(graph);
  const test::Run run = test::simulate({.servers = 4}, {{.graph = "", .gpus = {0, 1, 2, 3}, .made = made}});
  CHECK(run.seen.gpu(2) == "A.n1#0 0-1000 | A.n3#0 3000-43000");
  CHECK(run.finish(0) == 131'000);
}

TEST_CASE("a profile replayed with its own communication takes its own time") {
  RecordingOptions recorded;
  recorded.recorded_communication = true;
  const Recording job = ranks_of({hidden_sum(), hidden_sum()});
  CHECK(recording_graph(job, 2, recorded).length.ns() == 330'000);
  // A start follows its launch by 8 us at least, which is no time of the host: launches after 2, 40 and 122 us.
  CHECK(replayed(job, 2, recorded, 10) == 3'300'000);
  recorded.host = false;  // kernels of 100 us one after the other, the sum beside them
  CHECK(replayed(job, 2, recorded, 10) == 2'000'000);
  recorded.kernels = {{"GEMM", 0.5}, {"gemm_update", 0.1}};
  CHECK(replayed(job, 2, recorded, 10) == 10 * 112'000);  // the sum, behind the pause in front of it
}

TEST_CASE("a slower network delays what waits for the sum") {
  // The sum of 500,000 B ends at 52 + 500 us; the next iteration computes then, and its sum follows 12 us later.
  CHECK(replayed(ranks_of({hidden_sum(), hidden_sum()}), 2, {}, 3) == 1'576'000);
}

TEST_CASE("a host that waits for the device launches on when the device is ready") {
  const std::string file = profile({marked(1, "0", "150"), call_of("0", 1), kernel("first", "8", "100", 7, 1),
                                    call_of("10", 9, "cudaDeviceSynchronize", "102"), call_of("120", 2),
                                    kernel("second", "130", "10", 7, 2)});
  CHECK(replayed(ranks_of({file}), 1, {}, 4) == 600'000);
  RecordingOptions faster;
  faster.kernels = {{"first", 0.5}};
  CHECK(replayed(ranks_of({file}), 1, faster, 4) == 400'000);
}

TEST_CASE("a copy that had ended when its call returned is waited for") {
  const std::string file =
      profile({marked(1, "0", "150"), call_of("0", 1), kernel("first", "8", "100", 7, 1),
               call_of("10", 2, "cudaMemcpyAsync", "112"),
               event("gpu_memcpy", "Memcpy DtoH (Device -> Pageable)", "110", "10", on_stream(7, R"("correlation":2)")),
               call_of("130", 3), kernel("second", "140", "10", 7, 3)});
  CHECK(replayed(ranks_of({file}), 1, {}, 4) == 600'000);
  RecordingOptions faster;
  faster.kernels = {{"first", 0.5}};
  CHECK(replayed(ranks_of({file}), 1, faster, 4) == 400'000);
}

TEST_CASE("the device says how long an iteration is, as its host may be ahead") {
  // The host takes 10 us an iteration, and its kernels 40 us, one after the other.
  std::vector<std::string> events;
  for (int i = 0; i < 3; ++i) {
    events.push_back(marked(i, std::to_string(10 * i), "10"));
    events.push_back(call_of(std::to_string(10 * i), i + 1));
    events.push_back(kernel("k", std::to_string(5 + 40 * i), "40", 7, i + 1));
  }
  std::string text = R"({"traceEvents":[)";
  for (const std::string& each : events) text += (text.ends_with('[') ? "" : ",") + each;
  const Recording job = ranks_of({text + "]}"});
  RecordingOptions first;
  first.iteration = 0;
  CHECK(recording_graph(job, 1, first).length.ns() == 40'000);
  CHECK(replayed(job, 1, first, 10) == 400'000);
  first.iteration = 2;  // the last: the device was still at work for the iteration before
  CHECK(recording_graph(job, 1, first).length.ns() == 0);
}

TEST_CASE("of several iterations the one of median length is replayed, or the one that is asked for") {
  const auto each = [](int number, int start, int length) {
    return std::vector<std::string>{marked(number, std::to_string(start), std::to_string(length)),
                                    call_of(std::to_string(start + 1), number),
                                    kernel("k", std::to_string(start + 3), std::to_string(length / 2), 7, number)};
  };
  std::vector<std::string> events;
  for (const auto& list : {each(1, 0, 900), each(2, 900, 40), each(3, 940, 60)})
    events.insert(events.end(), list.begin(), list.end());
  std::string text = R"({"traceEvents":[)";
  for (const std::string& event : events) text += (text.ends_with('[') ? "" : ",") + event;
  const Recording job = ranks_of({text + "]}"});
  CHECK(recording_graph(job, 1, {}).iteration == 3);
  CHECK(replayed(job, 1, {}, 10) == 600'000);
  RecordingOptions second;
  second.iteration = 2;
  CHECK(replayed(job, 1, second, 10) == 400'000);
  second.iteration = 5;
  CHECK(has_part(refusal_of(job, 1, second), "it has no iteration 5; 1 to 3"));
}

TEST_CASE("messages go from one rank to the other") {
  const auto end = [](std::uint64_t id, std::uint64_t type, const char* peer, std::uint64_t rank,
                      std::initializer_list<std::uint64_t> needs) {
    return node({.id = id,
                 .type = type,
                 .more = number(peer, rank) + number("comm_size", 7'000) + number("comm_tag", 0),
                 .needs = needs});
  };
  const Recording job = ranks_of(
      {metadata() + node({.id = 1, .us = 20}) + end(2, 5, "comm_dst", 1, {1}),
       metadata() + node({.id = 1, .us = 3}) + end(2, 6, "comm_src", 0, {1}) + node({.id = 3, .us = 4, .needs = {2}})});
  CHECK(replayed(job, 2) == 31'000);
}

TEST_CASE("ranks without files, other numbers of GPUs and groups that don't fit are refused") {
  const Recording one = ranks_of({sums(10, 8'000, "[0, 1]")});
  CHECK(has_part(refusal_of(one, 2), "recording: 1 of its 2 ranks have no file, such as rank 1; recording: {copy: 0}"));
  CHECK(has_part(refusal_of(one, 3), "recording.ranks: a job of 3 GPUs can't replay 2 ranks; a job of 2 GPUs"));
  CHECK(has_part(refusal_of(one, 4), "recording: {ranks: 4} repeats the recorded ranks"));
  RecordingOptions options;
  options.ranks = 3;
  CHECK(has_part(refusal_of(one, 3, options), "3 is no multiple of the 2 ranks"));
  options.ranks.reset();
  options.copy = 1;
  CHECK(has_part(refusal_of(one, 2, options), "recording.copy: rank 1 has no file"));
  options.copy = 0;
  CHECK(has_part(refusal_of(ranks_of({sums(1, 1, "[0, 1]"), sums(1, 1, "[0, 1]")}), 2, options),
                 "so that none is a copy"));
  const std::string odd = metadata() + group("0", "[0, 1, 2, 3]") + group("odd", "[0, 3]") +
                          node({.id = 1, .type = kJoins, .us = 1, .more = collective(0, 8, "odd")});
  CHECK(has_part(refusal_of(ranks_of({odd}), 4, options), "by which nobody knows the group of rank 1"));
}

TEST_CASE("ranks that disagree, and communication of which too little is known, are refused") {
  const auto untimed = [](std::uint64_t kind, std::uint64_t bytes) {
    return metadata() + group("0", "[0, 1]") + node({.id = 1, .us = 5}) +
           node({.id = 2, .type = kJoins, .more = collective(kind, bytes)});
  };
  CHECK(has_part(refusal_of(ranks_of({untimed(0, 8), untimed(0, 16)}), 2),
                 "group \"0\": all-reduce of 8 B (t.0.et, node 2) meets all-reduce of 16 B (t.1.et, node 2)"));
  const std::string unknown =
      profile({kernel("ncclDevKernel_Generic(x)", "0", "10", 20, 1), kernel("k", "0", "10", 7, 2)});
  CHECK(has_part(refusal_of(ranks_of({unknown}), 1), "nobody has recorded the kind of a communication (generic)"));
  RecordingOptions recorded;
  recorded.recorded_communication = true;
  CHECK(replayed(ranks_of({unknown}), 1, recorded) == 10'000);
  CHECK(has_part(refusal_of(ranks_of({hidden_sum(), profile({marked(7, "0", "330"), call_of("2", 1),
                                                             kernel("gemm", "10", "100", 7, 1)})}),
                            2),
                 "rank 0 has 1 collectives in the iteration, and rank 1 has 0"));
  const std::string two_gpus = profile({event("kernel", "a", "0", "1", R"("device":0,"stream":7)"),
                                        event("kernel", "b", "0", "1", R"("device":1,"stream":7)")});
  CHECK(has_part(refusal_of(ranks_of({two_gpus}), 1), "it works on 2 GPUs"));
  CHECK(has_part(refusal_of(ranks_of({profile({call_of("0", 1)})}), 1), "nothing ran on its GPU"));
}

}  // namespace contend::recorded
