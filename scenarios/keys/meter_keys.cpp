#include "scenarios/keys/key_tables.hpp"

#include "scenarios/keys/key_rows.hpp"
#include "scenarios/keys/metering.hpp"
#include "scenarios/keys/power_row_codec.hpp"
#include "scenarios/keys/setup_codecs.hpp"

#include <string>
#include <utility>
#include <vector>

namespace contend {
namespace {

using key_rows::maybe;
using key_rows::row;
using key_rows::where;

constexpr double kMostWatts = 1e6;
constexpr double kMostMhz = 1e5;
constexpr std::size_t kMostPoints = 100;
constexpr double kMostRate = 1e6;
constexpr std::size_t kMostSites = 1'000;

bool is_metered(const Scenario& scenario) {
  return meters(scenario.cluster);
}

constexpr std::string_view kNeedsPower = "cluster.power, or `power` of types in cluster.types";

}  // namespace

Codec<std::optional<PowerSetup>> power_codec(bool with_caps) {
  const Codec<std::optional<double>> watts = maybe(number_codec(0, kMostWatts));
  const Codec<std::optional<double>> mhz = maybe(number_codec(1, kMostMhz));
  std::vector<MapMember<PowerSetup>> members{field("idle", &PowerSetup::idle, watts),
                                             field("waiting", &PowerSetup::waiting, watts),
                                             field("computing", &PowerSetup::computing, watts)};
  if (with_caps) {
    members.push_back(field("limit", &PowerSetup::limit, watts));
    members.push_back(field("clock", &PowerSetup::clock, mhz));
    members.push_back(field("curve", &PowerSetup::curve, numbered_list(cap_point_codec(), "points", kMostPoints)));
  }
  return maybe(map_codec<PowerSetup>(std::move(members), "{idle: 60, waiting: 150, computing: 300}"));
}

std::vector<ScenarioKey> meter_keys() {
  const Codec<SiteRates> site = map_codec<SiteRates>(
      {field("name", &SiteRates::name, text_codec(), true), field("pue", &SiteRates::pue, number_codec(1, 10)),
       field("price", &SiteRates::price, hourly_codec(kMostRate)),
       field("carbon", &SiteRates::carbon, hourly_codec(kMostRate)),
       field("water", &SiteRates::water, hourly_codec(kMostRate))},
      "{name: oregon, pue: 1.1, carbon: 60}");
  return {
      row<&ClusterSetup::power>("cluster.power", power_codec(false)),
      where(row<&ClusterSetup::site>("cluster.site", text_codec()), is_metered, kNeedsPower),
      where(row<&MeterSetup::sites>("meter.sites", numbered_list(site, "sites", kMostSites)), is_metered, kNeedsPower),
      where(row<&MeterSetup::rates>("meter.rates", maybe(path_codec())), is_metered, kNeedsPower),
      where(row<&MeterSetup::currency>("meter.currency", text_codec()), is_metered, kNeedsPower),
  };
}

}  // namespace contend
