// A placement policy in another process. It hears which GPUs have changed since the last question, and answers which of
// them a job gets.

#include "policies/external/dialogue.hpp"
#include "policies/registry.hpp"
#include "sim/error.hpp"
#include "sim/placement_check.hpp"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/core.h>

namespace contend {

namespace {

/// CPUs or memory that a cluster doesn't count are beyond any demand.
constexpr std::int64_t kNotCounted = INT64_MAX / 4;

class ExternalPlacement final : public PlacementPolicy {
 public:
  ExternalPlacement(const Parameters& parameters, const PolicyContext& context)
      : dialogue_{"placement", parameters, context} {}

  void place(const ClusterView& cluster, const JobView& job, std::vector<GpuId>& chosen) override {
    choose(cluster, job, false, chosen);
  }

  void plan(const ClusterView& cluster, const JobView& job, std::vector<GpuId>& chosen) override {
    choose(cluster, job, true, chosen);
  }

  [[nodiscard]] bool refuses_alike() const override {
    open();
    return refuses_alike_;
  }

  [[nodiscard]] Time next_decision(const ClusterView&) override { return std::exchange(wake_, Time::never()); }

 private:
  struct GpuState {
    std::int64_t free_memory = -2;  // unlike any that a GPU has
    int free_share = 0;
    std::int64_t load = 0;
    bool operator==(const GpuState&) const = default;
  };
  struct ServerState {
    std::int64_t milli_cpus = kNotCounted, memory = kNotCounted;
    bool operator==(const ServerState&) const = default;
  };

  void open() const {
    const Answer* const terms = dialogue_.hello({"refuses_alike", "load"});
    if (terms == nullptr) return;
    dialogue_.guard([&] {
      refuses_alike_ = terms->flag("refuses_alike");
      wants_load_ = terms->flag("load");
    });
  }

  void choose(const ClusterView& cluster, const JobView& job, bool only_asks, std::vector<GpuId>& chosen) {
    open();
    JsonWriter json{JsonWriter::Layout::line};
    json.begin_object().member("type", "place").member("now", cluster.now().ns());
    if (only_asks) json.member("only_asks", true);
    if (gpus_.empty()) write_cluster(json, cluster);
    write_changed_gpus(json, cluster);
    write_changed_servers(json, cluster);
    if (const ServerRange servers = cluster.servers_for(job); servers.size() < cluster.servers())
      json.key("servers_for")
          .begin_array()
          .value(std::uint64_t{servers.first})
          .value(std::uint64_t{servers.last})
          .end_array();
    json.key("job");
    dialogue_.write_job(json, job);
    json.end_object();
    const std::optional<Answer> answer = dialogue_.ask(json, {"gpus", "wake"}, job.id);
    if (!answer) return;
    dialogue_.guard([&] {
      std::vector<GpuId> gpus;
      for (const std::uint32_t gpu : answer->ids("gpus")) gpus.emplace_back(gpu);
      if (!only_asks) wake_ = std::min(wake_, answer->wake(cluster.now()));
      if (gpus.empty()) return;
      if (const std::string reason = why_illegal(cluster, job, gpus); !reason.empty())
        throw InputError{fmt::format("chose badly: {} {}", dialogue_.job_text(job.id), reason)};
      chosen = std::move(gpus);
    });
  }

  void write_cluster(JsonWriter& json, const ClusterView& cluster) {
    gpus_.resize(cluster.gpus());
    servers_.resize(cluster.servers());
    json.key("cluster").begin_object().member("servers", std::uint64_t{cluster.servers()});
    json.key("server_of").begin_array();
    for (std::size_t g = 0; g < gpus_.size(); ++g) json.value(std::uint64_t{cluster.server_of(GpuId{g}).value()});
    json.end_array().end_object();
  }

  void write_changed_gpus(JsonWriter& json, const ClusterView& cluster) {
    bool any = false;
    for (std::size_t g = 0; g < gpus_.size(); ++g) {
      const GpuId gpu{g};
      const GpuState now{cluster.free_memory(gpu).count(), cluster.free_share(gpu),
                         wants_load_ ? cluster.load(gpu).ns() : 0};
      if (now == gpus_[g]) continue;
      gpus_[g] = now;
      if (!std::exchange(any, true)) json.key("gpus").begin_array();
      json.begin_array().value(std::uint64_t{g}).value(now.free_memory).value(now.free_share);
      if (wants_load_) json.value(now.load);
      json.end_array();
    }
    if (any) json.end_array();
  }

  void write_changed_servers(JsonWriter& json, const ClusterView& cluster) {
    bool any = false;
    for (std::size_t s = 0; s < servers_.size(); ++s) {
      const ServerId server{s};
      const ServerState now{std::min(cluster.free_milli_cpus(server), kNotCounted),
                            std::min(cluster.free_host_memory(server).count(), kNotCounted)};
      if (now == servers_[s]) continue;
      servers_[s] = now;
      if (!std::exchange(any, true)) json.key("servers").begin_array();
      json.begin_array().value(std::uint64_t{s});
      for (const std::int64_t room : {now.milli_cpus, now.memory}) room < kNotCounted ? json.value(room) : json.null();
      json.end_array();
    }
    if (any) json.end_array();
  }

  mutable Dialogue dialogue_;
  mutable bool refuses_alike_ = false, wants_load_ = false;  // what `hello` said
  Time wake_ = Time::never();
  // What the other side knows.
  std::vector<GpuState> gpus_;
  std::vector<ServerState> servers_;
};

}  // namespace

PolicyRow<PlacementPolicy> external_placement() {
  return {.name = "external",
          .summary = "a program of the user decides, in any language (docs/howto/external-policy.md)",
          .source = "this project",
          .parameters = external_parameters(),
          .make = make_own<PlacementPolicy, ExternalPlacement>,
          .is_outside = true};
}

}  // namespace contend
