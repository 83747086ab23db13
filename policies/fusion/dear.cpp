// DeAR (Zhang et al., ICDCS 2023; arXiv 2302.12445) fuses layers in buffers of a fixed size, or of a size that Bayesian
// optimisation finds in ten trials.
//
// The authors' tuner (lzhangbv/dear_pytorch, dear/tuner.py and dopt_rsag_bo.py) does the same on a linear scale of
// sizes, and its xi is a tenth of a second of the iteration. Buffers save a few milliseconds, so it expects no
// improvement anywhere and looks where it has looked least. Here the scale is logarithmic, because a buffer twice as
// large halves the number of messages, and xi is a tenth of the deviation of the trials.

#include "policies/fusion/dear.hpp"

#include "models/overlap/steady_state.hpp"
#include "policies/fusion/bayesian_tuner.hpp"
#include "policies/registry.hpp"

namespace contend {

namespace {

constexpr double kMebibyte = 1048576.0;
// The authors' settings: 1 to 256 MB, expected improvement with xi = 0.1, ten trials, the first at 25 MB; the objective
// is minus the time of an iteration.
constexpr double kSmallestMib = 1, kLargestMib = 256;
constexpr int kTrials = 10;
constexpr double kXi = 0.1;

class Dear final : public FusionPolicy {
 public:
  Dear(double mib, bool tune) : mib_{mib}, tune_{tune} {}

  [[nodiscard]] FusedIteration plan(const OverlapProblem& problem) const override {
    const auto graph_of = [&](double mib) { return dear_graph(problem, dear_groups(problem, mib * kMebibyte)); };
    if (!tune_) return graph_of(mib_);
    const auto gain = [&](double mib) { return -steady_state(graph_of(mib).graph, problem.cost).iteration_ns; };
    return graph_of(maximise(gain, {kSmallestMib, kLargestMib, mib_, kTrials, kXi}));
  }

 private:
  double mib_;
  bool tune_;
};

std::unique_ptr<FusionPolicy> make_dear(const Parameters& parameters, const PolicyContext&) {
  return std::make_unique<Dear>(parameters.get<double>("mib"), parameters.get<bool>("tune"));
}

}  // namespace

PolicyRow<FusionPolicy> dear_fusion() {
  static constexpr ParameterInfo kParameters[] = {
      {"mib", 25.0, 0, 1e6, "size of a fusion buffer, in MiB; 0: each layer on its own"},
      {"tune", false, 0, 0, "let Bayesian optimisation choose the size in ten trials, `mib` first"}};
  return {.name = "dear",
          .summary = "reduce-scatter in the backward pass, all-gather in the next forward",
          .source = "Zhang et al., ICDCS 2023",
          .parameters = kParameters,
          .make = make_dear};
}

}  // namespace contend
