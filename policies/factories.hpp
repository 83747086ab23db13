#pragma once
// The factories that policies/registry.cpp puts into its tables. The classes behind them are private to their files.

#include "policies/registry.hpp"

#include <memory>

namespace contend {

std::unique_ptr<SchedulingPolicy> make_fifo(const Parameters&, const PolicyContext&);
std::unique_ptr<SchedulingPolicy> make_sjf(const Parameters&, const PolicyContext&);
std::unique_ptr<SchedulingPolicy> make_srtf(const Parameters&, const PolicyContext&);
std::unique_ptr<SchedulingPolicy> make_srsf(const Parameters&, const PolicyContext&);
std::unique_ptr<SchedulingPolicy> make_fit_first(const Parameters&, const PolicyContext&);
std::unique_ptr<SchedulingPolicy> make_smallest_first(const Parameters&, const PolicyContext&);
std::unique_ptr<SchedulingPolicy> make_priority(const Parameters&, const PolicyContext&);
std::unique_ptr<SchedulingPolicy> make_las(const Parameters&, const PolicyContext&);
std::unique_ptr<SchedulingPolicy> make_dlas(const Parameters&, const PolicyContext&);
std::unique_ptr<SchedulingPolicy> make_dlas_gpu(const Parameters&, const PolicyContext&);
std::unique_ptr<SchedulingPolicy> make_gittins(const Parameters&, const PolicyContext&);
std::unique_ptr<SchedulingPolicy> make_easy(const Parameters&, const PolicyContext&);
std::unique_ptr<SchedulingPolicy> make_conservative(const Parameters&, const PolicyContext&);
std::unique_ptr<SchedulingPolicy> make_fair_share(const Parameters&, const PolicyContext&);
std::unique_ptr<SchedulingPolicy> make_drf(const Parameters&, const PolicyContext&);

std::unique_ptr<PlacementPolicy> make_random_placement(const Parameters&, const PolicyContext&);
std::unique_ptr<PlacementPolicy> make_first_fit(const Parameters&, const PolicyContext&);
std::unique_ptr<PlacementPolicy> make_list_scheduling(const Parameters&, const PolicyContext&);
std::unique_ptr<PlacementPolicy> make_lwf(const Parameters&, const PolicyContext&);
std::unique_ptr<PlacementPolicy> make_consolidated(const Parameters&, const PolicyContext&);
std::unique_ptr<PlacementPolicy> make_consolidated_or_wait(const Parameters&, const PolicyContext&);
std::unique_ptr<PlacementPolicy> make_spread(const Parameters&, const PolicyContext&);
std::unique_ptr<PlacementPolicy> make_topology_aware(const Parameters&, const PolicyContext&);
std::unique_ptr<PlacementPolicy> make_worst_fit(const Parameters&, const PolicyContext&);
std::unique_ptr<PlacementPolicy> make_yarn(const Parameters&, const PolicyContext&);

std::unique_ptr<CommunicationPolicy> make_srsf_communication(const Parameters&, const PolicyContext&);
std::unique_ptr<CommunicationPolicy> make_ada_dual(const Parameters&, const PolicyContext&);

std::unique_ptr<FusionPolicy> make_bsp(const Parameters&, const PolicyContext&);
std::unique_ptr<FusionPolicy> make_wfbp(const Parameters&, const PolicyContext&);
std::unique_ptr<FusionPolicy> make_threshold(const Parameters&, const PolicyContext&);
std::unique_ptr<FusionPolicy> make_horovod(const Parameters&, const PolicyContext&);
std::unique_ptr<FusionPolicy> make_ddp(const Parameters&, const PolicyContext&);
std::unique_ptr<FusionPolicy> make_mg_wfbp(const Parameters&, const PolicyContext&);
std::unique_ptr<FusionPolicy> make_omgs(const Parameters&, const PolicyContext&);
std::unique_ptr<FusionPolicy> make_asc_wfbp(const Parameters&, const PolicyContext&);
std::unique_ptr<FusionPolicy> make_dear(const Parameters&, const PolicyContext&);
std::unique_ptr<FusionPolicy> make_byte_scheduler(const Parameters&, const PolicyContext&);
std::unique_ptr<FusionPolicy> make_p3(const Parameters&, const PolicyContext&);
std::unique_ptr<FusionPolicy> make_last_batch(const Parameters&, const PolicyContext&);
std::unique_ptr<FusionPolicy> make_search(const Parameters&, const PolicyContext&);

std::unique_ptr<CompressionMethod> make_fp16(const Parameters&, const PolicyContext&);
std::unique_ptr<CompressionMethod> make_top_k(const Parameters&, const PolicyContext&);
std::unique_ptr<CompressionMethod> make_gtop_k(const Parameters&, const PolicyContext&);
std::unique_ptr<CompressionMethod> make_gaussian_k(const Parameters&, const PolicyContext&);
std::unique_ptr<CompressionMethod> make_ms_top_k(const Parameters&, const PolicyContext&);
std::unique_ptr<CompressionMethod> make_dgc(const Parameters&, const PolicyContext&);
std::unique_ptr<CompressionMethod> make_lags(const Parameters&, const PolicyContext&);
std::unique_ptr<CompressionMethod> make_random_k(const Parameters&, const PolicyContext&);
std::unique_ptr<CompressionMethod> make_saps(const Parameters&, const PolicyContext&);
std::unique_ptr<CompressionMethod> make_d_psgd(const Parameters&, const PolicyContext&);
std::unique_ptr<CompressionMethod> make_qsgd(const Parameters&, const PolicyContext&);
std::unique_ptr<CompressionMethod> make_terngrad(const Parameters&, const PolicyContext&);
std::unique_ptr<CompressionMethod> make_sign_sgd(const Parameters&, const PolicyContext&);
std::unique_ptr<CompressionMethod> make_ef_sign_sgd(const Parameters&, const PolicyContext&);
std::unique_ptr<CompressionMethod> make_byte_grad(const Parameters&, const PolicyContext&);
std::unique_ptr<CompressionMethod> make_one_bit_adam(const Parameters&, const PolicyContext&);
std::unique_ptr<CompressionMethod> make_lossless(const Parameters&, const PolicyContext&);
std::unique_ptr<CompressionMethod> make_power_sgd(const Parameters&, const PolicyContext&);
std::unique_ptr<CompressionMethod> make_acp_sgd(const Parameters&, const PolicyContext&);
std::unique_ptr<CompressionMethod> make_hierarchical(const Parameters&, const PolicyContext&);
std::unique_ptr<CompressionMethod> make_hitopk(const Parameters&, const PolicyContext&);
std::unique_ptr<CompressionMethod> make_q_adam(const Parameters&, const PolicyContext&);
std::unique_ptr<CompressionMethod> make_decentralized(const Parameters&, const PolicyContext&);
std::unique_ptr<CompressionMethod> make_dcd_psgd(const Parameters&, const PolicyContext&);
std::unique_ptr<CompressionMethod> make_ecd_psgd(const Parameters&, const PolicyContext&);
std::unique_ptr<CompressionMethod> make_async_average(const Parameters&, const PolicyContext&);
std::unique_ptr<CompressionMethod> make_local_sgd(const Parameters&, const PolicyContext&);

}  // namespace contend
