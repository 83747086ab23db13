// Recordings and jobs handed on in the formats of others: what a writer writes a reader reads back, bytes by hand,
// random recordings, public samples, and iterations of jobs, which take as long when they come back.

#include "sim/random_stream.hpp"
#include "tests/effort.hpp"
#include "tests/sim/test_kit.hpp"
#include "tests/test_data.hpp"
#include "tests/traces/recording_test_kit.hpp"
#include "text/atomic_file.hpp"
#include "traces/recording/chakra_writer.hpp"
#include "traces/recording/collective_messages.hpp"
#include "traces/recording/goal.hpp"
#include "traces/recording/graph_recording.hpp"
#include "traces/recording/recording_builder.hpp"
#include "traces/recording/recording_graph.hpp"

#include <cstdint>
#include <filesystem>
#include <memory>
#include <numeric>
#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace contend::recorded {
namespace {

std::string bytes_told(const std::optional<Bytes>& bytes) {
  return bytes ? std::to_string(bytes->count()) : "?";
}

/// All that a trace without starts says, whatever the numbers of its names, lanes and transfers.
std::string told(const RecordedRank& rank) {
  std::string text = fmt::format("rank {}\n", rank.rank);
  for (const RecordedGroup& group : rank.groups)
    text += fmt::format("group {} [{}] {}\n", group.name, fmt::join(group.ranks, ","), group.size);
  for (const RecordedTask& task : rank.tasks) {
    const RecordedLane& lane = rank.lanes[task.lane];
    text += fmt::format("{} `{}` {} {} ns {} {}", task.node, rank.name_of(task), to_string(task.kind),
                        task.duration.ns(), lane.device ? "stream" : "thread", lane.name);
    for (std::uint32_t n = 0; n < task.needs; ++n)
      text += fmt::format(" <{}", rank.tasks[rank.needs[task.first_need + n]].node);
    if (const RecordedTransfer* const transfer = rank.transfer_of(task)) {
      text += fmt::format(" {} {}/{} tag {}", to_string(transfer->kind), bytes_told(transfer->in),
                          bytes_told(transfer->out), transfer->tag);
      if (transfer->group) text += fmt::format(" group {}", *transfer->group);
      if (transfer->peer) text += fmt::format(" peer {}", *transfer->peer);
    }
    text += '\n';
  }
  return text;
}

RecordedRank read_back(const RecordedRank& rank, ChakraForm form) {
  return read(chakra_file(rank, form), fmt::format("t.{}.et", rank.rank));
}

Recording read_goal_text(const std::string& text) {
  TextSource source{text};
  Recording made;
  made.ranks = read_goal(source, "a.goal");
  return made;
}

std::string refused_goal(const std::string& text) {
  try {
    static_cast<void>(read_goal_text(text));
  } catch (const InputError& error) {
    return error.what();
  }
  return {};
}

/// Random tasks of every kind that Chakra knows, with bytes, groups and durations of every form.
RecordedRank random_chakra_rank(RandomStream& random) {
  RecordedRankBuilder builder{"t.0.et"};
  builder.rank().version = "0.0.4";
  builder.rank().rank_known = true;
  const std::size_t groups[] = {builder.group("0", {0, 1, 2}, 3), builder.group("mesh_dp", {}, 4),
                                builder.group("unused", {0}, 1)};
  constexpr RecordedKind kKinds[] = {RecordedKind::host,    RecordedKind::compute, RecordedKind::collective,
                                     RecordedKind::send,    RecordedKind::receive, RecordedKind::load,
                                     RecordedKind::compute, RecordedKind::store};
  const auto below = [&](std::int64_t n) { return random.uniform_integer(0, n - 1); };
  std::int64_t node = below(3);
  for (std::int64_t i = 0, tasks = 1 + below(30); i < tasks; ++i, node += 1 + below(5)) {
    RecordedTask task;
    task.node = node;
    task.name = builder.name(below(2) == 0 ? "kernel \"a\" \\ \xc3\xa9" : fmt::format("n{}", below(9)));
    task.kind = kKinds[below(8)];
    task.duration = Time::nanoseconds(below(2) == 0 ? 1000 * below(1'000'000) : below(std::int64_t{1} << 45));
    task.lane = task.kind == RecordedKind::host ? builder.thread(std::to_string(below(3)))
                                                : builder.stream(0, std::to_string(below(4)));
    RecordedTransfer transfer;
    const std::optional<Bytes> bytes = below(4) == 0 ? std::nullopt : std::optional{Bytes{below(1LL << 40)}};
    transfer.in = bytes;
    if (task.kind == RecordedKind::collective) {
      constexpr RecordedCollective kCollectives[] = {RecordedCollective::all_reduce, RecordedCollective::all_gather,
                                                     RecordedCollective::reduce_scatter, RecordedCollective::barrier,
                                                     RecordedCollective::all_to_all};
      transfer.kind = kCollectives[below(5)];
      if (below(2) == 0) transfer.out = Bytes{below(1000)};
      if (below(3) > 0) transfer.group = groups[below(2)];
    } else if (is_communication(task.kind)) {
      const bool sends = task.kind == RecordedKind::send;
      transfer.kind = sends ? RecordedCollective::send : RecordedCollective::receive;
      if (!sends) std::swap(transfer.in, transfer.out);
      transfer.peer = below(3);
      transfer.tag = below(9) - 4;
    }
    if (is_communication(task.kind)) task.transfer = builder.add(transfer);
    const std::uint32_t made = builder.add(task);
    for (std::int64_t n = below(3); n > 0 && made > 0; --n) builder.need(made, static_cast<std::uint32_t>(below(made)));
  }
  return builder.take();
}

/// Random ranks of what GOAL knows.
Recording random_goal_ranks(RandomStream& random) {
  Recording made;
  const auto below = [&](std::int64_t n) { return random.uniform_integer(0, n - 1); };
  for (std::int64_t rank = 0; rank < 3; ++rank) {
    RecordedRankBuilder builder{"a.goal"};
    builder.rank().rank = rank;
    builder.rank().rank_known = true;
    for (std::int64_t i = 0, tasks = below(12); i < tasks; ++i) {
      RecordedTask task;
      task.node = i;
      task.name = builder.name(fmt::format("op_{}", i));
      task.lane = builder.stream(0, std::to_string(below(3)));
      const std::int64_t what = below(3);
      task.kind = what == 0 ? RecordedKind::compute : what == 1 ? RecordedKind::send : RecordedKind::receive;
      if (what == 0) task.duration = Time::nanoseconds(below(1'000'000));
      RecordedTransfer transfer;
      transfer.kind = what == 1 ? RecordedCollective::send : RecordedCollective::receive;
      (what == 1 ? transfer.in : transfer.out) = Bytes{below(1LL << 40)};
      transfer.peer = below(3);
      transfer.tag = below(5);
      if (what > 0) task.transfer = builder.add(transfer);
      const std::uint32_t index = builder.add(task);
      if (i > 0 && below(2) == 0) builder.need(index, static_cast<std::uint32_t>(below(i)));
    }
    made.ranks.push_back(builder.take());
  }
  return made;
}

/// When so many iterations of a job end, in ns, on servers of one GPU and a network of 1 ns a byte.
std::int64_t simulated_ns(const IterationGraph& graph, std::int64_t iterations = 1) {
  std::vector<std::uint32_t> gpus(static_cast<std::size_t>(graph.ranks()));
  std::iota(gpus.begin(), gpus.end(), 0U);
  return test::simulate({.servers = graph.ranks()}, {{.graph = "",
                                                      .gpus = gpus,
                                                      .iterations = iterations,
                                                      .made = std::make_shared<const IterationGraph>(graph)}})
      .finish(0);
}
std::int64_t simulated_ns(const Recording& recording, std::int64_t iterations = 1) {
  return simulated_ns(recording_graph(recording, static_cast<int>(recording.ranks.size()), {}).graph, iterations);
}

/// A job that went through Chakra's files.
Recording through_chakra(const Recording& recording) {
  Recording made;
  for (const RecordedRank& rank : recording.ranks) made.ranks.push_back(read_back(rank, ChakraForm::wire));
  return made;
}

std::string why_no_trace(std::string_view graph) {
  try {
    static_cast<void>(graph_recording(graph_from_text(graph), 8));
  } catch (const InputError& error) {
    return error.what();
  }
  return {};
}

}  // namespace

