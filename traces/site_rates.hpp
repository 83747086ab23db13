#pragma once
// A table (CSV) of the figures of a kWh at each site in each hour: `site`, `hour`, and any of `CUR_per_kwh`, whose name
// says the currency of prices, `g_per_kwh` (g CO2e) and `l_per_kwh` (litres of water); `pue`, one value for all hours
// of a site, may be there, too.

#include "models/energy/meter.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace contend {

struct SiteRatesTable {
  std::vector<SiteRates> sites;  ///< in order of their first rows
  std::string currency;          ///< empty without prices
};

/// Throws InputError with every fault: hours of a site that do not follow each other from 0, fields that are no numbers
/// >= 0, no column with rates.
[[nodiscard]] SiteRatesTable parse_site_rates(std::string_view text, const std::string& file);
[[nodiscard]] SiteRatesTable read_site_rates(const std::string& path);

}  // namespace contend
