#include "cli/topology_text.hpp"

#include "cli/text_table.hpp"
#include "text/json_writer.hpp"

#include <fmt/core.h>

namespace contend {
namespace {

std::string sizes_text(const std::string& name, const NetworkSetup& network, const TopologyReport& report) {
  const auto& spec = network.topology;
  std::string out = fmt::format("{}: a {} fabric around {} servers\n", name, spec.fabric.kind, spec.server.kind);
  const auto line = [&](std::string_view what, const std::string& value) {
    out += fmt::format("  {:<24}{}\n", what, value);
  };
  line("servers", fmt::format("{}", report.servers));
  line("GPUs", fmt::format("{}", report.gpus));
  line("interfaces", fmt::format("{}", report.nics));
  line("bridges in servers", fmt::format("{}", report.bridges));
  line("switches", fmt::format("{}", report.switches));
  line("diameter", fmt::format("{} links", report.diameter));
  line("bisection bandwidth", fmt::format("{} in the worst of {} halvings of the servers",
                                          format_rate(report.bisection.bandwidth), report.bisection.halvings));
  return out;
}

std::string or_dash(ByteRate rate) {
  return rate.bytes_per_second() > 0 ? format_rate(rate) : "-";
}

std::string oversubscription_text(const TierReport& tier) {
  return tier.oversubscription > 0 ? fmt::format("{:.3g}", tier.oversubscription) : "-";
}

}  // namespace

std::string topology_text(const std::string& name, const NetworkSetup& network, const TopologyReport& report) {
  std::string out = sizes_text(name, network, report) + "\n";
  Table tiers{{"tier", "switches", "from below", "upwards", "sideways", "oversubscription"}};
  for (const TierReport& tier : report.tiers)
    tiers.add({fmt::format("{}", tier.tier), fmt::format("{}", tier.switches), or_dash(tier.from_below),
               or_dash(tier.upwards), or_dash(tier.sideways), oversubscription_text(tier)});
  if (!report.tiers.empty()) out += tiers.text() + "\n";
  Table cables{{"place", "bandwidth", "cables", "one-way links"}};
  for (const CableCount& each : report.cables)
    cables.add({std::string{name_of(each.place)}, format_rate(each.bandwidth), fmt::format("{}", each.cables),
                fmt::format("{}", each.one_way)});
  return out + cables.text();
}

std::string topology_json(const std::string& name, const NetworkSetup& network, const TopologyReport& report) {
  JsonWriter json;
  const auto rate = [&](std::string_view what, ByteRate value) {
    json.member(fmt::format("{}_bytes_per_s", what), value.bytes_per_second());
  };
  const auto count = [&](std::string_view what, std::size_t value) { json.member(what, std::uint64_t{value}); };
  json.begin_object().member("scenario", name);
  json.member("fabric", network.topology.fabric.kind).member("server", network.topology.server.kind);
  count("servers", report.servers);
  count("gpus", report.gpus);
  count("nics", report.nics);
  count("bridges", report.bridges);
  count("switches", report.switches);
  count("diameter_links", report.diameter);
  rate("bisection", report.bisection.bandwidth);
  count("halvings_tried", report.bisection.halvings);
  json.key("tiers").begin_array();
  for (const TierReport& tier : report.tiers) {
    json.begin_object();
    count("tier", tier.tier);
    count("switches", tier.switches);
    rate("from_below", tier.from_below);
    rate("upwards", tier.upwards);
    rate("sideways", tier.sideways);
    json.key("oversubscription");
    if (tier.oversubscription > 0)
      json.value(tier.oversubscription);
    else
      json.null();
    json.end_object();
  }
  json.end_array().key("cables").begin_array();
  for (const CableCount& each : report.cables) {
    json.begin_object().member("place", name_of(each.place));
    rate("bandwidth", each.bandwidth);
    count("cables", each.cables);
    count("one_way_links", each.one_way);
    json.end_object();
  }
  json.end_array().end_object();
  return json.take();
}

}  // namespace contend
