// The survey of distributed training of 2020 (HKBU-HPML/ddl-benchmarks, results_2020-05-29): 8 nodes of four RTX 2080
// Ti, 10 GbE and 100 Gb/s InfiniBand.

#include "models/overlap/iteration_fit.hpp"
#include "validate/iteration_time.hpp"
#include "validate/overlap/overlap_suite.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include <fmt/format.h>

namespace contend {

namespace {

constexpr std::array kGpus{8, 16, 32};
constexpr int kGpusPerNode = 4;

constexpr const char* kMgWfbp = "{policy: mg-wfbp, optimal: false}";
/// Over all-reduces ByteScheduler sends pieces of 16,000,000 and a credit of 64,000,000 bytes by default, as here.
constexpr const char* kByteScheduler = "bytescheduler";

/// Samples per second of all GPUs on 8, 16 and 32 of them.
using Throughput = std::array<double, 3>;

struct Measured {
  const char* model;
  const char* name;
  int batch, sequence;
  double one_gpu;
  Throughput bsp, wfbp, merged, byte_scheduler;  ///< all-reduce
  Throughput bsp_server, wfbp_server, byte_scheduler_server;
};

struct Network {
  const char* name;
  const char* short_name;
  std::array<Measured, 2> models;
};

constexpr Network kNetworks[] = {
    {"10 GbE",
     "10GbE",
     {{{"resnet50",
        "ResNet-50",
        64,
        0,
        253.1,
        {1282, 2485, 4921},
        {1796, 3147, 5113},
        {1981, 3785, 6884},
        {1319, 2702, 4754},
        {1194, 2361, 4377},
        {2021, 3812, 6945},
        {2026, 3816, 6889}},
       {"bert-large",
        "BERT-Large",
        8,
        64,
        49,
        {29.0, 54.3, 105.1},
        {29.1, 53.4, 102.0},
        {30.0, 54.3, 105.0},
        {30.4, 56.0, 108.8},
        {28.4, 59.2, 118.0},
        {29.8, 61.3, 118.4},
        {29.3, 61.2, 116.8}}}}},
    {"100 Gb/s InfiniBand",
     "IB",
     {{{"resnet50",
        "ResNet-50",
        64,
        0,
        253.1,
        {1821, 3603, 7127},
        {2017, 3946, 7327},
        {2002, 3987, 7876},
        {1258, 2529, 4766},
        {1695, 3353, 6588},
        {2008, 3989, 7978},
        {2018, 4014, 8000}},
       {"bert-large",
        "BERT-Large",
        8,
        64,
        49,
        {99.2, 191.6, 375.2},
        {101.7, 185.4, 339.8},
        {106.8, 205.8, 400.2},
        {91.3, 171.9, 326.4},
        {88.5, 168.2, 355.7},
        {89.9, 175.7, 344.0},
        {85.5, 148.1, 349.9}}}}},
};

/// What an iteration without overlap takes beside computing.
struct Point {
  double messages;  ///< sent one after the other
  double bytes;
  double seconds;
};

/// t = alpha x messages + beta x bytes for each of two models: both through one alpha and beta if that alpha is not
/// negative; else alpha = 0, and a beta for each.
std::array<LinearCost, 2> fit(const std::array<Point, 2>& points) {
  const auto [p, q] = points;
  const double determinant = p.messages * q.bytes - q.messages * p.bytes;
  const double alpha = std::max(0.0, (p.seconds * q.bytes - q.seconds * p.bytes) / determinant);
  std::array<LinearCost, 2> costs;
  for (std::size_t i = 0; i < costs.size(); ++i) {
    const Point& each = points[i];
    costs[i] = {Time::ceil_nanoseconds(alpha * 1e9),
                TimePerByte{(each.seconds - alpha * each.messages) / each.bytes * 1e9}};
  }
  return costs;
}

double measured_s(const Measured& model, double throughput, int gpus) {
  return model.batch * gpus / throughput;
}

TimedModel timed(const Measured& model) {
  return scaled_model(model.model, "RTX2080Ti", model.batch, model.sequence, model.batch / model.one_gpu);
}

/// Pieces of at most 1,024,000 elements, which is what BytePS sends of each tensor whatever the schedule.
double pieces(const TimedModel& model) {
  constexpr std::int64_t kPiece = 1'024'000;
  std::int64_t count = 0;
  for (const TimedLayer& layer : model.layers) {
    for (const ParameterTensor& tensor : layer.tensors) count += (tensor.elements + kPiece - 1) / kPiece;
  }
  return static_cast<double>(count);
}

/// The cost of an exchange for each model, fitted on their rows without overlap.
std::array<LinearCost, 2> fitted(const Network& network, std::size_t at, bool servers) {
  std::array<Point, 2> points{};
  for (std::size_t i = 0; i < points.size(); ++i) {
    const Measured& model = network.models[i];
    const Throughput& bsp = servers ? model.bsp_server : model.bsp;
    const TimedModel layers = timed(model);
    points[i] = {servers ? pieces(layers) : 1.0, layers.gradient().to_double(),
                 measured_s(model, bsp[at], kGpus[at]) - model.batch / model.one_gpu};
  }
  return fit(points);
}

void check(CheckedTable& table, const std::string& at_network, const Measured& model, std::size_t at,
           const OverlapProblem& problem, const char* what, const Throughput& published, const char* policy,
           double tolerance) {
  const double samples = model.batch * kGpus[at], seconds = iteration_s(problem, policy);
  table.checks.push_back({fmt::format("{} {}, {} GPUs, {}", at_network, model.name, kGpus[at], what),
                          published[at],
                          samples / seconds,
                          tolerance,
                          {},
                          samples / published[at],
                          seconds});
}

std::string cost_note(const Measured& model, std::size_t at, const LinearCost& cost) {
  return fmt::format("{}, {} GPUs: alpha {:.3f} ms, beta {:.3f} ns/B", model.name, kGpus[at],
                     cost.alpha.to_seconds() * 1e3, cost.beta.ns_per_byte());
}

CheckedTable all_reduce_table(const Network& network) {
  CheckedTable table;
  table.title = fmt::format("32 RTX 2080 Ti, {}, all-reduce, samples/s; fitted on the BSP rows", network.name);
  for (std::size_t at = 0; at < kGpus.size(); ++at) {
    const std::array<LinearCost, 2> costs = fitted(network, at, false);
    for (std::size_t i = 0; i < costs.size(); ++i) {
      const Measured& model = network.models[i];
      const OverlapProblem problem = overlap_problem(timed(model), kGpus[at], ExchangeCost::measured(costs[i]));
      table.notes.push_back(cost_note(model, at, costs[i]));
      check(table, network.short_name, model, at, problem, "BSP (fitted on)", model.bsp, "bsp", kOnlyShown);
      check(table, network.short_name, model, at, problem, "WFBP", model.wfbp, "wfbp", 0.15);
      check(table, network.short_name, model, at, problem, "MG-WFBP", model.merged, kMgWfbp, 0.15);
      check(table, network.short_name, model, at, problem, "ByteScheduler", model.byte_scheduler, kByteScheduler, 0.15);
    }
  }
  return table;
}

/// The policies of the survey over all-reduces, and their rows.
struct SurveyedPolicy {
  const char* name;
  const char* fusion;
  Throughput Measured::*samples_per_s;
};
constexpr std::array<SurveyedPolicy, 4> kSurveyed{{{"BSP", "bsp", &Measured::bsp},
                                                   {"WFBP", "wfbp", &Measured::wfbp},
                                                   {"MG-WFBP", kMgWfbp, &Measured::merged},
                                                   {"ByteScheduler", kByteScheduler, &Measured::byte_scheduler}}};
/// ByteScheduler has a framework of its own: no constant is fitted on its rows.
constexpr std::size_t kFittedPolicies = 3;

OverlapProblem with_constants(const Measured& model, int gpus, const IterationConstants& constants) {
  ExchangeCost cost = ExchangeCost::measured(
      {Time::ceil_nanoseconds(constants.alpha_s * 1e9), TimePerByte{constants.beta_ns_per_byte}});
  const auto millionths = static_cast<std::int64_t>(std::llround(constants.interference * 1e6));
  cost.interference = {millionths, millionths};
  return overlap_problem(timed(model), gpus, cost);
}

/// Predicts every network from alpha, beta and interference that are fitted on the other network alone.
CheckedTable left_out_table(const Network& network) {
  // Where the rows of the other network hide too little to show interference, it is that of the multiprocessors that
  // NCCL takes: two to four channels of 68 (docs/models/overlap.md).
  constexpr IterationConstants kGuess{0.001, 1, 3.0 / (68 - 3)};
  CheckedTable table;
  table.title = fmt::format("The same, {}, in seconds: each network predicted from a fit on the other", network.name);
  table.shown_only = true;
  for (std::size_t at = 0; at < kGpus.size(); ++at) {
    std::vector<FittedRow> rows;
    for (const Measured& model : network.models) {
      for (std::size_t i = 0; i < kFittedPolicies; ++i)
        rows.push_back({model.name, measured_s(model, (model.*kSurveyed[i].samples_per_s)[at], kGpus[at])});
    }
    const auto predict = [&](std::size_t row, const IterationConstants& constants) {
      const OverlapProblem problem = with_constants(network.models[row / kFittedPolicies], kGpus[at], constants);
      return quick_iteration_s(problem, kSurveyed[row % kFittedPolicies].fusion);
    };
    const LeaveOneOut found = leave_one_out(rows, predict, kGuess);
    for (std::size_t i = 0; i < network.models.size(); ++i) {
      const Measured& model = network.models[i];
      const IterationConstants& constants = found.fits[i].constants;
      const OverlapProblem problem = with_constants(model, kGpus[at], constants);
      table.notes.push_back(fmt::format("{} GPUs without {}: alpha {:.3f} ms, beta {:.3f} ns/B, interference {:.2f}{}",
                                        kGpus[at], model.name, constants.alpha_s * 1e3, constants.beta_ns_per_byte,
                                        constants.interference,
                                        found.fits[i].knows_interference ? "" : " (not fitted: too little is hidden)"));
      for (const SurveyedPolicy& policy : kSurveyed) {
        table.checks.push_back({fmt::format("{}, {} GPUs, {}, s", model.name, kGpus[at], policy.name),
                                measured_s(model, (model.*policy.samples_per_s)[at], kGpus[at]),
                                iteration_s(problem, policy.fusion),
                                kOnlyShown,
                                {}});
      }
    }
  }
  return table;
}

CheckedTable server_table(const Network& network) {
  CheckedTable table;
  table.title = fmt::format("32 RTX 2080 Ti, {}, a parameter server on each machine, samples/s; fitted on the BSP rows",
                            network.name);
  for (std::size_t at = 0; at < kGpus.size(); ++at) {
    const std::array<LinearCost, 2> costs = fitted(network, at, true);
    // The GPUs of a machine add up their gradients first: the machines push and pull. Half of the time is a push.
    const int machines = kGpus[at] / kGpusPerNode;
    const double share = static_cast<double>(machines - 1) / machines;
    for (std::size_t i = 0; i < costs.size(); ++i) {
      const Measured& model = network.models[i];
      const ChannelCost link{
          Time::nanoseconds(costs[i].alpha.ns() / 2), TimePerByte{costs[i].beta.ns_per_byte() / 2 / share}, {}};
      const OverlapProblem problem =
          overlap_problem(timed(model), machines, ExchangeCost::parameter_server(machines, machines, true, link));
      table.notes.push_back(cost_note(model, at, costs[i]));
      check(table, std::string{network.short_name} + " PS", model, at, problem, "WFBP", model.wfbp_server, "wfbp",
            0.20);
      // BytePS: pieces of 4,096,000 bytes; credit as the default of ByteScheduler's parameter server.
      check(table, std::string{network.short_name} + " PS", model, at, problem, "ByteScheduler",
            model.byte_scheduler_server, "{policy: bytescheduler, partition: 1024000, credit: 4000000}", 0.20);
    }
  }
  return table;
}

}  // namespace

std::vector<CheckedTable> overlap_survey() {
  std::vector<CheckedTable> tables;
  for (const Network& network : kNetworks) {
    tables.push_back(all_reduce_table(network));
    tables.push_back(left_out_table(network));
    tables.push_back(server_table(network));
  }
  return tables;
}

}  // namespace contend
