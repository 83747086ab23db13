#include "traces/site_rates.hpp"
#include "sim/error.hpp"

#include <string>
#include <vector>

#include <doctest/doctest.h>

using namespace contend;

namespace {

std::string rates_refusal(const std::string& text) {
  try {
    static_cast<void>(parse_site_rates(text, "r.csv"));
  } catch (const InputError& error) {
    return error.what();
  }
  return {};
}

}  // namespace

TEST_CASE("site rates: sites by hour, and the currency that the file names") {
  const SiteRatesTable table = parse_site_rates(
      "site,hour,EUR_per_kwh,g_per_kwh,pue\nparis,0,0.2,50,1.2\noslo,0,0.1,20,1.1\nparis,1,0.3,60.5,1.2\n", "r.csv");
  CHECK(table.currency == "EUR");
  REQUIRE(table.sites.size() == 2);
  CHECK(table.sites[0].name == "paris");
  CHECK(table.sites[0].price == std::vector<double>{0.2, 0.3});
  CHECK(table.sites[0].carbon == std::vector<double>{50, 60.5});
  CHECK(table.sites[0].water.empty());
  CHECK(table.sites[1].pue == 1.1);
  CHECK(parse_site_rates("site,hour,l_per_kwh\na,0,1.8\n", "r.csv").currency.empty());
}

TEST_CASE("site rates: holes and what isn't a rate are refused with their lines") {
  CHECK(rates_refusal("site,hour,g_per_kwh\na,0,1\na,2,1\n").find("r.csv:3: hour: expected hour 1 of \"a\", got 2") !=
        std::string::npos);
  CHECK(rates_refusal("site,hour,g_per_kwh\na,0,\n").find("r.csv:2: g_per_kwh: expected a number") !=
        std::string::npos);
  CHECK(rates_refusal("site,hour,g_per_kwh,pue\na,0,1,0.9\n").find("pue: expected a number >= 1") != std::string::npos);
  CHECK(rates_refusal("site,hour,g_per_kwh,pue\na,0,1,1\na,1,1,2\n").find("one value for all hours") !=
        std::string::npos);
  CHECK(rates_refusal("site,hour\na,0\n").find("no rates") != std::string::npos);
  CHECK(rates_refusal("site,hour,g_per_kwh\n").find("no rows") != std::string::npos);
  CHECK(rates_refusal("site,hour,kg_per_kw\na,0,1\n").find("unknown column \"kg_per_kw\"") != std::string::npos);
}