TEST_CASE("a rank as Chakra, byte by byte") {
  RecordedRankBuilder builder{"t.0.et"};
  RecordedTask task;
  task.node = 3;
  task.name = builder.name("n3");
  task.kind = RecordedKind::compute;
  task.duration = Time::nanoseconds(10'400);
  task.lane = builder.stream(0, "7");
  builder.add(task);
  RecordedTransfer transfer;
  transfer.kind = RecordedCollective::all_gather;
  transfer.in = Bytes{2000};
  transfer.out = Bytes{8000};
  task.node = 4;
  task.name = builder.name("n4");
  task.kind = RecordedKind::collective;
  task.duration = Time{};
  task.transfer = builder.add(transfer);
  builder.need(builder.add(task), 0);
  CHECK(chakra_file(builder.take(), ChakraForm::wire) ==
        metadata() +
            message(field(1, 3) + field(2, "n3") + field(3, 4) + field(7, 10) + number("is_cpu_op", 0, 27) +
                    number("stream", 7) + number("duration_ns", 10'400)) +
            message(field(1, 4) + field(2, "n4") + field(3, 7) + field(5, varint(3)) + number("is_cpu_op", 0, 27) +
                    number("stream", 7) + number("comm_type", 2) + number("comm_size", 2000) +
                    number("comm_out_size", 8000)));
}

TEST_CASE("read(write(x)) = x: random recordings as Chakra, in both forms") {
  RandomStream random{63, "chakra"};
  for (int round = 0; round < effort(200); ++round) {
    CAPTURE(round);
    const RecordedRank rank = random_chakra_rank(random);
    const std::string expected = told(rank);
    CHECK(told(read_back(rank, ChakraForm::wire)) == expected);
    CHECK(told(read_back(rank, ChakraForm::json)) == expected);
    Recording alone;
    alone.ranks.push_back(rank);
    CHECK(lost_in_chakra(alone).empty());
  }
}

TEST_CASE("read(write(x)) = x: random recordings as GOAL") {
  RandomStream random{63, "goal"};
  for (int round = 0; round < effort(200); ++round) {
    CAPTURE(round);
    const Recording ranks = random_goal_ranks(random);
    const Recording back = read_goal_text(goal_file(ranks));
    REQUIRE(back.ranks.size() == 3);
    for (std::size_t rank = 0; rank < 3; ++rank) CHECK(told(back.ranks[rank]) == told(ranks.ranks[rank]));
    CHECK(lost_in_goal(ranks).empty());
  }
}

TEST_CASE("read(write(x)) = x: public samples") {
  const auto folder = test_data("et");
  if (!folder) return;
  int samples = 0;
  for (const auto& each : std::filesystem::recursive_directory_iterator{*folder}) {
    const std::string path = each.path().string();
    CAPTURE(path);
    if (path.ends_with(".goal")) {
      const Recording ranks = read_recording(path);
      const Recording back = read_goal_text(goal_file(ranks));
      REQUIRE(back.ranks.size() == ranks.ranks.size());
      for (std::size_t rank = 0; rank < back.ranks.size(); ++rank)
        CHECK(told(back.ranks[rank]) == told(ranks.ranks[rank]));
      ++samples;
    } else if (path.ends_with(".et")) {
      RecordedRank rank;
      try {
        const auto source = open_file(path);
        rank = read_recorded_rank(*source, path);
      } catch (const InputError&) {
        continue;  // files made to be refused
      }
      const std::string file = fmt::format("t.{}.et", rank.rank);
      CHECK(told(read(chakra_file(rank, ChakraForm::wire), file)) == told(rank));
      CHECK(told(read(chakra_file(rank, ChakraForm::json), file)) == told(rank));
      ++samples;
    }
  }
  CHECK(samples > 60);
}

TEST_CASE("what Chakra and GOAL can't hold is said") {
  Recording profiled;
  profiled.ranks.push_back(read(
      profile({event("kernel", "gemm", "0", "5", on_stream(7)), event("gpu_memcpy", "copy", "5", "5", on_stream(7))})));
  const std::vector<std::string> lost = lost_in_chakra(profiled);
  CHECK(lost ==
        std::vector<std::string>{"starts of tasks (x 1)", "that a task copies or fills, and doesn't compute (x 1)"});
  CHECK(goal_file(read_goal_text("num_ranks 1\nrank 0 {\ncalc 5\nb: calc 6\n}\n")) ==
        "num_ranks 1\n\nrank 0 {\nt0: calc 5 cpu 0\nb: calc 6 cpu 0\n}\n");  // a word of GOAL is no label
  CHECK(lost_in_goal(profiled) == std::vector<std::string>{"the kind copy of tasks, which are computing (x 1)"});
}

TEST_CASE("GOAL by hand: a rank computes and sends, the other one receives and computes") {
  // On 1 ns a byte: 1,000 + 4,096 ns, and then 500.
  const Recording pair = read_goal_text(
      "num_ranks 2 // two\nrank 0 {\nl1: calc 1000\nl2: send 4096b to 1 tag 7\nl2 requires l1\n}\n"
      "rank 1 {\nr1: recv 4096b from 0 tag 7\n/* a\n comment */ r2: calc 500 cpu 3\nr2 requires r1\n}\n");
  CHECK(simulated_ns(pair) == 5596);
  CHECK(pair.ranks[1].lanes[pair.ranks[1].tasks[1].lane].name == "3");
  // b begins with a, which needs the first calc.
  const Recording begun = read_goal_text(
      "num_ranks 1\nrank 0 {\nc: calc 7\na: calc 5 cpu 1\nb: calc 9 cpu 2\n"
      "a requires c\nb irequires a\n}\n");
  CHECK(simulated_ns(begun) == 16);
}

TEST_CASE("wrong GOAL names the line") {
  const auto says = [](const std::string& text, std::string_view part) {
    const std::string refused = refused_goal(text);
    CAPTURE(refused);
    CHECK(refused.find(part) != std::string::npos);
  };
  says("rank 0 {\n}\n", "a.goal:1: rank 0 of 0");
  says("num_ranks 1\nrank 0 {\n", "the file ends within rank 0");
  says("num_ranks 2\nrank 0 {\n}\n", "num_ranks is 2, and 1 ranks follow");
  says("num_ranks 1\nrank 0 {\nrecv 8b from -1\n}\n", "a.goal:3: expected a rank (a receive from any rank");
  says("num_ranks 1\nrank 0 {\na: calc 1\na requires b\n}\n", "a.goal:4: rank 0 has no label `b` so far");
  says("num_ranks 1\nrank 0 {\na: calc 1\nb: calc 1\na requires b\nb requires a\n}\n", "nodes need each other");
  says("num_ranks 1\nrank 0 {\na: calc 1 tag 3\n}\n", "a calc has no `tag`");
  says("num_ranks 1\nrank 0 {\nsend 5 to 0\n}\n", "expected calc T, send Bb to R");
}

TEST_CASE("collectives as messages take the steps of a ring") {
  // Of four ranks: 10 us, 2 x 3 steps of 1,000 B, and 5 us.
  const Recording job = graph_recording(
      graph_from_text("role w 4 | compute f w 10000 | all-reduce g w 4000 | compute u w 5000 | f -> g | g -> u"), 1);
  const Recording messages = with_messages(job);
  CHECK(simulated_ns(job) == 19'000);
  CHECK(simulated_ns(messages) == 21'000);
  CHECK(messages.ranks[0].transfers.size() == 12);
  CHECK(simulated_ns(read_goal_text(goal_file(messages))) == 21'000);
  // Two collectives of a stream, one after the other although nothing else orders them: 10,000 + 2 x 6,000.
  const Recording two = graph_recording(
      graph_from_text("role w 4 | channel c 1 1 | compute f w 10000 | all-reduce g w 4000 | all-reduce h w "
                      "4000 | put g c 0 | put h c 1 | f -> g | f -> h"),
      1);
  CHECK(simulated_ns(with_messages(two)) == 22'000);
}

TEST_CASE("a job that is handed on takes as long when it is read again") {
  const std::string_view graphs[] = {
      "role w 4 | compute f w 10000 | all-reduce g w 4000 | compute u w 5000 | f -> g | g -> u",
      // Two messages of one stream beside computing.
      "role w 2 | channel c 1 1 | compute a w 100 | compute b w 70 | all-reduce g w 500 | all-reduce h w 50 | "
      "put g c 0 | put h c 1 | a -> b | a -> g | b -> h",
      // Groups of neighbours and of ranks at a distance; a gather whose parts are no whole numbers of bytes.
      "role w 6 | compute a w 100 | all-gather g w 60 | reduce-scatter h w 30 | groups g 1 2 | groups h 2 3 | a -> g | "
      "g -> h",
      // Lists, in which two ranks have no part and wait.
      "role w 4 | compute a w 100 | all-reduce g w 60 | lists g 0,2 | compute b w 10 | a -> g | g -> b",
      // Stages that send to each other, and a collective over both.
      "role p 2 | role q 2 | compute a p 100 | message m p q 40 | compute b q 50 | message n q p 30 | compute c p 20 | "
      "all-reduce g p 80 | join g 2 | a -> m | m -> b | b -> n | n -> c | c -> g",
      // Lanes, a timer, and a collective that runs twice.
      "role w 2 | compute a w 100 | task s w 70 stream-0 | task l w 30 host | timer t w 20 | all-reduce g w 25 | "
      "repeat "
      "g 2 | l -> a | l -> s | s -> t | t -> g | a -> g"};
  for (const std::string_view text : graphs) {
    CAPTURE(text);
    const IterationGraph graph = graph_from_text(text);
    const Recording recording = graph_recording(graph, 1);
    const std::int64_t expected = simulated_ns(graph);
    CHECK(simulated_ns(recording) == expected);
    CHECK(simulated_ns(through_chakra(recording)) == expected);
    CHECK(simulated_ns(through_chakra(recording), 3) == 3 * expected);
  }
}

TEST_CASE("collectives within servers have the groups of full servers") {
  IterationGraph graph = graph_from_text("role w 4 | compute a w 10");
  for (const CollectiveScope scope : {CollectiveScope::server, CollectiveScope::leaders, CollectiveScope::peers})
    graph.add_collective("sum", CollectiveKind::all_reduce, RoleId{std::size_t{0}}, Bytes{100}, scope);
  const Recording job = graph_recording(graph, 2);
  const auto groups_of = [&](std::size_t rank) {
    std::string text;
    for (const RecordedGroup& group : job.ranks[rank].groups) text += fmt::format("[{}]", fmt::join(group.ranks, ","));
    return text;
  };
  CHECK(groups_of(0) == "[0,1][0,2]");  // leaders and peers are one group
  CHECK(groups_of(1) == "[0,1][1,3]");
  CHECK(groups_of(3) == "[2,3][1,3]");
}

TEST_CASE("what no trace of one iteration can hold is refused") {
  const auto says = [](std::string_view graph, std::string_view part) {
    const std::string refused = why_no_trace(graph);
    CAPTURE(refused);
    CHECK(refused.find(part) != std::string::npos);
  };
  says("role w 2 | compute a w 1 | cycle 3 1", "its iterations differ");
  says("role w 2 | compute a w 1 | counter c | post p w c 1 | await q w c 1 0 | p -> q",
       "`p` waits across iterations or jobs");
  says("role w 2 | late w 1 | compute a w 1", "leave late ranks behind");
  says("role w 2 | compute a w 1 | exchange g w 8 | a -> g", "pairs of ranks exchange");
  const Recording apart =
      graph_recording(graph_from_text("role w 2 | role v 2 | compute a w 1 | compute b v 1 | a -> b"), 8);
  CHECK(apart.ranks[0].not_understood.at("wait for other ranks without a message") == 1);
}

TEST_CASE("an all-gather of which only the part of a rank is known moves the parts of all") {
  RecordedTransfer gather;
  gather.kind = RecordedCollective::all_gather;
  gather.in = Bytes{2000};
  CHECK(carried_by_network(gather, 4).bytes == Bytes{8000});
  gather.out = Bytes{8000};
  CHECK(carried_by_network(gather, 4).bytes == Bytes{8000});
  RecordedTransfer scatter;
  scatter.kind = RecordedCollective::reduce_scatter;
  scatter.in = Bytes{8000};
  CHECK(carried_by_network(scatter, 4).bytes == Bytes{8000});
  gather.in = Bytes{INT64_MAX};
  gather.out.reset();
  CHECK(carried_by_network(gather, 4).bytes == Bytes{INT64_MAX});
}

}  // namespace contend::recorded
