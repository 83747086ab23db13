// What collectives take on real machines: the lines inside a server, NVLink domains, and networks between servers.

#include "network/catalogue.hpp"
#include "network/library/nccl_machine.hpp"
#include "tests/near.hpp"

#include <initializer_list>
#include <string_view>
#include <vector>

#include <doctest/doctest.h>

using namespace contend;

namespace {

constexpr auto kAround = NcclAlgorithm::ring;
constexpr auto kPlain = NcclProtocol::simple;

/// Microseconds among the first GPUs of a server of the machine.
double inside_us(const char* machine, int gpus, CollectiveKind kind, std::int64_t bytes, bool in_place = false) {
  const NcclLibrary library{find_nccl_machine(machine), {.measured = true, .in_place = in_place}};
  const std::vector<int> ranks{gpus};
  return 1e6 * library.seconds(kind, Bytes{bytes}, ranks);
}

}  // namespace

TEST_CASE("library times: a line inside a server, by hand") {
  InsideTimes times;
  times.ring[2] = {.start = 10, .step = 2, .rate = 100, .copy = 500};
  const auto us = [&](CollectiveKind kind, int ranks, bool in_place) {
    const auto parts = times.parts(kAround, kPlain, kind, ranks, 4e8, in_place, 0.5, 1);
    REQUIRE(parts);
    return 1e6 * (parts->start_up + parts->bytes);
  };
  // 0.4 GB on 4 ranks: three steps of 2.5 us, 3/4 of the bytes at 100 GB/s, and a quarter of them copied at 500.
  CHECK(us(CollectiveKind::all_gather, 4, false) == near(10 + 3 * 2.5 + 3000 + 200));
  CHECK(us(CollectiveKind::all_gather, 4, true) == near(10 + 3 * 2.5 + 3000));
  CHECK(us(CollectiveKind::all_reduce, 4, true) == near(10 + 6 * 2.5 + 6000 + 200));
  CHECK(us(CollectiveKind::broadcast, 4, false) == near(10 + 3 * 2.5 + 4000));
  // A link to each other GPU: three at once. A fit doubles the rates.
  times.mesh = true;
  CHECK(us(CollectiveKind::all_gather, 4, true) == near(10 + 3 * 2.5 + 1000));
  CHECK(times.parts(kAround, kPlain, CollectiveKind::all_gather, 4, 4e8, true, 0, 2)->bytes == near(500e-6));
  CHECK_FALSE(times.parts(kAround, NcclProtocol::ll, CollectiveKind::all_gather, 4, 4e8, true, 0, 1));
  CHECK_FALSE(times.parts(kAround, kPlain, CollectiveKind::all_to_all, 4, 4e8, true, 0, 1));
  CHECK_FALSE(times.parts(NcclAlgorithm::sends, kPlain, CollectiveKind::all_gather, 4, 4e8, true, 0, 1));
}

TEST_CASE("library times: subsets of a server are slower than its wires") {
  constexpr std::int64_t kLarge = 512 << 20;
  // Measured out of place, us (ai-dynamo/aiconfigurator): of which the wire alone explains 757 and 1,170 of the first.
  struct Row {
    const char* machine;
    int gpus;
    CollectiveKind kind;
    std::int64_t bytes;
    double us, within;
  };
  for (const Row& row : std::initializer_list<Row>{
           {"dgx-h100", 2, CollectiveKind::all_gather, kLarge, 1039, 0.12},
           {"dgx-a100", 2, CollectiveKind::all_gather, kLarge, 1790, 0.15},
           {"dgx-h100", 8, CollectiveKind::reduce_scatter, kLarge, 1399, 0.05},
           {"dgx-h100", 8, CollectiveKind::all_reduce, kLarge, 2111, 0.05},
           {"dgx-b200", 8, CollectiveKind::all_gather, kLarge, 761, 0.1},
           {"dgx-h100", 8, CollectiveKind::all_reduce, 1024, 15.6, 0.1},
           {"dgx-a100", 2, CollectiveKind::all_gather, 512, 9.0, 0.1},
       }) {
    CAPTURE(row.machine);
    CAPTURE(row.gpus);
    CHECK(inside_us(row.machine, row.gpus, row.kind, row.bytes) == near(row.us, row.within));
  }
  CHECK(inside_us("dgx-h100", 2, CollectiveKind::all_gather, kLarge, true) <
        0.75 * inside_us("dgx-h100", 2, CollectiveKind::all_gather, kLarge));
  CHECK(inside_us("dgx-h200", 4, CollectiveKind::all_gather, kLarge) ==
        inside_us("dgx-h100", 4, CollectiveKind::all_gather, kLarge));
}

TEST_CASE("library times: they grow with the size and with the number of GPUs at small sizes") {
  for (const NcclMachine& machine : nccl_machines()) {
    if (machine.inside.empty()) continue;
    CAPTURE(machine.name);
    const NcclLibrary library{machine, {.version = machine.version, .measured = true}};
    for (const CollectiveKind kind : {CollectiveKind::all_reduce, CollectiveKind::all_gather,
                                      CollectiveKind::reduce_scatter, CollectiveKind::all_to_all}) {
      double fewer = 0;
      for (int gpus = 2; gpus <= machine.gpus; ++gpus) {
        const std::vector<int> ranks{gpus};
        double smaller = 0;
        for (std::int64_t bytes = 8; bytes <= std::int64_t{1} << 34; bytes *= 8) {
          const double now = library.seconds(kind, Bytes{bytes}, ranks);
          CHECK(now >= smaller);
          smaller = now;
        }
        const double small = library.seconds(kind, Bytes{8}, ranks);
        CHECK(small >= fewer * (1 - 1e-3));  // in a mesh only the bytes change
        fewer = small;
      }
    }
  }
}

