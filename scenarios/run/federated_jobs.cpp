#include "scenarios/run/federated_jobs.hpp"

#include "scenarios/run/service_requests.hpp"
#include "sim/error.hpp"
#include "sim/portable_math.hpp"
#include "sim/random_stream.hpp"
#include "traces/clients/client_tables.hpp"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

#include <fmt/format.h>

namespace contend {
namespace {

/// Draws numbers about a mean.
class Spread {
 public:
  Spread(double mean, double cv, std::uint64_t seed, const std::string& stream) : mean_{mean}, stream_{seed, stream} {
    if (cv == 0 || mean == 0) return;
    const double variance = portable_log(1 + cv * cv);
    mu_ = portable_log(mean) - variance / 2;
    sigma_ = std::sqrt(variance);
  }
  double draw() { return sigma_ == 0 ? mean_ : stream_.lognormal(mu_, sigma_); }

 private:
  double mean_, mu_ = 0, sigma_ = 0;
  RandomStream stream_;
};

std::vector<Client> drawn_clients(const FederatedEntry& entry, std::uint64_t seed) {
  const ClientsSetup& setup = entry.clients;
  const auto stream = [&](const char* what) { return fmt::format("federated/{}/{}", entry.name, what); };
  const auto rates = [&](const ClientLaw<ByteRate>& law, const char* what) {
    return Spread{law.mean.bytes_per_second(), law.cv, seed, stream(what)};
  };
  Spread step{static_cast<double>(setup.step.mean.ns()), setup.step.cv, seed, stream("step")};
  Spread down = rates(setup.down, "down"), up = rates(setup.up, "up");
  const LengthLaw steps = length_law(setup.steps);
  RandomStream lengths{seed, stream("steps")};
  std::vector<Client> clients;
  clients.reserve(static_cast<std::size_t>(setup.count));
  for (std::int64_t c = 0; c < setup.count; ++c)
    clients.push_back({.step = Time::ceil_nanoseconds(step.draw()),
                       .steps = steps.draw(lengths),
                       .down = ByteRate{down.draw()},
                       .up = ByteRate{up.draw()}});
  return clients;
}

Bytes share_of(Bytes model, double share) {
  return Bytes{std::llround(model.to_double() * share)};
}

void add_devices(const PackingSetup& packing, double compute, int gpus, FederatedSpec& spec) {
  spec.device_rate = packing.rate;
  for (int d = 0; d < gpus; ++d) {
    const double slower = 1 + packing.slowdown * d / gpus;
    const auto scaled = [&](Time time, double factor) {
      return Time::ceil_nanoseconds(static_cast<double>(time.ns()) * factor);
    };
    spec.devices.push_back({.step = scaled(packing.step, slower * compute), .start = scaled(packing.start, slower)});
  }
}

void add_rule(const FederatedEntry& entry, FederatedSpec& spec) {
  spec.asked = entry.asked ? static_cast<std::size_t>(*entry.asked) : spec.clients.size();
  spec.rule = entry.rule;
  spec.first = static_cast<std::size_t>(entry.first.value_or(0));
  spec.deadline = entry.deadline;
  constexpr double kExactly = 1 - 1e-9;  // 0.07 of 100 are 7, whatever the product of doubles is
  const std::size_t whole = spec.first > 0 ? spec.first : spec.asked;
  spec.least = std::max<std::size_t>(
      1, static_cast<std::size_t>(std::ceil(entry.least * static_cast<double>(whole) * kExactly)));
  spec.buffer = static_cast<std::size_t>(entry.buffer);
  spec.window = std::max(entry.window, Time::nanoseconds(1));
  spec.stalest = entry.stalest;
  spec.compass = entry.compass;
  spec.peers = entry.peers;
}

}  // namespace

FederatedPlan federated_plan(const FederatedEntry& entry, int gpus, std::uint64_t seed, std::string_view job,
                             Time submitted) {
  FederatedPlan plan;
  FederatedSpec& spec = plan.spec;
  const ClientsSetup& setup = entry.clients;
  spec.clients = setup.table ? read_client_table(*setup.table) : drawn_clients(entry, seed);
  for (Client& client : spec.clients)
    client.step = Time::ceil_nanoseconds(static_cast<double>(client.step.ns()) * entry.compute);
  if (setup.presence) {
    spec.presence = read_presence_table(*setup.presence, spec.clients.size());
  } else {
    spec.presence = {.there = setup.there, .away = setup.away};
    spec.presence.stream = fmt::format("federated/{}/presence", entry.name);
    spec.presence.seed = seed;
  }
  spec.rounds = entry.rounds;
  add_rule(entry, spec);
  spec.down = share_of(entry.model, entry.down);
  spec.up = share_of(entry.model, entry.up);
  spec.by_link = entry.by_link;
  spec.whole = entry.whole;
  spec.whole_bytes = entry.model;
  spec.aggregate = entry.aggregate;
  spec.stale = entry.stale;
  spec.pair = entry.pair;
  spec.tree = entry.tree;
  spec.anchors = entry.anchors;
  if (entry.packing) add_devices(*entry.packing, entry.compute, gpus, spec);
  spec.seed = seed;
  spec.stream = fmt::format("federated/{}/{}/asked", entry.name, job);
  try {
    plan.alone = time_alone(spec, submitted);
  } catch (const InputError& error) {
    Complaint found = error.complaints().front();
    found.key = found.key.empty() ? fmt::format("federated.{}", entry.name)
                                  : fmt::format("federated.{}.{}", entry.name, found.key);
    throw InputError{{std::move(found)}};
  }
  return plan;
}

}  // namespace contend
