// Horovod's tensor fusion (Sergeev and Del Balso, arXiv 1802.05799): a background thread wakes up once per cycle and
// sends the gradients that have become ready since, in buffers of limited size.
//
// The cycles are timers: they take no time on GPUs. The first cycle begins when all workers begin their backward pass;
// real threads would be at random points of their cycles then. A gradient larger than the buffer is sent alone.

#include "policies/fusion/merging.hpp"
#include "policies/registry.hpp"
#include "sim/error.hpp"

#include <cmath>
#include <cstdint>
#include <optional>

#include <fmt/format.h>

namespace contend {

namespace {

constexpr std::int64_t kMaxCycles = 100'000;

class Horovod final : public FusionPolicy {
 public:
  Horovod(Bytes buffer, Time cycle) : buffer_{buffer}, cycle_{cycle} {}

  [[nodiscard]] FusedIteration plan(const OverlapProblem& problem) const override {
    if (problem.method != nullptr && problem.method->moment() != ExchangeMoment::gradients)
      throw InputError{"negotiates gradients during the backward pass, and this method exchanges weights"};
    const std::int64_t cycles = (problem.backward().ns() + cycle_.ns() - 1) / cycle_.ns();
    if (cycles > kMaxCycles)
      throw InputError{fmt::format("horovod: {} cycles in a backward pass; a longer cycle_ms is needed", cycles)};
    IterationBuilder builder{problem};
    builder.use_channel(1, Bytes{1});
    const std::vector<OpId> ticks = add_ticks(builder, problem, cycles);
    const std::vector<Time> ready = problem.ready();
    const auto tick_of = [&](std::size_t gradient) {
      return std::max<std::int64_t>(1, (ready[gradient].ns() + cycle_.ns() - 1) / cycle_.ns());
    };
    std::size_t first = 0;
    Bytes filled;
    for (std::size_t i = 0; i < problem.gradients.size(); ++i) {
      filled += problem.gradients[i].size;
      const bool ends = i + 1 == problem.gradients.size() || tick_of(i + 1) != tick_of(i) ||
                        filled + problem.gradients[i + 1].size > buffer_;
      if (!ends) continue;
      const GradientGroup group{first, i};
      const auto sent = builder.exchange(fmt::format("buffer #{}", first), group, builder.forward(0));
      if (sent) builder.graph.add_dependency(ticks[static_cast<std::size_t>(tick_of(i) - 1)], sent->send);
      first = i + 1;
      filled = Bytes{};
    }
    return builder.take();
  }

 private:
  [[nodiscard]] std::vector<OpId> add_ticks(IterationBuilder& builder, const OverlapProblem& problem,
                                            std::int64_t cycles) const {
    std::vector<OpId> ticks;
    for (std::int64_t i = 0; i < std::max<std::int64_t>(1, cycles); ++i) {
      const OpId tick = builder.graph.add_timer(fmt::format("cycle {}", i + 1), RoleId{0U}, cycle_);
      const OpId before = ticks.empty() ? builder.forward(problem.layers.size() - 1) : ticks.back();
      builder.graph.add_dependency(before, tick);
      ticks.push_back(tick);
    }
    builder.graph.add_dependency(ticks.back(), ticks.front(), 1);  // one thread
    return ticks;
  }

  Bytes buffer_;
  Time cycle_;
};

std::unique_ptr<FusionPolicy> make_horovod(const Parameters& parameters, const PolicyContext&) {
  const auto buffer = static_cast<std::int64_t>(std::ceil(parameters.get<double>("mib") * 1048576.0));
  return std::make_unique<Horovod>(Bytes{buffer}, Time::ceil_nanoseconds(parameters.get<double>("cycle_ms") * 1e6));
}

}  // namespace

PolicyRow<FusionPolicy> horovod_fusion() {
  static constexpr ParameterInfo kParameters[] = {
      {"mib", 64.0, 0, 1e6, "size of the fusion buffer, in MiB"},
      {"cycle_ms", 1.0, 0.001, 1e4, "time between two checks for ready gradients, in ms"}};
  return {.name = "horovod",
          .summary = "the gradients that became ready in a cycle, in buffers of limited size",
          .source = "Sergeev, Del Balso, arXiv 1802.05799",
          .parameters = kParameters,
          .make = make_horovod};
}

}  // namespace contend
