#include "sim/gpus_in_service.hpp"

#include <algorithm>
#include <cstddef>

namespace contend {

std::optional<OutReason> GpusInService::Gpu::out() const {
  for (std::size_t reason = 0; reason < kOutReasons; ++reason)
    if (causes[reason] > 0) return static_cast<OutReason>(reason);
  return std::nullopt;
}

void GpusInService::count_cause(GpuId id, OutReason reason, int by) {
  Gpu& gpu = gpus_[id.index()];
  if (const auto before = gpu.out()) --out_.of(*before);
  std::uint16_t& causes = gpu.causes[static_cast<std::size_t>(reason)];
  causes = static_cast<std::uint16_t>(causes + by);
  if (const auto after = gpu.out()) ++out_.of(*after);
}

bool GpusInService::add_cause(GpuId id, OutReason reason) {
  if (!has_gpu(state_.spec, id)) return false;
  Gpu& gpu = gpus_[id.index()];
  const bool was_out = gpu.out().has_value();
  count_cause(id, reason, 1);
  if (!was_out) gpu.since = state_.clock;
  return !was_out;
}

void GpusInService::remove_cause(GpuId id, OutReason reason) {
  if (!has_gpu(state_.spec, id)) return;
  Gpu& gpu = gpus_[id.index()];
  count_cause(id, reason, -1);
  if (gpu.out()) return;
  gpu.down += state_.clock - gpu.since;
  if (state_.is_covered(id)) {
    state_.uncover(id);
    rejoined_.push_back(id);
    return;
  }
  state_.put_into_service(id);
}

bool GpusInService::withhold(GpuId id, OutReason reason) {
  if (!has_gpu(state_.spec, id)) return true;
  if (!gpus_[id.index()].out() && !state_.capacity.is_free(id)) return false;
  if (add_cause(id, reason)) state_.take_out_of_service(id);
  return true;
}

void GpusInService::tell() {
  if (std::exchange(told_, out_) != out_ && state_.options.decisions != nullptr)
    state_.options.decisions->out_of_service(state_.clock, out_);
}

Time GpusInService::down(GpuId id, Time now) const {
  if (gpus_.empty()) return Time{};
  const Gpu& gpu = gpus_[id.index()];
  return gpu.out() ? gpu.down + (now - gpu.since) : gpu.down;
}

bool Draining::is_over() const {
  return std::ranges::find(is_withheld_, false) == is_withheld_.end();
}

void Draining::withhold_free(GpusInService& gpus) {
  for (std::uint32_t i = 0; i < is_withheld_.size(); ++i)
    if (!is_withheld_[i]) is_withheld_[i] = gpus.withhold(GpuId{first_ + i}, reason_);
}

void Draining::undo(GpusInService& gpus) const {
  for (std::uint32_t i = 0; i < is_withheld_.size(); ++i)
    if (is_withheld_[i]) gpus.remove_cause(GpuId{first_ + i}, reason_);
}

}  // namespace contend
