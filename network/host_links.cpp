#include "network/host_links.hpp"

#include "network/fluid.hpp"
#include "sim/check.hpp"

#include <algorithm>
#include <array>
#include <vector>

namespace contend {
namespace {

constexpr std::size_t kLinks = 4;  // of a server: out, in, memory, NVMe

class HostLinks : public HostModel {
 public:
  HostLinks(const HostRates& rates, std::size_t servers, int gpus_per_server)
      : rates_{rates.link, rates.link, rates.memory, rates.nvme},
        per_server_{static_cast<std::size_t>(gpus_per_server)},
        fluid_{capacities(rates_, servers)} {}

  [[nodiscard]] bool limits(const HostTraffic& each) const override {
    const std::array<double, kLinks> bytes = by_link(each);
    for (std::size_t l = 0; l < kLinks; ++l)
      if (rates_[l] && bytes[l] > 0) return true;
    return false;
  }

  HostUseId start(std::span<const GpuId> gpus, const HostTraffic& each, Time alone, Time now) override {
    CONTEND_CHECK(alone > Time{} && limits(each), "servers don't limit this");
    const std::array<double, kLinks> bytes = by_link(each);
    const double most = *std::max_element(bytes.begin(), bytes.end());
    servers_.clear();
    for (const GpuId gpu : gpus) servers_.push_back(gpu.index() / per_server_);
    std::sort(servers_.begin(), servers_.end());
    shares_.clear();
    for (auto first = servers_.begin(); first != servers_.end();) {
      const auto last = std::upper_bound(first, servers_.end(), *first);
      const auto here = static_cast<double>(last - first);
      for (std::size_t l = 0; l < kLinks; ++l)
        if (rates_[l] && bytes[l] > 0) shares_.push_back({LinkId{*first * kLinks + l}, here * bytes[l] / most});
      first = last;
    }
    const FlowId flow =
        fluid_.start({.links = shares_, .bytes = most, .weight = 1, .cap = most / alone.to_seconds()}, now);
    return HostUseId{flow.index()};
  }

  void cancel(HostUseId use, Time now) override { fluid_.cancel(FlowId{use.index()}, now); }
  [[nodiscard]] Time next_end() override { return fluid_.next_end(); }

  void finish_due(Time now, std::vector<HostUseId>& ended) override {
    ended_.clear();
    fluid_.finish_due(now, ended_);
    for (const FlowId flow : ended_) ended.emplace_back(flow.index());
  }

 private:
  using Rates = std::array<std::optional<ByteRate>, kLinks>;

  static std::array<double, kLinks> by_link(const HostTraffic& each) {
    return {each.out.to_double(), each.in.to_double(), each.memory.to_double(), each.nvme.to_double()};
  }

  static std::vector<double> capacities(const Rates& rates, std::size_t servers) {
    std::vector<double> all;
    all.reserve(servers * kLinks);
    for (std::size_t s = 0; s < servers; ++s)
      for (const std::optional<ByteRate>& rate : rates) all.push_back(rate ? rate->bytes_per_second() : 0);
    return all;
  }

  Rates rates_;
  std::size_t per_server_;
  FluidNetwork fluid_;
  std::vector<std::size_t> servers_;  // scratch, as the next ones
  std::vector<LinkShare> shares_;
  std::vector<FlowId> ended_;
};

}  // namespace

std::unique_ptr<HostModel> make_host_links(const HostRates& rates, std::size_t servers, int gpus_per_server) {
  return std::make_unique<HostLinks>(rates, servers, gpus_per_server);
}

}  // namespace contend
