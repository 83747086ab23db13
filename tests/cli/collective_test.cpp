// `contend collective` as a user meets it.

#include "tests/cli/program.hpp"

#include <string>

#include <doctest/doctest.h>

using namespace contend;

namespace {

constexpr const char* kFabric =
    "schema_version: 1\ncluster: {servers: 4, gpus_per_server: 8}\nnetwork:\n  fidelity: flow\n  nic: 400Gbps\n"
    "  fabric: {kind: single-switch}\n  server: {kind: nvswitch, nics: 8}\n";

/// nccl-tests among 2 x 8 ranks, with N/A where in-place makes no sense. `bus` is the ratio of busbw to algbw.
std::string nccl_log(const char* program = "alltoall_perf", double bus = 15.0 / 16) {
  std::string log = fmt::format(
      "# nccl-tests version 2.17.8 nccl-headers=22902 nccl-library=22902\n"
      "# Collective test starting: {}\n# nThread 1 nGpus 1 minBytes 1 maxBytes 2 step: 2(factor)\n",
      program);
  for (int rank = 0; rank < 16; ++rank)
    log += fmt::format("#  Rank {:2} Group  0 Pid {} on node{} device {} [0x1b] NVIDIA H100\n", rank, rank, rank / 8,
                       rank % 8);
  log +=
      "#       size         count      type   redop    root     time   algbw   busbw  #wrong     time   algbw   busbw  "
      "#wrong\n";
  for (const std::int64_t m : {33554432LL, 67108864LL, 134217728LL, 268435456LL}) {
    const double us = 60 + static_cast<double>(m) / 90e3;
    const double rate = static_cast<double>(m) / us / 1e3;
    log += fmt::format("{} {} double none -1 {:.2f} {:.2f} {:.2f} 0 {:.2f} {:.2f} {:.2f} N/A\n", m, m / 8 / 16, us,
                       rate, rate * bus, us * 2, rate / 2, rate / 2 * bus);
  }
  return log + "# Out of bounds values : 0 OK\n";
}

}  // namespace

TEST_CASE("collective: NCCL's choice by size" * doctest::skip(!has_program())) {
  const Workplace here;
  const Outcome table = here.contend("collective --machine dgx-1v-1x100g --servers 16 -b 1K -e 1G -f 32 --csv all.csv");
  CAPTURE(table.err);
  CHECK(table.code == 0);
  CHECK(contains(table.out, "all-reduce among 128 ranks on 16 servers\n"));
  CHECK(contains(table.out, "1MiB              595.8          1.76          3.49  tree Simple"));
  CHECK(contains(here.read("all.csv"), "all-reduce,16,128,32768,NCCL 2.23.4,tree,LL,1,90.7"));
  const Outcome steps = here.contend("collective --machine dgx-a100 -b 8 -e 32 -i 8 --json");
  CHECK(contains(steps.out, "\"bytes\": 8,"));
  CHECK(contains(steps.out, "\"bytes\": 32,"));
  const Outcome every = here.contend("collective --machine dgx-h100 --every -b 1MiB -e 1MiB --nccl 2.30.7");
  CHECK(contains(every.out, "nvls"));
  CHECK(contains(every.out, "ring       LL128"));
  const Outcome fitted =
      here.contend("collective --machine dgx-1v-1x100g --servers 16 -b 1K -e 1K --hop 25us --rate 6GB/s --json");
  CHECK(contains(fitted.out, "\"time_us\": 21"));  // 55.2 + 8 x 20, and twice the time of the bytes
}

TEST_CASE("collective: the fabric of a scenario beside the library" * doctest::skip(!has_program())) {
  const Workplace here;
  here.write("fabric.yaml", kFabric);
  const Outcome both = here.contend("collective fabric.yaml --library nccl --gpu hopper -b 1M -e 16M --plot both.svg");
  CAPTURE(both.err);
  CHECK(both.code == 0);
  CHECK(contains(both.out, "NCCL 2.23.4 [us]"));
  CHECK(contains(both.out, "fabric [us]"));
  CHECK(contains(both.out, "all-reduce among 32 ranks on 4 servers"));
  CHECK(contains(here.read("both.svg"), "</svg>"));
  const Outcome alone = here.contend("collective fabric.yaml --servers 2 --gpus 4 --collective all-gather -b 1M -e 1M");
  CHECK(contains(alone.out, "all-gather among 8 ranks on 2 servers"));
  CHECK_FALSE(contains(alone.out, "NCCL"));
  CHECK(contains(here.contend("collective fabric.yaml --set network.fidelity=contention").err,
                 "only fidelity `flow` has a fabric; add --set network.fidelity=flow"));
}

TEST_CASE("collective: messages from each GPU to the next on the fabric" * doctest::skip(!has_program())) {
  // 0.8 ns for each of 40e6 bytes at 10 Gbit/s in every direction, and one start-up of 50 us, whatever the number of
  // GPUs.
  const Workplace here;
  here.write("ring.yaml",
             "schema_version: 1\ncluster: {servers: 8, gpus_per_server: 1}\n"
             "network: {fidelity: flow, nic: 10Gbps, alpha: 50us, fabric: {kind: single-switch, link_latency: 0s}, "
             "server: {kind: plain, pcie_latency: 0s}}\n");
  for (const int servers : {2, 5, 8}) {
    const Outcome ring =
        here.contend(fmt::format("collective ring.yaml --collective message --servers {} -b 40MB -e 40MB", servers));
    CAPTURE(ring.err);
    CHECK(ring.code == 0);
    CHECK(contains(ring.out, fmt::format("message among {0} ranks on {0} servers\n", servers)));
    CHECK(contains(ring.out, "40MB        32050          1.25          1.25\n"));
  }
  here.write("sendrecv.log", nccl_log("sendrecv_perf", 1));
  here.write("fabric.yaml", kFabric);
  const Outcome compared = here.contend("collective fabric.yaml --compare sendrecv.log");
  CHECK(contains(compared.out, "message among 16 ranks on 2 servers"));
  CHECK(contains(compared.out, "fabric: 4 sizes"));
  const Outcome modelled = here.contend("collective --machine dgx-h100 --compare sendrecv.log");
  CHECK(modelled.code == 3);
  CHECK(contains(modelled.err, "messages, which NCCL's cost model doesn't have"));
}

