// The survey of distributed training of 2020 (HKBU-HPML/ddl-benchmarks, results/2020-05-29): 8 nodes of four RTX 2080
// Ti on 10 GbE, 100 Gb/s InfiniBand, and TCP over that InfiniBand. Every network is predicted from constants that are
// fitted on the two others alone.

#include "models/overlap/iteration_fit.hpp"
#include "scenarios/training/optimizer_update.hpp"
#include "sim/fields.hpp"
#include "validate/iteration_time.hpp"
#include "validate/overlap/overlap_suite.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

namespace contend {

namespace {

constexpr int kGpusPerNode = 4;
constexpr std::array kGpus{kGpusPerNode, 8, 16, 32};
constexpr std::size_t kOneNode = 0;

struct Surveyed {
  const char *model, *name;
  int batch, sequence;
  double one_gpu;   ///< samples per second
  bool is_updated;  ///< by Adam, whose update the figure of one GPU leaves out
};
/// ResNet-50 is trained by SGD, whose update is in the figure of one GPU. The others are trained by the AdamW of
/// Hugging Face's Transformers, tensor by tensor. The throughputs of one GPU stand in the program that plots, "to be
/// read from logs" one day, so nothing says what they were measured with. That the update isn't in them follows from
/// all other rows: docs/validation/overlap.md.
constexpr std::array<Surveyed, 3> kNetworks{{{"resnet50", "ResNet-50", 64, 0, 253.1, false},
                                             {"bert-base", "BERT-Base", 64, 64, 212.8, true},
                                             {"bert-large", "BERT-Large", 8, 64, 49, true}}};

struct Policy {
  const char *name, *fusion;
};
/// Over all-reduces ByteScheduler sends pieces of 16,000,000 and a credit of 64,000,000 bytes by default, as here.
constexpr std::array<Policy, 4> kOverAllReduce{{{"BSP", "bsp"},
                                                {"WFBP", "wfbp"},
                                                {"MG-WFBP", "{policy: mg-wfbp, optimal: false}"},
                                                {"ByteScheduler", "bytescheduler"}}};
/// With parameter servers ByteScheduler is an order in which the servers answer. The program waits for all gradients
/// before it updates the weights (byteps_distributed_optimizer.py, step()), so that no order gains anything.
constexpr std::array<Policy, 3> kOverServers{{{"BSP", "bsp"}, {"WFBP", "wfbp"}, {"ByteScheduler", "wfbp"}}};
/// Over all-reduces ByteScheduler has a framework of its own: no constant is fitted on its rows.
constexpr std::size_t kByteScheduler = 3;

/// Samples per second of all GPUs on 4, 8, 16 and 32 of them.
using Throughput = std::array<double, kGpus.size()>;
template <std::size_t policies>
using Measured = std::array<std::array<Throughput, policies>, kNetworks.size()>;

using Served = Measured<kOverServers.size()>;

struct Interconnect {
  const char *name, *short_name;
  Measured<kOverAllReduce.size()> all_reduce;
  /// None over IPoIB, whose rows contradict each other: docs/validation/overlap.md.
  std::optional<Served> servers;
};

/// The lines of survey.txt that begin with `way`.
template <std::size_t policies>
Measured<policies> survey_of(std::string_view way, const std::array<Policy, policies>& policy) {
  static const NamedTexts kSurvey{survey_text()};
  Measured<policies> all;
  for (std::size_t network = 0; network < kNetworks.size(); ++network)
    for (std::size_t i = 0; i < policies; ++i)
      std::ranges::copy(numbers_in(kSurvey.of(fmt::format("{} {} {}", way, kNetworks[network].name, policy[i].name))),
                        all[network][i].begin());
  return all;
}

const std::array<Interconnect, 3>& interconnects() {
  static const std::array<Interconnect, 3> kAll{{
      {"10 GbE", "10GbE", survey_of("10GbE", kOverAllReduce), survey_of("10GbE PS", kOverServers)},
      {"100 Gb/s InfiniBand", "IB", survey_of("IB", kOverAllReduce), survey_of("IB PS", kOverServers)},
      {"TCP over 100 Gb/s InfiniBand", "IPoIB", survey_of("IPoIB", kOverAllReduce), std::nullopt},
  }};
  return kAll;
}

double seconds(const Surveyed& network, double samples_per_s, int gpus) {
  return network.batch * gpus / samples_per_s;
}

/// The networks on one GPU, without the update of their weights.
const TimedModel& alone(std::size_t index) {
  static const std::array<TimedModel, kNetworks.size()> models = [] {
    std::array<TimedModel, kNetworks.size()> all;
    for (std::size_t i = 0; i < all.size(); ++i) {
      const Surveyed& network = kNetworks[i];
      all[i] =
          scaled_model(network.model, "RTX2080Ti", network.batch, network.sequence, network.batch / network.one_gpu);
    }
    return all;
  }();
  return models[index];
}

/// The problem of a network with an update of so many seconds a tensor, 0 for none, but for workers and cost. A fit
/// looks at all numbers of GPUs and policies with the same update, so the last one is kept.
const OverlapProblem& updated(std::size_t index, double update_s) {
  struct Last {
    double update_s = -1;
    OverlapProblem problem;
  };
  static thread_local std::array<Last, kNetworks.size()> last;
  if (last[index].update_s != update_s) {
    TrainingEntry entry;
    entry.device.name = "RTX2080Ti";
    if (update_s > 0 && kNetworks[index].is_updated) entry.optimizer = find_optimizer("adam");
    entry.update_per_tensor = Time::ceil_nanoseconds(update_s * 1e9);
    TimedModel model = alone(index);
    add_update(entry, model, 1);
    last[index] = {update_s, overlap_problem(model, kGpusPerNode, {})};
  }
  return last[index].problem;
}

Interference interference_of(const IterationConstants& constants) {
  const auto millionths = static_cast<std::int64_t>(std::llround(constants.interference * 1e6));
  return {millionths, millionths};
}

/// A ring over all GPUs, whose constants describe a link.
ExchangeCost ring(int gpus, const IterationConstants& constants) {
  return ExchangeCost::ring(
      gpus, {Time::ceil_nanoseconds(constants.alpha_s * 1e9), TimePerByte{constants.beta_ns_per_byte}, {}});
}

/// The GPUs of a machine add up their gradients first: the machines push and pull. Half of the time is a push. The
/// servers had machines of their own, and yet pushes and pulls took turns: a byte took as long as both on 2, 4 and 8
/// machines.
ExchangeCost push_and_pull(int gpus, const IterationConstants& constants) {
  const int machines = gpus / kGpusPerNode;
  const double share = static_cast<double>(machines - 1) / machines;
  const ChannelCost link{
      Time::ceil_nanoseconds(constants.alpha_s * 1e9 / 2), TimePerByte{constants.beta_ns_per_byte / 2 / share}, {}};
  return ExchangeCost::parameter_server(machines, machines, true, link);
}

/// One of the two ways to exchange, with its policies.
template <std::size_t policies>
struct Way {
  ExchangeCost (*cost_of)(int gpus, const IterationConstants& constants);
  const std::array<Policy, policies>& policy;
  std::size_t fitted;  ///< policies, from the first on, on whose rows constants are fitted
  bool adam;           ///< BERT is trained by Adam, else by SGD like ResNet-50

