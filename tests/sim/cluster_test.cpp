// Compares the index of free resources with a plain count of who holds what.

#include "sim/cluster.hpp"

#include "sim/random_stream.hpp"
#include "tests/effort.hpp"

#include <climits>
#include <cstdint>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

using namespace contend;

namespace {

/// The jobs on each GPU, one entry for each rank.
using Held = std::vector<std::vector<JobSpec>>;

int free_gpus(const Held& held, std::size_t first, std::size_t last) {
  int count = 0;
  for (std::size_t gpu = first; gpu < last; ++gpu) count += held[gpu].empty() ? 1 : 0;
  return count;
}

void check_counts(const ClusterSpec& spec, const Capacity& capacity, const Held& held) {
  const auto per_server = static_cast<std::size_t>(spec.gpus_per_server);
  const auto servers = static_cast<std::size_t>(spec.servers);
  CHECK(capacity.free_gpus() == free_gpus(held, 0, held.size()));
  for (std::size_t s = 0; s < servers; ++s) {
    CHECK(capacity.free_gpus(ServerId{s}) == free_gpus(held, s * per_server, (s + 1) * per_server));
    std::int64_t cpus = spec.milli_cpus;
    Bytes memory = spec.host_memory;
    for (std::size_t gpu = s * per_server; gpu < (s + 1) * per_server; ++gpu) {
      for (const JobSpec& job : held[gpu]) {
        cpus -= job.milli_cpus;
        memory -= job.host_memory;
      }
    }
    CHECK(capacity.free_milli_cpus(ServerId{s}) == cpus);
    CHECK(capacity.free_host_memory(ServerId{s}) == memory);
  }
  // The first two servers belong to virtual cluster 0, the third to 1; 2 has none, and uses the rest.
  CHECK(capacity.free_gpus_of_vc(0) == free_gpus(held, 0, 2 * per_server));
  CHECK(capacity.free_gpus_of_vc(1) == free_gpus(held, 2 * per_server, 3 * per_server));
  for (const std::int32_t vc : {2, -1})
    CHECK(capacity.free_gpus_of_vc(vc) == free_gpus(held, 3 * per_server, held.size()));
  for (int free = 0; free <= spec.gpus_per_server; ++free) {
    for (std::size_t from = 0; from < servers; ++from) {
      ServerId first = ServerId::none();
      for (std::size_t s = servers; s-- > from;) {
        if (free_gpus(held, s * per_server, (s + 1) * per_server) == free) first = ServerId{s};
      }
      CHECK(capacity.next_server(free, ServerId{from}) == first);
    }
  }
  CHECK(capacity.next_server(spec.gpus_per_server + 1, ServerId{0U}) == ServerId::none());
  for (std::size_t gpu = 0; gpu < held.size(); ++gpu) {
    Bytes memory = spec.gpu_memory;
    int share = kWholeGpu;
    for (const JobSpec& job : held[gpu]) {
      memory -= job.memory_per_gpu;
      share -= job.gpu_share;
    }
    CHECK(capacity.free_share(GpuId{gpu}) == share);
    CHECK(capacity.free_memory(GpuId{gpu}) == (share < kWholeGpu ? Bytes{-1} : memory));
  }
}

}  // namespace

