// Chakra's files and PyTorch's execution traces as recordings, byte by byte, and what contradicts itself in them.

#include "tests/temporary_folder.hpp"
#include "tests/text_checks.hpp"
#include "tests/traces/recording_test_kit.hpp"
#include "text/atomic_file.hpp"
#include "traces/recording/recording_builder.hpp"

#include <string>
#include <string_view>
#include <vector>

#include <doctest/doctest.h>

namespace contend::recorded {
namespace {

constexpr std::uint64_t kSend = 5, kReceive = 6, kCollective = 7, kAllReduce = 0, kAllGather = 2;

/// The faults of ranks whose files have these bytes, each as text.
std::vector<std::string> faults_of(const std::vector<std::string>& ranks) {
  const TemporaryFolder folder;
  for (std::size_t i = 0; i < ranks.size(); ++i) write_file(folder.path(fmt::format("t.{}.et", i)), ranks[i]);
  std::vector<std::string> faults;
  for (const Complaint& fault : read_recording(folder.path("")).faults)
    faults.push_back(fmt::format("{}: {}", fault.key, fault.reason));
  return faults;
}

}  // namespace

TEST_CASE("a node with the id 0 has no id on the wire") {
  const std::string bytes{"\x05\x0a\x03\x31\x2e\x30\x05\x12\x01\x61\x18\x04", 12};
  const RecordedRank rank = read(bytes);
  CHECK(rank.format == "Chakra");
  CHECK(rank.version == "1.0");
  REQUIRE(rank.tasks.size() == 1);
  CHECK(rank.tasks[0].node == 0);
  CHECK(rank.name_of(rank.tasks[0]) == "a");
  CHECK(rank.tasks[0].kind == RecordedKind::compute);
  CHECK(refusal(bytes.substr(0, 11)).find("message 1 at offset 7: the file ends within a message: 4 of 5 bytes") !=
        std::string::npos);
}

TEST_CASE("damaged messages name their place") {
  const auto found = [](const std::string& bytes, std::string_view part) {
    const std::string refused = refusal(bytes);
    CAPTURE(refused);
    CHECK(refused.find(part) != std::string::npos);
  };
  found(metadata() + message(field(1, 1) + "\x12\x7f"
                                           "a"),
        "message 1 at offset 9: a field longer than its message");
  found(metadata() + message("\x08"), "message 1 at offset 9: a field without a value");
  found(metadata() + message("\x0b"), "a field of an unknown type");
  found(metadata() + std::string(11, '\xff'), "message 1 at offset 8: its length is a number of more than 64 bits");
  found(metadata() + varint(std::uint64_t{1} << 31U), "Protocol Buffers end below 2 GiB");
  found(metadata() + node({.id = 1, .type = 9}), "node 1: message 1 at offset 9 has the type 9, expected 1 to 7");
  found(metadata() + node({.id = 1}) + node({.id = 1}), "has the id of an earlier node");
  found(metadata() + node({.id = 1, .type = kCollective, .more = number("comm_type", 10)}), "has the collective 10");
  found(metadata() + node({.id = 1, .needs = {2}}) + node({.id = 2, .needs = {1}}),
        "nodes need each other: 1 -> 2 -> 1");
  found(metadata() + node({.id = 1, .needs = {7}}), "node 1: needs node 7, which isn't in the file");
}

TEST_CASE("sizes, types and places of nodes") {
  const std::string host = message(field(1, 9) + field(2, "aten::add") + field(3, 4) + field(7, 3) +
                                   number("is_cpu_op", 1, 27) + number("tid", 2));
  const RecordedRank rank = read(
      metadata() + group("5", "[0, 1]") + host + node({.id = 10, .us = 12, .more = number("stream", 7), .needs = {9}}) +
      node({.id = 11, .type = kCollective, .more = collective(kAllReduce, 6'442'450'944, "5") + number("stream", 20)}) +
      node({.id = 12,
            .type = kSend,
            .more = number("comm_size", 1000, 13) + number("comm_dst", 1, 7) +
                    number("comm_tag", 5, 15)}));  // zigzag 5 is -3
  REQUIRE(rank.tasks.size() == 4);
  CHECK(rank.tasks[0].kind == RecordedKind::host);
  CHECK(rank.lanes[rank.tasks[0].lane].name == "2");
  CHECK(rank.tasks[1].duration.ns() == 12'000);
  CHECK(rank.lanes[rank.tasks[1].lane].name == "7");
  REQUIRE(rank.tasks[1].needs == 1);
  CHECK(rank.needs[rank.tasks[1].first_need] == 0);
  CHECK(rank.transfers[0].in == Bytes{6'442'450'944});
  REQUIRE(rank.transfers[0].group);
  CHECK(rank.groups[*rank.transfers[0].group].ranks == std::vector<std::int64_t>{0, 1});
  CHECK(rank.transfers[1].peer == 1);
  CHECK(rank.transfers[1].tag == -3);
  CHECK(rank.transfers[1].in == Bytes{1000});
}

TEST_CASE("both forms of Chakra as JSON") {
  const RecordedRank graph = read(
      R"({"workload_graph":[{"Id":1,"Name":"a","NodeType":4,"data_deps":[],"is_cpu_op":true},)"
      R"({"Id":2,"Name":"ncclKernel_Broadcast_RING_LL","NodeType":7,"runtime":28,"data_deps":[1],"is_cpu_op":false}]})");
  REQUIRE(graph.tasks.size() == 2);
  CHECK(graph.tasks[0].kind == RecordedKind::host);
  CHECK(graph.tasks[1].duration.ns() == 28'000);
  CHECK(graph.transfers[0].kind == RecordedCollective::broadcast);
  const RecordedRank messages = read(
      "{\"version\":\"0.0.4\"}\n{\"name\":\"x\",\"type\":\"COMP_NODE\",\"durationMicros\":\"5\"}\n"
      "{\"id\":\"1\",\"type\":\"COMM_COLL_NODE\",\"data_deps\":[\"0\"],\"attr\":[{\"name\":\"comm_type\",\"int64Val\":"
      "\"2\"},{\"name\":\"comm_size\",\"uint64_val\":\"4096\"}]}");
  CHECK(messages.version == "0.0.4");
  REQUIRE(messages.tasks.size() == 2);
  CHECK(messages.tasks[0].duration.ns() == 5'000);
  CHECK(messages.tasks[1].needs == 1);
  CHECK(messages.transfers[0].kind == RecordedCollective::all_gather);
  CHECK(messages.transfers[0].in == Bytes{4096});
}

TEST_CASE("execution traces of PyTorch, whose nodes stand in order of their end") {
  const RecordedRank rank = read(
      R"({"schema":"1.1.0-chakra.0.0.4","nodes":[{"id":3,"name":"record_param_comms","ctrl_deps":2,"attrs":[)"
      R"({"name":"tid","value":1},{"name":"collective_name","value":"allreduce"},{"name":"dtype","value":"Float"},)"
      R"({"name":"in_msg_nelems","value":1000},{"name":"pg_name","value":"0"},{"name":"pg_size","value":2}]},)"
      R"({"id":4,"name":"record_param_comms","ctrl_deps":2,"attrs":[{"name":"collective_name","value":"wait"}]},)"
      R"({"id":2,"name":"c10d::allreduce_","ctrl_deps":1,"attrs":[]},{"id":1,"name":"process","ctrl_deps":1}]})");
  CHECK(rank.version == "1.1.0-chakra.0.0.4");
  REQUIRE(rank.tasks.size() == 4);
  CHECK(rank.tasks[0].node == 1);
  CHECK(rank.tasks[2].kind == RecordedKind::collective);
  CHECK(rank.tasks[3].kind == RecordedKind::host);
  REQUIRE(rank.transfers.size() == 1);
  CHECK(rank.transfers[0].in == Bytes{4000});
  CHECK(rank.groups[0].size == 2);
  const RecordedRank old = read(
      R"({"schema":"1.0.1","nodes":[{"name":"record_param_comms","id":2,"parent":1,"tid":1,)"
      R"("inputs":[[718,715,0,6144,4,"cuda:0"],147,0,0,"all_to_allv",[768],[768]],"outputs":[[7,7,0,100,4,"cuda:0"]]}]})");
  REQUIRE(old.transfers.size() == 1);
  CHECK(old.transfers[0].kind == RecordedCollective::all_to_all);
  CHECK(old.transfers[0].in == Bytes{24'576});
  CHECK(old.transfers[0].out == Bytes{400});
}

TEST_CASE("ranks that contradict each other") {
  const std::string all_reduce = collective(kAllReduce, 1 << 20), all_gather = collective(kAllGather, 2 << 20);
  const auto first = [](const std::string& more) { return node({.id = 1, .type = kCollective, .more = more}); };
  const auto second = [](const std::string& more) { return node({.id = 2, .type = kCollective, .more = more}); };

  // A peer that never comes.
  auto faults = faults_of({metadata() + group("0", "[0, 1]") + first(collective(kAllReduce, 4 << 20)),
                           metadata() + group("0", "[0, 1]") + node({.id = 0, .us = 3})});
  REQUIRE(faults.size() == 1);
  CHECK(faults[0] ==
        "group \"0\": position 0: rank 0 has all-reduce of 4194304 B (node 1), rank 1 has no collective left");

  // Groups that disagree, and a rank without a file.
  faults = faults_of({metadata() + group("3", "[0, 1]") + first(collective(kAllReduce, 8, "3")),
                      metadata() + group("3", "[0, 1, 2]") + first(collective(kAllReduce, 8, "3"))});
  REQUIRE(faults.size() == 2);
  CHECK(faults[0] == "group \"3\": rank 0 says that it has the ranks [0, 1], and rank 1 says [0, 1, 2]");
  CHECK(faults[1] == "group \"3\": its rank 2 has no file");

  // Another order in one group; in two groups it is legal.
  faults = faults_of(
      {metadata() + first(all_reduce) + second(all_gather), metadata() + first(all_gather) + second(all_reduce)});
  REQUIRE(faults.size() == 1);
  CHECK(faults[0] ==
        "group \"0\": position 0: rank 0 has all-reduce of 1048576 B (node 1), rank 1 has all-gather of 2097152 B "
        "(node 1)");
  const std::string other = collective(kAllGather, 2 << 20, "1");
  CHECK(faults_of({metadata() + first(all_reduce) + second(other), metadata() + first(other) + second(all_reduce)})
            .empty());

  // A message whose tags differ.
  const auto end = [](std::uint64_t type, const char* peer, std::uint64_t rank, std::uint64_t tag) {
    return metadata() + node({.id = 1,
                              .type = type,
                              .more = number(peer, rank) + number("comm_size", 1000) + number("comm_tag", tag)});
  };
  faults = faults_of({end(kSend, "comm_dst", 1, 3), end(kReceive, "comm_src", 0, 4)});
  REQUIRE(faults.size() == 2);
  CHECK(faults[0].find("tag 3 has no other end; unmatched tags of receives between them: 4") != std::string::npos);
  CHECK(faults_of({end(kSend, "comm_dst", 1, 3), end(kReceive, "comm_src", 0, 3)}).empty());
}

TEST_CASE("a broken rank doesn't hide the others") {
  const TemporaryFolder folder;
  write_file(folder.path("t.0.et"), metadata() + node({.id = 1}));
  write_file(folder.path("t.1.et"), metadata() + "\x7f");
  write_file(folder.path("t.2.et"), metadata() + node({.id = 1}));
  write_file(folder.path("notes.txt"), "no recording");
  const Recording recording = read_recording(folder.path(""));
  REQUIRE(recording.ranks.size() == 2);
  CHECK(recording.ranks[1].rank == 2);
  REQUIRE(recording.faults.size() == 1);
  CHECK(recording.faults[0].file.ends_with("t.1.et"));
}

TEST_CASE("groups in a file of their own") {
  const TemporaryFolder folder;
  const std::string file = metadata() + node({.id = 1, .type = kCollective, .more = collective(kAllReduce, 8, "7")});
  for (const char* name : {"t.0.et", "t.1.et"}) write_file(folder.path(name), file);
  write_file(folder.path("comm_group.json"), R"({"7": [0, 1], "8": [0], "note": "x"})");
  const Recording recording = read_recording(folder.path(""));
  CHECK(recording.faults.empty());
  REQUIRE(recording.ranks.size() == 2);
  CHECK(recording.ranks[1].groups[0].ranks == std::vector<std::int64_t>{0, 1});
  CHECK(recording.ranks[1].groups[0].size == 2);
  write_file(folder.path("comm_group.json"), R"({"7": [0, 1, 2]})");
  REQUIRE(read_recording(folder.path("")).faults.size() == 1);  // rank 2 has no file
}

TEST_CASE("the rank in the name of a file") {
  CHECK(rank_in_name("a/t.3.et") == 3);
  CHECK(rank_in_name("rank-70.Mar_25_20_48_12.2861.pt.trace.json.gz") == 70);
  CHECK(rank_in_name("worker0_step_12.1694128201545.pt.trace.json") == 0);
  CHECK(rank_in_name("dlrm_eg_5.json") == 5);
  CHECK(!rank_in_name("1.0.2-chakra.0.0.4.json"));
  CHECK(!rank_in_name("h100_nsfw_image_detection__1016002.json.gz"));
  CHECK(!rank_in_name("trace.json"));
}

TEST_CASE("what is no recording is refused by its name") {
  CHECK(contains(refusal(std::string(257, 'x') + "ustar" + std::string(250, '\0')), "this is a tar archive"));
  CHECK(contains(refusal("schema_version: 1\n"), "this is text, and no recording"));
  CHECK(contains(refusal("{}"), "neither events of a profile nor nodes of a trace"));
  CHECK(contains(refusal("[]"), "neither events of a profile nor nodes of a trace"));
  CHECK(contains(refusal(R"({"id": 1, "type": 4, "dataDeps": ["x"]})"), "node 1: a dependency is no number of a node"));
}

}  // namespace contend::recorded
