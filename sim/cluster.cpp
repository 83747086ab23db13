#include "sim/cluster.hpp"

#include "sim/check.hpp"
#include "sim/counted.hpp"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <string_view>
#include <vector>

#include <fmt/core.h>

namespace contend {

namespace {
constexpr std::size_t kWord = 64;
constexpr std::int64_t kBeyondAnyDemand = INT64_MAX / 2;

/// With three decimals in the largest binary unit, exact below a KiB.
std::string amount_text(Bytes bytes) {
  constexpr std::string_view kUnits[] = {"KiB", "MiB", "GiB", "TiB"};
  if (bytes.count() < 1024) return fmt::format("{} bytes", bytes.count());
  double amount = static_cast<double>(bytes.count()) / 1024;
  std::size_t unit = 0;
  for (; amount >= 1024 && unit + 1 < std::size(kUnits); ++unit) amount /= 1024;
  return fmt::format("{:.3f} {}", amount, kUnits[unit]);
}
}  // namespace

BitSet::BitSet(std::size_t size) : size_{size} {
  do {
    size = (size + kWord - 1) / kWord;
    levels_.emplace_back(std::max<std::size_t>(size, 1), 0);
  } while (size > 1);
}

void BitSet::insert(std::size_t i) {
  for (auto& level : levels_) {
    level[i / kWord] |= std::uint64_t{1} << (i % kWord);
    i /= kWord;
  }
}

void BitSet::erase(std::size_t i) {
  for (auto& level : levels_) {
    level[i / kWord] &= ~(std::uint64_t{1} << (i % kWord));
    if (level[i / kWord] != 0) return;
    i /= kWord;
  }
}

std::size_t BitSet::next(std::size_t from) const {
  // Ascends to the first level whose word has a member from there on, then descends along the first members.
  for (std::size_t level = 0; level < levels_.size(); ++level) {
    const std::size_t word = from / kWord;
    if (word >= levels_[level].size()) return size_;
    const std::uint64_t rest = levels_[level][word] >> (from % kWord);
    if (rest == 0) {
      from = word + 1;
      continue;
    }
    from += static_cast<std::size_t>(std::countr_zero(rest));
    while (level-- > 0) from = from * kWord + static_cast<std::size_t>(std::countr_zero(levels_[level][from]));
    return from;
  }
  return size_;
}

ServerRange unowned_servers(const ClusterSpec& spec) {
  ServerRange unowned{0, static_cast<std::uint32_t>(spec.servers)};
  for (const VirtualCluster& vc : spec.vcs) {
    if (vc.servers.size() > 0) unowned.first = std::max(unowned.first, vc.servers.last);
  }
  return unowned;
}

ServerRange servers_of_vc(const ClusterSpec& spec, std::int32_t vc) {
  if (vc >= 0 && static_cast<std::size_t>(vc) < spec.vcs.size()) {
    const ServerRange own = spec.vcs[static_cast<std::size_t>(vc)].servers;
    if (own.size() > 0) return own;
  }
  return unowned_servers(spec);
}

namespace {

constexpr char kMixes = '+';  // between the names of types that a job may mix

bool is_type(const ClusterSpec& spec, std::string_view name) {
  return std::ranges::find(spec.types, name, &ServerType::name) != spec.types.end();
}

/// The names in the demand of a job, which mixes them if there are several.
std::vector<std::string_view> names_in(const ClusterSpec& spec, std::int32_t demand) {
  std::string_view text = spec.demanded[static_cast<std::size_t>(demand)];
  std::vector<std::string_view> names;
  while (!is_type(spec, text)) {
    const std::size_t end = text.find(kMixes);
    if (end == std::string_view::npos) break;
    names.push_back(text.substr(0, end));
    text.remove_prefix(end + 1);
  }
  names.push_back(text);
  return names;
}

bool has_demand(const ClusterSpec& spec, const JobSpec& job) {
  return job.gpu_type >= 0 && static_cast<std::size_t>(job.gpu_type) < spec.demanded.size();
}

std::int32_t types_in(const ClusterSpec& spec) {
  return static_cast<std::int32_t>(spec.types.size());
}

}  // namespace

std::int32_t mix_of(const ClusterSpec& spec, const JobSpec& job) {
  if (spec.types.empty() || !has_demand(spec, job) || names_in(spec, job.gpu_type).size() < 2) return -1;
  return types_in(spec) + job.gpu_type;
}

std::vector<std::int32_t> types_within(const ClusterSpec& spec, std::int32_t type) {
  if (type < types_in(spec)) return {type};
  const std::vector<std::string_view> names = names_in(spec, type - types_in(spec));
  std::vector<std::int32_t> types;
  for (std::int32_t t = 0; t < types_in(spec); ++t)
    if (std::ranges::find(names, spec.types[static_cast<std::size_t>(t)].name) != names.end()) types.push_back(t);
  return types;
}

ServerRange servers_of_type(const ClusterSpec& spec, std::int32_t type) {
  ServerRange range{0, static_cast<std::uint32_t>(spec.servers)};
  if (type < 0) return range;
  if (type >= types_in(spec)) {
    const std::vector<std::int32_t> mixed = types_within(spec, type);
    if (mixed.empty()) return {0, 0};
    return {servers_of_type(spec, mixed.front()).first, servers_of_type(spec, mixed.back()).last};
  }
  range.last = 0;
  for (std::int32_t t = 0; t <= type; ++t) {
    range.first = range.last;
    range.last += static_cast<std::uint32_t>(spec.types[static_cast<std::size_t>(t)].servers);
  }
  return range;
}

std::int32_t type_of(const ClusterSpec& spec, ServerId server) {
  std::size_t last = 0;
  for (std::size_t t = 0; t < spec.types.size(); ++t) {
    last += static_cast<std::size_t>(spec.types[t].servers);
    if (server.index() < last) return static_cast<std::int32_t>(t);
  }
  return -1;
}

int gpus_per_server(const ClusterSpec& spec, std::int32_t type) {
  if (type < 0) return spec.gpus_per_server;
  if (type < types_in(spec)) return spec.types[static_cast<std::size_t>(type)].gpus_per_server;
  int most = 0;
  for (const std::int32_t t : types_within(spec, type))
    most = std::max(most, spec.types[static_cast<std::size_t>(t)].gpus_per_server);
  return most;
}

bool has_gpu(const ClusterSpec& spec, GpuId gpu) {
  const auto most = static_cast<std::size_t>(spec.gpus_per_server);
  const std::int32_t type = type_of(spec, ServerId{gpu.index() / most});
  return gpu.index() % most < static_cast<std::size_t>(gpus_per_server(spec, type));
}

std::int64_t gpus_on(const ClusterSpec& spec, const ServerRange& servers) {
  if (spec.types.empty()) return static_cast<std::int64_t>(servers.size()) * spec.gpus_per_server;
  std::int64_t gpus = 0;
  for (std::int32_t t = 0; t < std::ssize(spec.types); ++t)
    gpus += static_cast<std::int64_t>(common(servers, servers_of_type(spec, t)).size()) * gpus_per_server(spec, t);
  return gpus;
}

ClusterSpec without_last(ClusterSpec spec, int servers) {
  spec.servers -= servers;
  for (VirtualCluster& vc : spec.vcs)
    vc.servers.last = std::min(vc.servers.last, static_cast<std::uint32_t>(spec.servers));
  for (auto type = spec.types.rbegin(); type != spec.types.rend(); ++type) {
    const int taken = std::min(servers, type->servers);
    type->servers -= taken;
    servers -= taken;
  }
  return spec;
}

bool may_run_on(const ClusterSpec& spec, const JobSpec& job, std::span<const JobPace> paces, std::int32_t type) {
  const auto t = static_cast<std::size_t>(type);
  if (!paces.empty() && paces[t].together == 0) return false;
  if (!has_demand(spec, job)) return true;
  const std::vector<std::string_view> names = names_in(spec, job.gpu_type);
  return std::ranges::find(names, spec.types[t].name) != names.end();
}

std::int64_t ranks_by_host(const ClusterSpec& spec, const JobSpec& job, std::int32_t type) {
  std::int64_t ranks = gpus_per_server(spec, type);
  if (spec.milli_cpus > 0 && job.milli_cpus > 0) ranks = std::min(ranks, spec.milli_cpus / job.milli_cpus);
  if (spec.host_memory > Bytes{} && job.host_memory > Bytes{}) {
    ranks = std::min(ranks, spec.host_memory.count() / job.host_memory.count());
  }
  return ranks;
}

namespace {

/// Why the types that the job names can't be mixed; empty if they can.
std::string why_no_mix(const ClusterSpec& spec, const JobSpec& job, std::span<const JobPace> paces) {
  const std::string& wanted = spec.demanded[static_cast<std::size_t>(job.gpu_type)];
  for (const std::string_view name : names_in(spec, job.gpu_type))
    if (!is_type(spec, name)) return fmt::format("demands GPUs of types {}, the cluster has no {}", wanted, name);
  if (job.sizes >= 0) return fmt::format("demands GPUs of types {}, but an elastic job runs on one type", wanted);
  const std::vector<std::int32_t> types = types_within(spec, mix_of(spec, job));
  for (const std::int32_t t : types)
    if (!may_run_on(spec, job, paces, t))
      return fmt::format("demands GPUs of types {}, but has no throughput on {}", wanted,
                         spec.types[static_cast<std::size_t>(t)].name);
  if (types.back() - types.front() + 1 == std::ssize(types)) return {};
  return fmt::format("demands GPUs of types {}, which don't stand next to each other among the types of the cluster",
                     wanted);
}

/// Why no domain of the levels can hold the job, if each of these servers, which are empty, can hold `most` ranks.
std::string why_no_domain(const ClusterSpec& spec, const JobSpec& job, const ServerRange& servers, std::int64_t most) {
  if (job.level < 0) return {};
  std::vector<int> rooms(static_cast<std::size_t>(spec.servers));
  for (std::size_t s = servers.first; s < servers.last; ++s)
    rooms[s] = static_cast<int>(std::min<std::int64_t>(gpus_per_server(spec, type_of(spec, ServerId{s})), most));
  const LevelDemand& demand = spec.levels.demand(job.level);
  if (has_room(spec.levels, demand, job.gpus, rooms)) return {};
  const auto largest = [&](int level) { return largest_room(spec.levels, static_cast<std::size_t>(level), rooms); };
  const auto name = [&](int level) { return spec.levels.all[static_cast<std::size_t>(level)].name; };
  if (demand.required >= 0 && largest(demand.required) < job.gpus)
    return fmt::format("needs {} in one {}, the largest {} has {}", counted(job.gpus, "GPU"), name(demand.required),
                       name(demand.required), largest(demand.required));
  return fmt::format("needs {} in segments of {}, each in one {}, and there is no room for so many{}",
                     counted(job.gpus, "GPU"), demand.segment, name(demand.segment_level),
                     demand.required >= 0 ? fmt::format(" in one {}", name(demand.required)) : "");
}

/// Why the job can't run on any type of server.
std::string why_on_no_type(const ClusterSpec& spec, const JobSpec& job, std::span<const JobPace> paces) {
  const std::int32_t mix = mix_of(spec, job);
  if (mix >= 0) {
    std::string why = why_no_mix(spec, job, paces);
    return !why.empty() ? why : why_never(spec, job, paces, mix);
  }
  std::string reason;
  for (std::int32_t t = 0; t < std::ssize(spec.types); ++t) {
    if (!may_run_on(spec, job, paces, t)) continue;
    const std::string why = why_never(spec, job, paces, t);
    if (why.empty()) return {};
    reason +=
        fmt::format("{}on {} it {}", reason.empty() ? "" : "; ", spec.types[static_cast<std::size_t>(t)].name, why);
  }
  if (!reason.empty()) return "has no type of server that can run it: " + reason;
  if (!has_demand(spec, job)) return "has no throughput on any type of server";
  const std::string& wanted = spec.demanded[static_cast<std::size_t>(job.gpu_type)];
  const bool exists =
      std::any_of(spec.types.begin(), spec.types.end(), [&](const ServerType& type) { return type.name == wanted; });
  return exists ? fmt::format("has no throughput on servers of type {}, which it demands", wanted)
                : fmt::format("demands servers of type {}, the cluster has none", wanted);
}

}  // namespace

std::string why_never(const ClusterSpec& spec, const JobSpec& job, std::span<const JobPace> paces, std::int32_t type) {
  if (!spec.types.empty() && type < 0) return why_on_no_type(spec, job, paces);
  const ServerRange own = servers_of_vc(spec, job.vc);
  const ServerRange servers = type < 0 ? own : common(own, servers_of_type(spec, type));
  const auto gpus = static_cast<std::size_t>(gpus_on(spec, servers));
  const auto needed = static_cast<std::size_t>(job.gpus);
  if (needed > gpus) {
    const bool is_all = own.size() == static_cast<std::size_t>(spec.servers);
    const char* whose = type >= 0 && is_all            ? "they have"
                        : is_all                       ? "the cluster has"
                        : own == unowned_servers(spec) ? "the servers that no virtual cluster owns have"
                                                       : "its virtual cluster has";
    return fmt::format("needs {}, {} {}", counted(job.gpus, "GPU"), whose, gpus);
  }
  Bytes memory = type < 0 ? spec.gpu_memory : Bytes{INT64_MAX};
  if (type >= 0)
    for (const std::int32_t t : types_within(spec, type))
      memory = std::min(memory, spec.types[static_cast<std::size_t>(t)].gpu_memory);
  if (job.memory_per_gpu > memory)
    return fmt::format("needs {} of GPU memory, a GPU has {}", amount_text(job.memory_per_gpu), amount_text(memory));
  if (job.vc >= 0 && static_cast<std::size_t>(job.vc) < spec.vcs.size()) {
    const VirtualCluster& vc = spec.vcs[static_cast<std::size_t>(job.vc)];
    if (!vc.borrows && job.gpus > vc.quota) {
      return fmt::format("needs {}, the quota of its virtual cluster is {}", counted(job.gpus, "GPU"), vc.quota);
    }
  }
  const std::int64_t ranks = ranks_by_host(spec, job, type);
  if (ranks == 0) return "needs more CPUs or host memory for each GPU than a server has";
  if (needed > static_cast<std::size_t>(ranks) * servers.size()) {
    return fmt::format("needs CPUs or memory for {}, the servers have them for {} each", counted(job.gpus, "rank"),
                       ranks);
  }
  return why_no_domain(spec, job, servers, ranks);
}

std::string why_no_place(const ClusterSpec& spec, const JobSpec& job, std::span<const GpuId> place) {
  if (place.size() != static_cast<std::size_t>(job.gpus))
    return fmt::format("needs {}, its place has {}", counted(job.gpus, "GPU"), place.size());
  std::vector<GpuId> sorted{place.begin(), place.end()};
  std::sort(sorted.begin(), sorted.end());
  if (std::adjacent_find(sorted.begin(), sorted.end()) != sorted.end()) return "names a GPU twice";
  const ServerRange usable = servers_of_vc(spec, job.vc);
  const std::int64_t most = ranks_by_host(spec, job);
  const std::int32_t mix = mix_of(spec, job);
  std::int64_t ranks = 0;  // on the current server
  ServerId server;
  const std::int32_t type =
      sorted.empty() ? -1
                     : type_of(spec, ServerId{sorted.front().index() / static_cast<std::size_t>(spec.gpus_per_server)});
  for (const GpuId gpu : sorted) {
    const ServerId on{gpu.index() / static_cast<std::size_t>(spec.gpus_per_server)};
    if (on.index() >= static_cast<std::size_t>(spec.servers))
      return fmt::format("names server{}, the cluster has {} servers", on.value(), spec.servers);
    if (gpu.index() % static_cast<std::size_t>(spec.gpus_per_server) >=
        static_cast<std::size_t>(gpus_per_server(spec, type_of(spec, on))))
      return fmt::format("names GPU {} of server{}, which has {}",
                         gpu.index() % static_cast<std::size_t>(spec.gpus_per_server), on.value(),
                         gpus_per_server(spec, type_of(spec, on)));
    if (type_of(spec, on) != type && (mix < 0 || !servers_of_type(spec, mix).contains(on)))
      return "names servers of two types, and a job runs on one";
    if (!usable.contains(on))
      return fmt::format("may not use server{}, which isn't of its virtual cluster", on.value());
    ranks = on == server ? ranks + 1 : 1;
    server = on;
    if (ranks > most) return fmt::format("asks server{} for more CPUs or memory than it has", on.value());
  }
  return {};
}

RankDemand::RankDemand(const JobSpec& job)
    : memory{job.memory_per_gpu},
      share{job.duration && job.gpu_share == 0 ? kWholeGpu : job.gpu_share},
      milli_cpus{job.milli_cpus},
      host_memory{job.host_memory} {}

RankDemand::RankDemand(const JobView& job)
    : memory{job.memory_per_gpu}, share{job.gpu_share}, milli_cpus{job.milli_cpus}, host_memory{job.host_memory} {}

Time reserved_part(Time time, std::int32_t share) {
  const std::int64_t ns = time.ns();
  return Time::nanoseconds(ns / kWholeGpu * share + ns % kWholeGpu * share / kWholeGpu);
}

Capacity::Capacity(const ClusterSpec& spec)
    : spec_{spec}, gpus_per_server_{static_cast<std::size_t>(spec.gpus_per_server)}, unowned_{unowned_servers(spec)} {
  const auto servers = static_cast<std::size_t>(spec.servers);
  gpus_.assign(servers * gpus_per_server_, {spec.gpu_memory, 0, 0});
  servers_.assign(servers, {spec.gpus_per_server, -1, spec.milli_cpus > 0 ? spec.milli_cpus : kBeyondAnyDemand,
                            spec.host_memory > Bytes{} ? spec.host_memory : Bytes{kBeyondAnyDemand}});
  for (std::size_t t = 0; t < spec.types.size(); ++t) set_type(static_cast<std::int32_t>(t));
  owner_.assign(servers, -1);
  for (const VirtualCluster& vc : spec.vcs) {
    for (std::size_t s = vc.servers.first; s < vc.servers.last; ++s)
      owner_[s] = static_cast<std::int32_t>(used_.size());
    used_.push_back(0);
  }
  free_by_owner_.assign(used_.size() + 1, {0, std::vector<int>(spec.types.size())});
  given_back_.assign(used_.size() + 1, 0);
  service_changes_.assign(used_.size() + 1, 0);
  for (std::size_t s = 0; s < servers; ++s) {
    servers_with(servers_[s].free).insert(s);
    free_ += servers_[s].free;
    Counts& of_owner = free_by_owner_[owner_index(s)];
    of_owner.all += servers_[s].free;
    if (servers_[s].type >= 0) of_owner.of_type[index(servers_[s].type)] += servers_[s].free;
  }
  in_service_ = free_by_owner_;
}

void Capacity::set_type(std::int32_t type) {
  const ServerType& made = spec_.types[index(type)];
  const ServerRange range = servers_of_type(spec_, type);
  const auto has = static_cast<std::size_t>(made.gpus_per_server);
  for (std::size_t s = range.first; s < range.last; ++s) {
    servers_[s].type = type;
    servers_[s].free = made.gpus_per_server;
    for (std::size_t g = 0; g < gpus_per_server_; ++g)  // what isn't there is taken for good
      gpus_[s * gpus_per_server_ + g] = g < has ? Gpu{made.gpu_memory, 0, 0} : Gpu{Bytes{-1}, kWholeGpu, 1};
  }
}

int Capacity::sum_of(const Counts& counts, std::int32_t type) const {
  if (type < 0) return counts.all;
  if (type < types_in(spec_)) return counts.of_type[index(type)];
  int sum = 0;
  for (const std::int32_t t : types_within(spec_, type)) sum += counts.of_type[index(t)];
  return sum;
}

void Capacity::count_in_service(GpuId gpu, int change) {
  const ServerId server = server_of(gpu);
  Counts& of_owner = in_service_[owner_index(server.index())];
  of_owner.all += change;
  ++service_changes_[owner_index(server.index())];
  CONTEND_DCHECK(of_owner.all >= 0, "a GPU goes out of service once");
  if (const std::int32_t type = servers_[server.index()].type; type >= 0) of_owner.of_type[index(type)] += change;
}

BitSet& Capacity::servers_with(int free) {
  while (by_free_.size() <= static_cast<std::size_t>(free)) by_free_.emplace_back(servers_.size());
  return by_free_[static_cast<std::size_t>(free)];
}

void Capacity::add_free(ServerId id, int change) {
  Server& server = servers_[id.index()];
  servers_with(server.free).erase(id.index());
  server.free += change;
  servers_with(server.free).insert(id.index());
  free_ += change;
  Counts& of_owner = free_by_owner_[owner_index(id.index())];
  of_owner.all += change;
  if (server.type >= 0) of_owner.of_type[index(server.type)] += change;
}

void Capacity::change(GpuId id, const RankDemand& rank, int sign) {
  Gpu& gpu = gpus_[id.index()];
  Server& server = servers_[server_of(id).index()];
  gpu.free_memory -= rank.memory * sign;
  gpu.reserved += sign * rank.share;
  server.milli_cpus -= std::int64_t{sign} * rank.milli_cpus;
  server.host_memory -= rank.host_memory * sign;
  const bool was_free = gpu.jobs == 0;
  gpu.jobs += sign;
  CONTEND_DCHECK(gpu.jobs >= 0 && gpu.reserved >= 0 && gpu.reserved <= std::max(1, gpu.jobs) * kWholeGpu,
                 "a GPU is not given away twice");
  if (const bool is_free = gpu.jobs == 0; is_free != was_free) add_free(server_of(id), is_free ? 1 : -1);
  if (sign < 0) ++given_back_[owner_index(server_of(id).index())];
  if (rooms_) rooms_->set(server_of(id).index(), room_of(server_of(id)));
}

ServerRoom Capacity::room_of(ServerId server) const {
  ServerRoom room;
  const std::size_t first = server.index() * gpus_per_server_;
  for (std::size_t g = first; g < first + gpus_per_server_; ++g) {
    const bool is_shared_by_memory = gpus_[g].jobs > 0 && gpus_[g].reserved == 0;
    room = join(room, {free_memory(GpuId{g}), is_shared_by_memory ? -1 : free_share(GpuId{g})});
  }
  return room;
}

const ServerTree<ServerRoom>& Capacity::rooms() const {
  if (!rooms_) {
    rooms_.emplace(servers_.size());
    for (std::size_t s = 0; s < servers_.size(); ++s) rooms_->set(s, room_of(ServerId{s}));
  }
  return *rooms_;
}

GpuId Capacity::next_gpu(const RankDemand& rank, GpuId from, const ServerRange& servers) const {
  const auto may_fit = [&rank](const ServerRoom& room) { return room.may_fit(rank); };
  std::size_t gpu = std::max(from.index(), servers.first * gpus_per_server_);
  std::size_t server = gpu / gpus_per_server_;
  while (server < servers.last) {
    for (; gpu < (server + 1) * gpus_per_server_; ++gpu) {
      if (fits(GpuId{gpu}, rank)) return GpuId{gpu};
    }
    server = rooms().next(server + 1, may_fit);
    gpu = server * gpus_per_server_;
  }
  return GpuId::none();
}

void Capacity::use_quota(std::int32_t vc, int gpus) {
  if (has(vc)) used_[index(vc)] += gpus;
}

Bytes Capacity::free_memory(GpuId gpu) const {
  const Gpu& g = gpus_[gpu.index()];
  return g.reserved > 0 ? Bytes{-1} : g.free_memory;
}

ServerId Capacity::next_server(int free, ServerId from) const {
  if (free < 0 || static_cast<std::size_t>(free) >= by_free_.size()) return ServerId::none();
  const std::size_t found = by_free_[static_cast<std::size_t>(free)].next(from.index());
  return found < servers_.size() ? ServerId{found} : ServerId::none();
}

bool Capacity::fits(GpuId id, const RankDemand& rank) const {
  const Gpu& gpu = gpus_[id.index()];
  if (gpu.free_memory < rank.memory) return false;
  if (rank.share == 0) return gpu.reserved == 0;
  const bool is_shared_by_memory = gpu.jobs > 0 && gpu.reserved == 0;
  return !is_shared_by_memory && gpu.reserved + rank.share <= kWholeGpu;
}

ServerRange Capacity::servers_of_vc(std::int32_t vc) const {
  if (owns_servers(vc)) return spec_.vcs[index(vc)].servers;
  return unowned_;
}

int Capacity::quota_left(std::int32_t vc) const {
  if (!has(vc) || spec_.vcs[index(vc)].borrows || spec_.vcs[index(vc)].quota == INT_MAX) return INT_MAX;
  return spec_.vcs[index(vc)].quota - used_[index(vc)];
}

}  // namespace contend
