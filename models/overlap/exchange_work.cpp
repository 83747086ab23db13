#include "models/overlap/exchange_work.hpp"

#include <algorithm>
#include <cstdint>
#include <iterator>

namespace contend {
namespace {

void stage(ByteRate rate, int workers, std::vector<ExchangeStage>& stages) {
  const auto is_collective = [](const ExchangeStage& each) { return each.collective.has_value(); };
  const auto time = [&](const ExchangeStage& each, CollectiveKind sharing) {
    const std::int64_t ranks = each.collective == sharing ? workers : 1;
    return Time::ceil_nanoseconds(static_cast<double>(each.bytes.count()) / static_cast<double>(ranks) /
                                  rate.bytes_per_second() * 1e9);
  };
  const auto last = std::find_if(stages.rbegin(), stages.rend(), is_collective).base();
  stages.insert(last, ExchangeStage::off_gpu(StageSite::to_gpu, "copy to GPU",
                                             time(*std::prev(last), CollectiveKind::reduce_scatter)));
  const auto first = std::ranges::find_if(stages, is_collective);
  stages.insert(first,
                ExchangeStage::off_gpu(StageSite::to_host, "copy to host", time(*first, CollectiveKind::all_gather)));
}

}  // namespace

void wrap(const ExchangeWork& work, const MessageSize& message, std::vector<ExchangeStage>& stages) {
  const std::int64_t values = message.bytes.count() / message.element_bytes;
  if (work.host_ns_per_value > 0) {
    const auto first = std::ranges::find_if(stages, [](const auto& each) { return each.collective.has_value(); });
    const double ns = static_cast<double>(values) * work.host_ns_per_value;
    stages.insert(first, ExchangeStage::off_gpu(StageSite::host, "host work", Time::ceil_nanoseconds(ns)));
  }
  if (work.staging) stage(*work.staging, message.workers, stages);
  if (!work.framework) return;
  constexpr std::int64_t kWord = 4;  // copies of narrower values move fewer bytes
  const std::int64_t words = std::max<std::int64_t>(1, message.bytes.count() / kWord);
  const auto& [costs, kernels] = *work.framework;
  Time before = costs.tensor_before * static_cast<std::int64_t>(message.tensors);
  if (costs.bytes_before > 0 || costs.launches > 0) before += kernels.of(costs.before(words, message.tensors));
  if (before > Time{}) stages.insert(stages.begin(), ExchangeStage::kernel("copy in", before));
  if (costs.bytes_after > 0 || costs.launches > 0)
    stages.push_back(ExchangeStage::kernel("copy out", kernels.of(costs.after(words, message.tensors))));
}

}  // namespace contend
