#include "scenarios/training/prediction_interval.hpp"

#include "network/catalogue.hpp"
#include "scenarios/training/host_work.hpp"
#include "scenarios/training/trained_model.hpp"
#include "scenarios/yaml/error_table.hpp"
#include "sim/check.hpp"
#include "sim/parallel.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <utility>

namespace contend {
namespace {

/// The entries of errors.yaml for a calibrated device.
constexpr std::string_view kOfProfile = "profile";

const TextEntry* machine_of(const NetworkSetup& network) {
  return network.nccl.machine ? find_machine(*network.nccl.machine) : nullptr;
}

/// Shares that are alike for all devices are as sure as the shares of a device that nobody has measured.
std::string_view kernels_name(const TrainingEntry& entry) {
  if (entry.device.calibrated) return kOfProfile;
  return roofline_options(entry).sheet ? std::string_view{entry.device.name} : std::string_view{};
}

std::string_view inside_name(const NetworkSetup& network) {
  const TextEntry* const machine = machine_of(network);
  return machine != nullptr ? machine->text("inside") : std::string_view{};
}

/// On trays that NVLink joins, transfers between these are as inside a server.
std::string_view between_name(const NetworkSetup& network, int gpus) {
  const TextEntry* const machine = machine_of(network);
  if (machine != nullptr && gpus <= machine->number("domain")) return machine->text("inside");
  if (network.nccl.between) return *network.nccl.between;
  return machine != nullptr ? machine->text("between") : std::string_view{};
}

double error_of(ErrorClass of, const TrainingSystem& system, const TrainingEntry& entry, int gpus) {
  const ClassError& error = error_table().of(of);
  switch (of) {
    case ErrorClass::products:
    case ErrorClass::attention:
    case ErrorClass::memory:
      return error.of(kernels_name(entry));
    case ErrorClass::host:
      return error.of(entry.host.name);
    case ErrorClass::inside:
      return error.of(inside_name(system.network));
    case ErrorClass::between: {
      const std::string_view name = between_name(system.network, gpus);
      const ClassError& inside = error_table().of(ErrorClass::inside);
      return inside.by_name.contains(name) ? inside.of(name) : error.of(name);
    }
    case ErrorClass::run:
      return error.error;
  }
  check_failed(__FILE__, __LINE__, "a class of errors", "unknown");
}

HostCosts scaled_host(HostCosts costs, double factor) {
  for (Time HostCosts::*const member :
       {&HostCosts::dispatch, &HostCosts::dispatch_backward, &HostCosts::launch, &HostCosts::collective,
        &HostCosts::grouped, &HostCosts::message, &HostCosts::recompute, &HostCosts::step, &HostCosts::routing_wait})
    costs.*member = scaled(costs.*member, factor);
  return costs;
}

void scale_host(TrainingEntry& entry, double factor) {
  if (const HostCosts* const host = host_of(entry); host != nullptr)
    entry.host = {.name = {}, .costs = scaled_host(*host, factor)};
  entry.launch = scaled(entry.launch, factor);
  entry.update_per_tensor = scaled(entry.update_per_tensor, factor);
}

/// Makes all parts of the class so many times as long. Returns false if the iteration has none.
bool scale_class(ErrorClass of, double factor, TrainingSystem& system, TrainingEntry& entry, int gpus) {
  const bool leaves = gpus > system.cluster.gpus_per_server;
  switch (of) {
    case ErrorClass::products:
      entry.scales.products = factor;
      return true;
    case ErrorClass::attention:
      entry.scales.attention = factor;
      return entry.flash_attention().value_or(entry.parallel.has_value()) && !entry.device.calibrated;
    case ErrorClass::memory:
      entry.scales.memory = factor;
      return !entry.device.calibrated;
    case ErrorClass::host: {
      const bool has_host = host_of(entry) != nullptr || entry.launch > Time{} || entry.update_per_tensor > Time{};
      scale_host(entry, factor);
      return has_host;
    }
    case ErrorClass::inside:
      system.network.scales.inside = factor;
      return gpus > 1 && system.cluster.gpus_per_server > 1;
    case ErrorClass::between:
      system.network.scales.between = factor;
      return leaves;
    case ErrorClass::run:
      return false;
  }
  check_failed(__FILE__, __LINE__, "a class of errors", "unknown");
}

}  // namespace

bool is_predicted(const TrainingEntry& entry) {
  return !entry.layers && !entry.recording && !entry.single_worker && published_profile(entry) == nullptr;
}

std::vector<PartError> part_errors(const TrainingSystem& system, const TrainingEntry& entry, int gpus, unsigned threads,
                                   const GoesOn& goes_on) {
  std::vector<TrainingSystem> systems{system};  // the first as it is, then one for each class that the iteration has
  std::vector<PartError> parts;
  for (std::size_t i = 0; i < kErrorClasses; ++i) {
    PartError part{.of = ErrorClass{static_cast<std::uint8_t>(i)}};
    part.error = error_of(part.of, system, entry, gpus);
    TrainingSystem longer = system;
    TrainingEntry& own = *std::ranges::find(longer.training, entry.name, &TrainingEntry::name);
    if (part.of != ErrorClass::run) {
      if (!scale_class(part.of, 1 + part.error, longer, own, gpus)) continue;
      systems.push_back(std::move(longer));
    }
    parts.push_back(part);
  }
  // A first iteration may lack what others leave for it; more than two take more time and tell little more.
  constexpr std::int64_t kIterations = 2;
  std::vector<Time> times(systems.size(), Time::never());
  const auto one_of = [&](std::size_t i) { times[i] = lone_job(systems[i], entry.name, gpus, kIterations, goes_on); };
  parallel_for(
      threads, systems.size(), [&] { return one_of; }, [&] { return goes_on && !goes_on(); });
  if (std::ranges::find(times, Time::never()) != times.end()) return {};
  const auto base = static_cast<double>(times[0].ns());
  std::size_t next = 1;
  for (PartError& each : parts)
    each.effect =
        each.of == ErrorClass::run ? std::log1p(each.error) : std::log(static_cast<double>(times[next++].ns()) / base);
  return parts;
}

PredictionInterval prediction_interval(std::span<const PartError> parts) {
  return interval_of(sigma_of(parts), error_table().unmodelled);
}

}  // namespace contend
