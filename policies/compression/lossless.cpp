// Lossless compression of the messages of an all-reduce (ZipCCL, Fan et al., arXiv 2604.27844): the exponents of
// gradients carry little information, so shorter codes suffice for them. The method compresses each half of the
// all-reduce only if that is faster:
//
//   reduce-scatter m                          or  compress m, all-to-all m / ratio, decompress and add up n chunks
//   all-gather m                              or  compress m / n, all-gather m / ratio, decompress m

#include "models/overlap/compression_method.hpp"
#include "models/overlap/problem.hpp"
#include "policies/compression/kernels.hpp"
#include "policies/registry.hpp"

#include <cmath>
#include <cstdint>
#include <utility>

namespace contend {

namespace {

class Lossless final : public CompressionMethod {
 public:
  explicit Lossless(const Parameters& parameters)
      : ratio_{parameters.get<double>("ratio")},
        compress_{parameters.get<double>("compress_gb_per_s")},
        decompress_{parameters.get<double>("decompress_gb_per_s")} {}

  [[nodiscard]] std::vector<ExchangeStage> stages(const OverlapProblem& problem,
                                                  const GradientGroup& group) const override {
    const std::int64_t bytes = problem.size(group).count();
    const std::int64_t n = problem.workers;
    const std::int64_t chunk = (bytes + n - 1) / n;
    const Bytes small{n * static_cast<std::int64_t>(std::ceil(static_cast<double>(chunk) / ratio_))};
    const std::int64_t values = (problem.elements(group) + n - 1) / n;
    const Time add_up = problem.kernels->of(kernels::decode_sum(values, kFloatBits, problem.workers));
    const std::vector<ExchangeStage> scatter =
        faster(problem, {ExchangeStage::send("reduce-scatter", CollectiveKind::reduce_scatter, Bytes{bytes})},
               {ExchangeStage::kernel("compress", at(compress_, bytes)),
                ExchangeStage::send("all-to-all", CollectiveKind::all_to_all, small),
                ExchangeStage::kernel("decompress chunks", at(decompress_, chunk * n)),
                ExchangeStage::kernel("add up", add_up)});
    const std::vector<ExchangeStage> gather =
        faster(problem, {ExchangeStage::send("all-gather", CollectiveKind::all_gather, Bytes{bytes})},
               {ExchangeStage::kernel("compress sum", at(compress_, chunk)),
                ExchangeStage::send("all-gather", CollectiveKind::all_gather, small),
                ExchangeStage::kernel("decompress", at(decompress_, bytes))});
    if (scatter.size() + gather.size() == 2)
      return {ExchangeStage::send("all-reduce", CollectiveKind::all_reduce, Bytes{bytes})};
    std::vector<ExchangeStage> all = scatter;
    all.insert(all.end(), gather.begin(), gather.end());
    return all;
  }

 private:
  static constexpr std::int64_t kFloatBits = 32;

  static Time at(double gigabytes_per_second, std::int64_t bytes) {
    return Time::ceil_nanoseconds(static_cast<double>(bytes) / gigabytes_per_second);
  }

  static std::vector<ExchangeStage> faster(const OverlapProblem& problem, std::vector<ExchangeStage> raw,
                                           std::vector<ExchangeStage> compressed) {
    const auto time = [&](const std::vector<ExchangeStage>& stages) {
      Time sum;
      for (const ExchangeStage& stage : stages)
        sum += stage.collective ? problem.cost.sized(stage.bytes, *stage.collective, stage.scope).of(stage.bytes)
                                : stage.duration;
      return sum;
    };
    return time(compressed) < time(raw) ? std::move(compressed) : std::move(raw);
  }

  double ratio_, compress_, decompress_;
};

}  // namespace

PolicyRow<CompressionMethod> lossless_compression() {
  static constexpr ParameterInfo kParameters[] = {
      {"ratio", 1.2, 1, 100, "dense over compressed size; assumption: 1.2 for 32-bit values, 1.5 for bf16"},
      {"compress_gb_per_s", 250.0, 1e-3, 1e6, "dense GB/s (10^9 bytes) of the compressing kernel"},
      {"decompress_gb_per_s", 250.0, 1e-3, 1e6, "dense GB/s of the decompressing kernel"}};
  return {.name = "lossless",
          .summary = "shorter codes for exponents, in each half of the all-reduce where that is faster",
          .source = "Fan et al., arXiv 2604.27844 (ZipCCL)",
          .parameters = kParameters,
          .make = make_own<CompressionMethod, Lossless>};
}

}  // namespace contend