TEST_CASE("what is free is what no job holds, after every start and end") {
  ClusterSpec spec;
  spec.servers = 70;  // more than the 64 of a word of the index
  spec.gpus_per_server = 3;
  spec.gpu_memory = Bytes{100};
  spec.milli_cpus = 10'000;
  spec.host_memory = Bytes{1000};
  spec.vcs = {{.servers = {0, 2}}, {.servers = {2, 3}}, {.quota = 5}};
  RandomStream stream{1, "cluster_test"};
  Capacity capacity{spec};
  Held held(capacity.gpus());
  check_counts(spec, capacity, held);
  for (int step = 0; step < effort(1000); ++step) {
    const auto gpu = static_cast<std::size_t>(stream.uniform_integer(0, static_cast<std::int64_t>(held.size()) - 1));
    JobSpec job;
    job.memory_per_gpu = Bytes{stream.uniform_integer(10, 60)};
    job.gpu_share = stream.uniform() < 0.5 ? 0 : static_cast<std::int32_t>(stream.uniform_integer(1, kWholeGpu));
    job.milli_cpus = static_cast<std::int32_t>(stream.uniform_integer(0, 1000));
    job.host_memory = Bytes{stream.uniform_integer(0, 100)};
    if (!held[gpu].empty() && stream.uniform() < 0.4) {
      capacity.give_back(GpuId{gpu}, RankDemand{held[gpu].back()});
      held[gpu].pop_back();
    } else {
      Bytes left = spec.gpu_memory - job.memory_per_gpu;
      int share = kWholeGpu - job.gpu_share;
      bool is_alike = true;
      for (const JobSpec& other : held[gpu]) {
        left -= other.memory_per_gpu;
        share -= other.gpu_share;
        is_alike = is_alike && (other.gpu_share > 0) == (job.gpu_share > 0);
      }
      const bool fits = left >= Bytes{} && share >= 0 && is_alike;
      CHECK(capacity.fits(GpuId{gpu}, RankDemand{job}) == fits);
      if (!fits) continue;
      capacity.take(GpuId{gpu}, RankDemand{job});
      held[gpu].push_back(job);
    }
    if (step % 10 == 0) check_counts(spec, capacity, held);
  }
  check_counts(spec, capacity, held);
}

TEST_CASE("GPUs in service are counted by owner and type, whether jobs hold them or not") {
  ClusterSpec spec;
  spec.servers = 5;
  spec.gpus_per_server = 4;
  spec.types = {{.name = "small", .servers = 3, .gpus_per_server = 2, .gpu_memory = Bytes{100}},
                {.name = "large", .servers = 2, .gpus_per_server = 4, .gpu_memory = Bytes{100}}};
  spec.vcs = {{.servers = {0, 2}}, {.quota = 5}};
  Capacity capacity{spec};
  // Server 0 and 1 belong to virtual cluster 0. Server 2 is small, servers 3 and 4 are large.
  const auto counts = [&](std::int32_t vc) {
    return std::vector{capacity.gpus_in_service(vc, -1), capacity.gpus_in_service(vc, 0),
                       capacity.gpus_in_service(vc, 1)};
  };
  CHECK(counts(0) == std::vector{4, 4, 0});
  for (const std::int32_t vc : {1, -1}) CHECK(counts(vc) == std::vector{10, 2, 8});
  JobSpec job;
  job.gpu_share = kWholeGpu;
  const std::uint64_t before = capacity.times_given_back(1), others = capacity.times_given_back(0);
  capacity.take(GpuId{16U}, RankDemand{job});
  CHECK(counts(1) == std::vector{10, 2, 8});
  capacity.count_in_service(GpuId{16U}, -1);
  capacity.count_in_service(GpuId{4U}, -1);
  CHECK(counts(0) == std::vector{3, 3, 0});
  CHECK(counts(1) == std::vector{9, 2, 7});
  CHECK(capacity.times_given_back(1) == before);
  capacity.count_in_service(GpuId{16U}, 1);
  capacity.give_back(GpuId{16U}, RankDemand{job});
  CHECK(counts(1) == std::vector{10, 2, 8});
  CHECK(capacity.times_given_back(1) == before + 1);
  CHECK(capacity.times_given_back(0) == others);
}

TEST_CASE("a set finds its next member, and none behind its last, whatever its size") {
  for (const std::size_t size : {1UL, 63UL, 64UL, 65UL, 4095UL, 4096UL, 4097UL}) {
    CAPTURE(size);
    BitSet set{size};
    CHECK(set.next(0) == size);
    set.insert(size - 1);
    CHECK(set.next(0) == size - 1);
    CHECK(set.next(size - 1) == size - 1);
    CHECK(set.next(size) == size);
    set.erase(size - 1);
    CHECK(set.next(size - 1) == size);
  }
}

