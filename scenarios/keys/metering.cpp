#include "scenarios/keys/metering.hpp"

#include "scenarios/yaml/device_sheet.hpp"
#include "sim/complaints.hpp"
#include "text/words.hpp"
#include "traces/site_rates.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <iterator>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

#include <fmt/format.h>

namespace contend {
namespace {

// Parts of the power limit that GPUs draw while they idle, and between the iterations of a training job: of GPT-NeoX;
// of RoBERTa 0.75 and of Flan-T5 0.2 (Patel et al., POLCA, ASPLOS 2024, as notes on it say).
constexpr double kIdleShare = 0.2;
constexpr double kWaitingShare = 0.5;

double limit_of(const std::optional<DeviceChoice>& device) {
  return device && !device->profile ? sheet_of(*device).watts : 0;
}

class MeteringMaker {
 public:
  MeteringMaker(const ClusterSetup& cluster, const MeterSetup& meter)
      : cluster_{cluster}, sites_{meter.sites}, currency_{meter.currency} {
    if (meter.rates) complaints_.collect([&] { read(*meter.rates); });
    check_sites();
  }

  Metering make() {
    Metering made;
    if (cluster_.types.empty()) made.gpus.push_back(gpus_of("cluster", "", cluster_.power, cluster_.site, 0));
    for (const NamedServerType& type : cluster_.types)
      made.gpus.push_back(gpus_of("cluster.types", fmt::format("type `{}`: ", type.name),
                                  type.power ? type.power : cluster_.power,
                                  type.site.empty() ? cluster_.site : type.site, limit_of(type.device)));
    made.currency = currency_;
    complaints_.throw_if_any();
    return made;
  }

 private:
  void complain(std::string key, std::string reason, std::string hint = {}) {
    ++faults_;
    complaints_.add({.key = std::move(key), .reason = std::move(reason), .hint = std::move(hint)});
  }

  void read(const std::string& path) {
    SiteRatesTable table = read_site_rates(path);
    if (!currency_.empty() && !table.currency.empty() && currency_ != table.currency)
      complain("meter.currency", fmt::format("prices in {}, and {} has prices in {}", currency_, path, table.currency));
    if (!table.currency.empty()) currency_ = table.currency;
    std::ranges::move(table.sites, std::back_inserter(sites_));
  }

  /// Sites have names of their own and rates of equal kinds, so that sums over them mean something.
  void check_sites() {
    std::set<std::string_view> names;
    for (const SiteRates& site : sites_) {
      if (site.name.empty()) complain("meter.sites", "a site has no name");
      if (!names.insert(site.name).second) complain("meter.sites", fmt::format("there are two sites `{}`", site.name));
      constexpr std::array<std::pair<std::string_view, std::vector<double> SiteRates::*>, 3> kRates{
          {{"price", &SiteRates::price}, {"carbon", &SiteRates::carbon}, {"water", &SiteRates::water}}};
      for (const auto& [rate, list] : kRates)
        if ((site.*list).empty() != (sites_.front().*list).empty())
          complain("meter.sites", fmt::format("one of the sites `{}` and `{}` has no {}, and the other has one",
                                              sites_.front().name, site.name, rate));
    }
  }

  MeteredGpus gpus_of(const std::string& key, const std::string& whose, const std::optional<PowerSetup>& power,
                      const std::string& site, double limit) {
    MeteredGpus gpus{power_of(key, whose, power.value_or(PowerSetup{}), limit), {}};
    if (!site.empty() || sites_.size() > 1) {
      const auto found = std::ranges::find(sites_, site, &SiteRates::name);
      std::vector<std::string> names;
      for (const SiteRates& each : sites_) names.push_back(each.name);
      if (found == sites_.end())
        complain(key == "cluster" ? "cluster.site" : key,
                 site.empty() ? fmt::format("{}expected a `site`, one of {}", whose, join(names, " or "))
                              : fmt::format("{}the meter has no site `{}`", whose, site),
                 did_you_mean(site, names));
      else
        gpus.site = *found;
    } else if (!sites_.empty()) {
      gpus.site = sites_.front();
    }
    return gpus;
  }

  StatePower power_of(const std::string& key, const std::string& whose, const PowerSetup& given, double limit) {
    const std::string at = key == "cluster" ? "cluster.power" : key;
    const std::size_t faults = faults_;
    check_cap(at, whose, given);
    if (limit <= 0) limit = given.computing.value_or(given.curve.empty() ? 0 : given.curve.back().watts);
    StatePower power{given.idle.value_or(kIdleShare * limit), given.waiting.value_or(kWaitingShare * limit),
                     given.computing.value_or(limit)};
    if (limit <= 0)
      complain(at, fmt::format("{}no power while computing is known", whose),
               "give `power: {computing: 300}`, or types a `device` whose sheet has `watts`");
    if (faults != faults_) return power;
    if (given.limit && *given.limit < power.idle)
      complain(at,
               fmt::format("{}a limit of {:g} W is below the {:g} W of an idle GPU", whose, *given.limit, power.idle));
    if (given.is_capped()) power.computing = given.at_cap().watts;
    if (given.is_capped() && !given.waiting) power.waiting = std::min(power.waiting, power.computing);
    if (const double least = std::min(power.waiting, power.computing); power.idle > least)
      complain(at, fmt::format("{}{:g} W are less than the {:g} W of an idle GPU", whose, least, power.idle),
               "waiting and computing draw at least what idling draws");
    return power;
  }

  /// A cap is one of two kinds, and its curve reaches on both sides of it with points of that kind, which rise.
  void check_cap(const std::string& at, const std::string& whose, const PowerSetup& given) {
    if (given.limit && given.clock) complain(at, fmt::format("{}a limit and a clock: expected one cap", whose));
    if (given.is_capped() == given.curve.empty())
      complain(at, given.curve.empty()
                       ? fmt::format("{}a cap needs a `curve`, which says how much slower it makes the GPU", whose)
                       : fmt::format("{}a curve needs a cap: `limit` or `clock`", whose));
    if (!given.is_capped() || given.curve.empty()) return;
    const auto member = given.limit ? &CapPoint::limit : &CapPoint::clock;
    double last = 0;
    for (const CapPoint& point : given.curve) {
      if (!(point.*member) || (point.limit && point.clock))
        return complain(at, fmt::format("{}each point of the curve has a `{}`, as the cap", whose,
                                        given.limit ? "limit" : "clock"));
      if (*(point.*member) <= last)
        return complain(at, fmt::format("{}the caps of the curve rise, and {:g} doesn't", whose, *(point.*member)));
      last = *(point.*member);
    }
    const double first = *(given.curve.front().*member), cap = given.limit ? *given.limit : *given.clock;
    if (cap < first || cap > last)
      complain(at, fmt::format("{}the cap {:g} is outside of the curve, {:g} to {:g}", whose, cap, first, last));
  }

  const ClusterSetup& cluster_;
  std::vector<SiteRates> sites_;
  std::string currency_;
  Complaints complaints_;
  std::size_t faults_ = 0;
};

}  // namespace

bool meters(const ClusterSetup& cluster) {
  return cluster.power || std::ranges::any_of(cluster.types, [](const auto& type) { return type.power.has_value(); });
}

Metering metering_of(const ClusterSetup& cluster, const MeterSetup& meter) {
  return meters(cluster) ? MeteringMaker{cluster, meter}.make() : Metering{};
}

}  // namespace contend