  [[nodiscard]] OverlapProblem problem(std::size_t network, int gpus, const IterationConstants& constants) const {
    OverlapProblem problem = updated(network, constants.update_s);
    problem.workers = gpus;
    problem.cost = cost_of(gpus, constants);
    problem.cost.interference = interference_of(constants);
    return problem;
  }

  /// The fits to all of these numbers of GPUs that leave one network out each, in the order of kNetworks.
  [[nodiscard]] LeaveOneOut fits(const Measured<policies>& measured, std::span<const std::size_t> sizes) const {
    // Where the rows of the other networks hide too little to show interference, the interference is the share of the
    // multiprocessors that NCCL takes: two to four channels of 68 (docs/models/overlap.md).
    const IterationConstants guess{20e-6, 0.5, 3.0 / (68 - 3), adam ? 250e-6 : 0.0};
    struct Row {
      std::size_t network, policy, at;
    };
    std::vector<Row> all;
    std::vector<FittedRow> rows;
    for (std::size_t network = 0; network < kNetworks.size(); ++network)
      for (std::size_t i = 0; i < fitted; ++i)
        for (const std::size_t at : sizes) {
          all.push_back({network, i, at});
          rows.push_back({kNetworks[network].name, seconds(kNetworks[network], measured[network][i][at], kGpus[at]),
                          adam && kNetworks[network].is_updated});
        }
    return leave_one_out(
        rows,
        [&](std::size_t row, const IterationConstants& constants) {
          return quick_iteration_s(problem(all[row].network, kGpus[all[row].at], constants),
                                   policy[all[row].policy].fusion);
        },
        guess);
  }
};

constexpr double kSurveyTolerance = 0.15;

/// What ByteScheduler costs beside the network in an iteration, as one machine shows it: 0.11 s with ResNet-50, where
/// hardly anything is left to schedule. `predicted` are the iterations on one machine without it.
double scheduler_s(std::size_t network, double predicted) {
  double measured = 0;
  for (const Interconnect& each : interconnects())
    measured += seconds(kNetworks[network], each.all_reduce[network][kByteScheduler][kOneNode], kGpusPerNode) /
                static_cast<double>(interconnects().size());
  return measured - predicted;
}

/// The constants of the fit that leaves the network out.
std::string constants_note(const IterationFit& fit, std::size_t network) {
  const IterationConstants& found = fit.constants;
  std::string note =
      fmt::format("without {}: alpha {:.1f} us, beta {:.3f} ns/B, interference {:.2f}{}", kNetworks[network].name,
                  found.alpha_s * 1e6, found.beta_ns_per_byte, found.interference,
                  fit.knows_interference ? "" : " (not fitted: too little is hidden)");
  if (fit.knows_update) note += fmt::format(", update {:.0f} us a tensor", found.update_s * 1e6);
  return note;
}

/// The rows of the policies on whose rows constants are fitted, and the rows of the other policies.
struct Predicted {
  CheckedTable fitted, others;
};

/// Predicts every network on some numbers of GPUs from a fit to the two others on these. `more` is added to the
/// iterations of the policies on whose rows nothing is fitted.
template <std::size_t policies>
Predicted predicted(const std::string& name, const Way<policies>& way, const Measured<policies>& measured,
                    std::span<const std::size_t> sizes, std::span<const double> more) {
  Predicted tables;
  const LeaveOneOut found = way.fits(measured, sizes);
  for (std::size_t network = 0; network < kNetworks.size(); ++network) {
    tables.fitted.notes.push_back(constants_note(found.fits[network], network));
    for (const std::size_t at : sizes) {
      const int gpus = kGpus[at];
      const OverlapProblem problem = way.problem(network, gpus, found.fits[network].constants);
      for (std::size_t i = 0; i < policies; ++i) {
        const bool is_fitted = i < way.fitted;
        const double samples = kNetworks[network].batch * gpus, published = measured[network][i][at];
        const double ours_s = iteration_s(problem, way.policy[i].fusion) + (is_fitted ? 0.0 : more[network]);
        (is_fitted ? tables.fitted : tables.others)
            .checks.push_back(
                {fmt::format("{} {}, {} GPUs, {}", name, kNetworks[network].name, gpus, way.policy[i].name),
                 published,
                 samples / ours_s,
                 kSurveyTolerance,
                 {},
                 samples / published,
                 ours_s});
      }
    }
  }
  return tables;
}

}  // namespace

std::vector<CheckedTable> overlap_survey() {
  constexpr std::array<std::size_t, 1> kInside{kOneNode};
  constexpr std::array<std::size_t, kGpus.size() - 1> kBetween{1, 2, 3};
  const Way<kOverAllReduce.size()> all_reduces{ring, kOverAllReduce, kByteScheduler, true};
  const Way<kOverServers.size()> servers{push_and_pull, kOverServers, kOverServers.size(), false};

  std::vector<CheckedTable> tables;
  const auto add = [&](CheckedTable table, std::string title) {
    table.title = std::move(title);
    tables.push_back(std::move(table));
  };
  std::array<double, kNetworks.size()> more{};
  Predicted inside = predicted("one machine", all_reduces, interconnects().front().all_reduce, kInside, more);
  for (std::size_t network = 0; network < kNetworks.size(); ++network) {
    CheckedFigure& row = inside.others.checks[network];
    row.tolerance = kOnlyShown;
    more[network] = scheduler_s(network, row.ours_s);
    inside.others.notes.push_back(
        fmt::format("{}: ByteScheduler costs {:.3f} s an iteration", kNetworks[network].name, more[network]));
  }
  add(std::move(inside.fitted),
      "4 RTX 2080 Ti of one machine, all-reduce, samples/s; each network from a fit on the others");
  add(std::move(inside.others), "The same, ByteScheduler without what it costs itself");
  for (const Interconnect& each : interconnects()) {
    Predicted ours = predicted(each.short_name, all_reduces, each.all_reduce, kBetween, more);
    add(std::move(ours.fitted),
        fmt::format("32 RTX 2080 Ti, {}, all-reduce, samples/s; each network from a fit on the others", each.name));
    add(std::move(ours.others), "The same, ByteScheduler with what it costs on one machine");
    if (!each.servers) continue;
    Predicted served = predicted(fmt::format("{} PS", each.short_name), servers, *each.servers, kBetween, more);
    add(std::move(served.fitted),
        fmt::format("32 RTX 2080 Ti, {}, as many parameter servers as machines, samples/s; each network from a fit on "
                    "the others",
                    each.name));
  }
  return tables;
}

}  // namespace contend