TEST_CASE("a quota is used up by as many GPUs as it has, and one that may be exceeded never is") {
  ClusterSpec spec;
  spec.servers = 1;
  spec.gpus_per_server = 8;
  spec.vcs = {{.quota = 5}, {.quota = 3, .borrows = true}, {}};
  Capacity capacity{spec};
  for (const std::int32_t vc : {0, 1, 2}) capacity.use_quota(vc, 3);
  capacity.use_quota(-1, 3);
  capacity.use_quota(0, -1);
  CHECK(capacity.vc_used(0) == 2);
  CHECK(capacity.vc_used(1) == 3);
  CHECK(capacity.vc_quota(1) == 3);
  CHECK(capacity.quota_left(0) == 3);
  for (const std::int32_t vc : {1, 2, 3, -1}) CHECK(capacity.quota_left(vc) == INT_MAX);
}

TEST_CASE("a job that needs exactly what the empty cluster has can run, and one that needs more can't") {
  ClusterSpec spec;
  spec.servers = 5;
  spec.gpus_per_server = 4;
  spec.gpu_memory = Bytes{100};
  spec.milli_cpus = 12'000;
  spec.host_memory = Bytes{1000};
  // The first two servers belong to virtual cluster 0; 1 and 2 share the other three, 2 beyond its quota.
  spec.vcs = {{.servers = {0, 2}}, {.quota = 5}, {.quota = 5, .borrows = true}};
  const auto why = [&](auto change) {
    JobSpec job;
    job.vc = -1;
    job.gpus = 1;
    change(job);
    return why_never(spec, job);
  };
  CHECK(why([](JobSpec& job) { job.gpus = 12; }) == "");
  CHECK(why([](JobSpec& job) { job.gpus = 13; }) == "needs 13 GPUs, the servers that no virtual cluster owns have 12");
  CHECK(why([](JobSpec& job) { job.vc = 0, job.gpus = 8; }) == "");
  CHECK(why([](JobSpec& job) { job.vc = 0, job.gpus = 9; }) == "needs 9 GPUs, its virtual cluster has 8");
  CHECK(why([](JobSpec& job) { job.memory_per_gpu = Bytes{100}; }) == "");
  CHECK(why([](JobSpec& job) { job.memory_per_gpu = Bytes{101}; }) ==
        "needs 101 bytes of GPU memory, a GPU has 100 bytes");
  CHECK(why([](JobSpec& job) { job.vc = 1, job.gpus = 5; }) == "");
  CHECK(why([](JobSpec& job) { job.vc = 1, job.gpus = 6; }) == "needs 6 GPUs, the quota of its virtual cluster is 5");
  CHECK(why([](JobSpec& job) { job.vc = 2, job.gpus = 6; }) == "");
  // Virtual cluster 3 isn't listed, so it has neither servers of its own nor a quota.
  CHECK(why([](JobSpec& job) { job.vc = 3, job.gpus = 12; }) == "");
  // 12 CPUs are for two ranks of 5 or 6 on each of three servers; 1000 bytes for three of 333.
  CHECK(why([](JobSpec& job) { job.gpus = 6, job.milli_cpus = 6000; }) == "");
  CHECK(why([](JobSpec& job) { job.gpus = 7, job.milli_cpus = 5000; }) ==
        "needs CPUs or memory for 7 ranks, the servers have them for 2 each");
  CHECK(why([](JobSpec& job) { job.gpus = 9, job.host_memory = Bytes{333}; }) == "");
  CHECK(why([](JobSpec& job) { job.gpus = 10, job.host_memory = Bytes{333}; }) ==
        "needs CPUs or memory for 10 ranks, the servers have them for 3 each");
  CHECK(why([](JobSpec& job) { job.milli_cpus = 12'000, job.host_memory = Bytes{1000}; }) == "");
  for (const auto& [cpus, memory] : {std::pair{12'001, 0}, {0, 1001}}) {
    CHECK(why([c = cpus, m = memory](JobSpec& job) { job.milli_cpus = c, job.host_memory = Bytes{m}; }) ==
          "needs more CPUs or host memory for each GPU than a server has");
  }
}