TEST_CASE("library times: NVL72 is one domain of 18 trays") {
  const NcclMachine& rack = find_nccl_machine("gb200-nvl72");
  const NcclChoices choices{.version = rack.version, .measured = true};
  const auto servers = [&](int trays) {
    return nccl_communicator(rack, std::vector<int>(static_cast<std::size_t>(trays), 4), choices).ranks_by_server;
  };
  CHECK(servers(1) == std::vector<int>{4});
  CHECK(servers(18) == std::vector<int>{72});
  CHECK(servers(20) == std::vector<int>{72, 8});
  const NcclLibrary library{rack, choices};
  const auto us = [&](int trays, std::int64_t bytes) {
    const std::vector<int> ranks(static_cast<std::size_t>(trays), 4);
    return 1e6 * library.seconds(CollectiveKind::all_reduce, Bytes{bytes}, ranks);
  };
  CHECK(us(18, std::int64_t{512} << 20) == near(1807, 0.05));  // coreweave/nccl-tests, pull request 43
  CHECK(us(18, std::int64_t{8} << 30) == near(20299, 0.05));
  // Two racks have 144 interfaces for it, so that NVLink stays the limit, but hops of the network are longer.
  CHECK(us(36, std::int64_t{8} << 30) >= us(18, std::int64_t{8} << 30));
  // 8 bytes: 2 (3 + 5) steps of 1.29 us up and down the tree over 17 trays.
  CHECK(us(17, 8) == near(7.49 + 16 * 1.29, 1e-3));
  CHECK(us(36, 8) > us(17, 8));
}

TEST_CASE("library times: a network adds to hops and leaves a share of rates") {
  const NcclMachine& machine = find_nccl_machine("dgx-h100");
  const NcclCommunicator plain = nccl_communicator(machine, {8, 8, 8, 8});
  const NetworkTimes slow{{10, 20, 30}, 0.5, 0.25, 0.75, 0.1, 0.8};
  const NcclModel before{plain}, after{plain, {.network = slow}};
  const auto times = [](const NcclModel& model) { return model.times(CollectiveKind::all_reduce, Bytes{1 << 20}); };
  const std::vector<NcclTime> of_before = times(before), of_after = times(after);
  REQUIRE(of_before.size() == of_after.size());
  for (std::size_t i = 0; i < of_before.size(); ++i) {
    const NcclTime &was = of_before[i], &now = of_after[i];
    const double hops = was.algorithm == kAround ? 6 : 4;  // 2 (s-1) around the ring, 2 log2 s up and down a tree
    const bool plateau = was.algorithm == kAround && was.protocol == kPlain;
    CHECK(1e6 * (now.start_up - was.start_up) ==
          near((plateau ? 1.4 : 1) * hops * slow.further[static_cast<std::size_t>(was.protocol)]));
    CHECK(now.bandwidth == near(was.bandwidth * slow.share(was.algorithm, was.protocol)));
  }
  CHECK(slow.share(NcclAlgorithm::tree, NcclProtocol::ll128) == near(0.2));
  CHECK(slow.share(NcclAlgorithm::nvls_tree, kPlain) == 0.75);
  const auto bytes_s = [](const NcclModel& model) {
    const NcclTime sends = model.choice(CollectiveKind::all_to_all, Bytes{1 << 30});
    return sends.seconds - sends.start_up;
  };
  CHECK(bytes_s(after) == near(10 * bytes_s(before)));
}

TEST_CASE("catalogue: entries, comments, and machines that are like others") {
  const std::vector<TextEntry> entries = read_entries(
      "# two entries\nnetwork a\n  # a comment\n  further 1 -2 3.5\n  source a page\n\nmachine b\n  flag\n");
  REQUIRE(entries.size() == 2);
  CHECK(entries[0].kind == "network");
  CHECK(entries[0].name == "a");
  CHECK(entries[0].numbers("further") == std::vector<double>{1, -2, 3.5});
  CHECK(entries[0].text("source") == "a page");
  CHECK(entries[0].number("ring", 7) == 7);
  CHECK(entries[1].has("flag"));
  CHECK_FALSE(entries[1].has("further"));
  const TextEntry* const p4de = find_machine("p4de");  // like p4d, which is like dgx-a100
  REQUIRE(p4de != nullptr);
  CHECK(p4de->text("device") == "A100-80GB");
  CHECK(p4de->number("line") == 100);
  CHECK(p4de->number("rate") == 240);
  CHECK(find_machine("p9") == nullptr);
  for (const TextEntry& machine : machines()) {
    CAPTURE(machine.name);
    for (const std::string_view word : {"summary", "source", "device", "memory", "gpus", "nics", "line", "rate"})
      CHECK(machine.has(word));
    CHECK((machine.text("inside").empty() || find_inside_times(machine.text("inside")) != nullptr));
    CHECK((machine.text("between").empty() || find_network_times(machine.text("between")) != nullptr));
  }
}
