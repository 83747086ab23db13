// `hierarchical` all-reduces dense gradients on two levels. By default it runs a reduce-scatter inside each server, an
// all-reduce of every shard among the workers that hold it, and an all-gather inside each server (Cho et al.,
// BlueConnect, MLSys 2019). With `leaders` it runs a sum on one worker of each server, an all-reduce among those
// workers, and a broadcast inside each server (Gan et al., BAGUA, VLDB 2022).

#include "policies/compression/levels.hpp"
#include "policies/registry.hpp"

#include <cstdint>

namespace contend {

namespace {

class Hierarchical final : public CompressionMethod {
 public:
  explicit Hierarchical(bool leaders) : leaders_{leaders} {}

  [[nodiscard]] std::vector<ExchangeStage> stages(const OverlapProblem& problem,
                                                  const GradientGroup& group) const override {
    const Levels levels = levels_of(problem);
    const Bytes size = problem.size(group);
    std::vector<ExchangeStage> between;
    if (levels.servers > 1) {
      const std::int64_t shard = (problem.elements(group) + levels.per_server - 1) / levels.per_server;
      const Bytes sent = leaders_ ? size : Bytes{shard * problem.gradient_element_bytes};
      between.push_back(ExchangeStage::send("all-reduce between", CollectiveKind::all_reduce, sent,
                                            leaders_ ? CollectiveScope::leaders : CollectiveScope::peers));
    }
    if (leaders_) return through_leaders(size, between);
    between.insert(between.begin(), ExchangeStage::send("reduce-scatter inside", CollectiveKind::reduce_scatter, size,
                                                        CollectiveScope::server));
    between.push_back(
        ExchangeStage::send("all-gather inside", CollectiveKind::all_gather, size, CollectiveScope::server));
    return between;
  }

 private:
  bool leaders_;
};

std::unique_ptr<CompressionMethod> make_hierarchical(const Parameters& parameters, const PolicyContext&) {
  return std::make_unique<Hierarchical>(parameters.get<bool>("leaders"));
}

}  // namespace

PolicyRow<CompressionMethod> hierarchical_compression() {
  static constexpr ParameterInfo kParameters[] = {
      {"leaders", false, 0, 0, "one worker of each server sends for all of its workers; false: each sends a share"}};
  return {.name = "hierarchical",
          .summary = "dense, all-reduced inside servers and between them",
          .source = "Cho et al., MLSys 2019 (BlueConnect)",
          .parameters = kParameters,
          .make = make_hierarchical};
}

}  // namespace contend
