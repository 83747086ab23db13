#pragma once
// ViewOver is the base class of views that show a part of a cluster, or the cluster at another time. It answers from
// another view whatever depends neither on time nor on the part.

#include "sim/cluster_view.hpp"

#include <cstddef>
#include <cstdint>
#include <span>

namespace contend {

class ViewOver : public ClusterView {
 public:
  [[nodiscard]] std::size_t servers() const override { return base().servers(); }
  [[nodiscard]] std::size_t gpus() const override { return base().gpus(); }
  [[nodiscard]] ServerId server_of(GpuId gpu) const override { return base().server_of(gpu); }
  [[nodiscard]] ServerRange servers_for(const JobView& job) const override { return base().servers_for(job); }
  [[nodiscard]] bool owns_servers(std::int32_t vc) const override { return base().owns_servers(vc); }
  [[nodiscard]] int vc_quota(std::int32_t vc) const override { return base().vc_quota(vc); }
  [[nodiscard]] int vc_used(std::int32_t vc) const override { return base().vc_used(vc); }
  [[nodiscard]] int quota_left(std::int32_t vc) const override { return base().quota_left(vc); }
  [[nodiscard]] ServerRange loanable() const override { return base().loanable(); }
  [[nodiscard]] std::size_t types() const override { return base().types(); }
  [[nodiscard]] ServerRange servers_of_type(std::int32_t type) const override { return base().servers_of_type(type); }
  [[nodiscard]] int gpus_per_server(std::int32_t type) const override { return base().gpus_per_server(type); }
  [[nodiscard]] int gpus_in_service(std::int32_t vc, std::int32_t type) const override {
    return base().gpus_in_service(vc, type);
  }
  [[nodiscard]] Bytes gpu_memory(ServerId server) const override { return base().gpu_memory(server); }
  [[nodiscard]] double speed_on(const JobView& job, std::int32_t type) const override {
    return base().speed_on(job, type);
  }
  [[nodiscard]] std::span<const int> sizes_of(JobId job) const override { return base().sizes_of(job); }
  [[nodiscard]] double speed_with(const JobView& job, int gpus, std::int32_t type) const override {
    return base().speed_with(job, gpus, type);
  }
  [[nodiscard]] std::span<const BatchRegime> regimes_of(JobId job) const override { return base().regimes_of(job); }
  [[nodiscard]] int most_on_gpu() const override { return base().most_on_gpu(); }
  [[nodiscard]] double speed_beside(JobId job, std::span<const JobId> others, std::int32_t type) const override {
    return base().speed_beside(job, others, type);
  }
  [[nodiscard]] double price_of(std::int32_t type) const override { return base().price_of(type); }
  [[nodiscard]] StageTimes stages_of(JobId job) const override { return base().stages_of(job); }

 private:
  [[nodiscard]] virtual const ClusterView& base() const = 0;
};

}  // namespace contend