TEST_CASE("collective: measured beside expected" * doctest::skip(!has_program())) {
  const Workplace here;
  here.write("alltoall.log", nccl_log());
  const Outcome compared = here.contend("collective --machine dgx-h100 --compare alltoall.log --fit --csv all.csv");
  CAPTURE(compared.err);
  CHECK(compared.code == 0);
  CHECK(contains(compared.out, "all-to-all among 16 ranks on 2 servers"));
  CHECK(contains(compared.out, "NCCL 2.29.2: 4 sizes, median deviation"));
  CHECK(contains(compared.out, "NCCL 2.29.2, fitted: 4 sizes"));
  CHECK(contains(compared.out, "of them not used for the fit: 2 sizes"));
  CHECK(contains(compared.err, "fitted to every second size: --shares "));
  CHECK(contains(here.read("all.csv"), ",432.8"));  // out of place, because in-place is N/A
  here.write("fabric.yaml", kFabric);
  CHECK(contains(here.contend("collective fabric.yaml --compare alltoall.log").out, "fabric: 4 sizes"));
  CHECK(contains(here.contend("collective --machine dgx-h100 --compare alltoall.log --servers 4").err,
                 "--servers 4: alltoall.log says 2"));
  CHECK(here.contend("collective --machine dgx-h100 --compare alltoall.log --csv alltoall.log").code == 2);
  std::string uneven = nccl_log();
  for (std::size_t at = uneven.find("on node1 device 7"); at != std::string::npos;
       at = uneven.find("on node1 device 7"))
    uneven.replace(at, 8, "on node2");
  here.write("uneven.log", uneven);
  CHECK(contains(here.contend("collective fabric.yaml --compare uneven.log").err,
                 "16 ranks on 3 servers: expected equally many on each"));
  CHECK(contains(here.contend("collective --machine dgx-h100 --compare alltoall.log -b 8").err,
                 "--from has no effect with --compare"));
}

TEST_CASE("collective: refusals" * doctest::skip(!has_program())) {
  const Workplace here;
  const auto error = [&](const std::string& arguments) { return here.contend("collective " + arguments).err; };
  CHECK(contains(error(""), "expected --machine NAME, or a SCENARIO"));
  CHECK(contains(error("--machine dgx-h10"), "unknown machine \"dgx-h10\""));
  CHECK(contains(error("--machine dgx-h10"), "did you mean \"dgx-h100\"?"));
  CHECK(contains(error("--machine dgx-h100 --nccl 2.12.7"), "its constants are not known"));
  CHECK(contains(error("--machine dgx-h100 --channels 12"), "such as 12x30"));
  CHECK(contains(error("--machine dgx-h100 --collective allreduce"), "did you mean \"all-reduce\"?"));
  CHECK(contains(error("--machine dgx-h100 --collective mesage"), "did you mean \"message\"?"));
  CHECK(contains(error("--machine dgx-h100 --collective message"), "NCCL's cost model has no messages"));
  CHECK(contains(error("--machine dgx-h100 --gpus 1"), "two GPUs or more"));
  CHECK(contains(error("--machine dgx-h100 --gpus 9"), "from 1 to 8"));
  CHECK(contains(error("--machine dgx-h100 -b 8 -e 4"), "--to is smaller than --from"));
  CHECK(contains(error("--machine dgx-h100 --hop 3"), "expected a time"));
  CHECK(contains(error("--machine dgx-h100 --fit"), "--fit needs --compare FILE"));
  CHECK(contains(error("--machine dgx-h100 --library rccl"), "expected nccl"));
  CHECK(contains(error("--library nccl"), "needs --machine NAME or a SCENARIO"));
}

TEST_CASE("collective: a fit needs three sizes, and a figure is SVG" * doctest::skip(!has_program())) {
  const Workplace here;
  std::string log = nccl_log();
  for (const char* size : {"134217728 ", "268435456 "}) {
    const std::size_t row = log.find(size);
    log.erase(row, log.find('\n', row) + 1 - row);
  }
  here.write("two.log", log);
  const Outcome two = here.contend("collective --machine dgx-h100 --compare two.log --fit");
  CHECK(two.code == 3);
  CHECK(contains(two.err, "two.log: a fit needs 3 sizes of a collective or more, got 2"));
  CHECK(here.contend("collective --machine dgx-h100 --compare two.log").code == 0);
  const Outcome picture = here.contend("collective --machine dgx-h100 -b 1M -e 4M --plot x.png");
  CHECK(picture.code == 2);
  CHECK(contains(picture.err, "--plot: figures are SVG; expected a name that ends in .svg, got \"x.png\""));
  CHECK(here.contend("collective --machine dgx-h100 -b 1M -e 4M --plot x.SVG").code == 0);
  CHECK(contains(here.read("x.SVG"), ">4MiB</text>"));
}
