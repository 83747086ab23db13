#include "scenarios/keys/power_row_codec.hpp"

#include "scenarios/keys/key_rows.hpp"
#include "scenarios/keys/serving_codec.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include <fmt/format.h>

namespace contend {
namespace {

using key_rows::kDay;
using key_rows::kHour;
using key_rows::maybe;

constexpr double kMostRowWatts = 1e9, kMostGpuWatts = 1e6, kFastestClock = 1e5;
constexpr std::size_t kMostCaps = 100;

const PowerRowEntry& usual_power_row() {
  static const PowerRowEntry usual;
  return usual;
}

/// A member of PowerRowEntry::row.
template <auto Pointer, class T>
MapMember<PowerRowEntry> row_member(std::string_view name, Codec<T> codec) {
  return {name,
          member_io<PowerRowEntry, T>(
              [](auto& e) -> auto& { return e.row.*Pointer; }, std::move(codec)),
          false,
          {}};
}

std::span<const MapMember<PowerRowEntry>> power_row_rows() {
  using R = PowerRowSpec;
  const Codec<double> share = number_codec(0, 1), mhz = number_codec(1, kFastestClock);
  const Codec<Time> delay = quantity_codec(Time{}, kDay);
  static const auto all = key_rows::with_texts(
      "power_rows.*",
      std::vector<MapMember<PowerRowEntry>>{
          row_member<&R::budget_w>("budget", number_codec(0, kMostRowWatts)),
          row_member<&R::base_w>("base", number_codec(0, kMostRowWatts)),
          row_member<&R::caps>("caps", choice_codec<RowCaps>({{"none", RowCaps::none}, {"polca", RowCaps::polca}})),
          row_member<&R::period>("period", quantity_codec(Time::milliseconds(1), kHour)),
          row_member<&R::low>("low", share), row_member<&R::high>("high", share),
          row_member<&R::release>("release", share),
          map_member<PowerRowEntry>("low_clock", &PowerRowEntry::low_clock, mhz),
          map_member<PowerRowEntry>("lower_clock", &PowerRowEntry::lower_clock, mhz),
          map_member<PowerRowEntry>("high_clock", &PowerRowEntry::high_clock, mhz),
          map_member<PowerRowEntry>("brake_clock", &PowerRowEntry::brake_clock, mhz),
          row_member<&R::delay>("delay", delay), row_member<&R::brake_delay>("brake_delay", delay)});
  return all;
}

std::span<const MapMember<DecodeWatts>> decode_watts_rows() {
  using D = DecodeWatts;
  constexpr std::int64_t kMostSequences = 100'000'000;
  static const auto all = key_rows::with_texts(
      "serving.*.power.decodes",
      std::vector<MapMember<D>>{
          map_member<D>("sequences", &D::sequences, integer_codec<std::int64_t>(1, kMostSequences)),
          map_member<D>("watts", &D::watts, number_codec(0, kMostGpuWatts))});
  return all;
}

std::span<const MapMember<ServicePower>> service_power_rows() {
  using Own = ServicePower;
  const Codec<double> watts = number_codec(0, kMostGpuWatts);
  const Codec<DecodeWatts> decode = key_rows::map_of(decode_watts_rows(), "{sequences: 64, watts: 260}");
  static const auto all = key_rows::with_texts(
      "serving.*.power",
      std::vector<MapMember<Own>>{
          map_member<Own>("idle", &Own::idle, watts), map_member<Own>("prompts", &Own::prompts, watts),
          map_member<Own>("decodes", &Own::decodes, numbered_list(decode, "points", kMostCaps)),
          map_member<Own>("curve", &Own::curve, numbered_list(cap_point_codec(), "points", kMostCaps)),
          map_member<Own>("row", &Own::row, maybe(text_codec())),
          map_member<Own>("priority", &Own::priority,
                          choice_codec<RowPriority>({{"low", RowPriority::low}, {"high", RowPriority::high}}))});
  return all;
}

void check_row(const PowerRowEntry& entry, const AddComplaint& add) {
  const PowerRowSpec& row = entry.row;
  if (!(row.budget_w > 0)) add("", "budget is missing: the power in W that the row may draw", "such as budget: 100000");
  if (row.base_w >= row.budget_w && row.budget_w > 0)
    add("base", fmt::format("{:g} W are all of the budget, {:g} W", row.base_w, row.budget_w), "less than the budget");
  if (row.low <= 0 || row.low > row.high)
    add("low", fmt::format("expected a share above 0, and at most high, {:g}; got {:g}", row.high, row.low),
        "such as low: 0.8, high: 0.89");
  if (row.release >= row.low)
    add("release", fmt::format("no power is {:g} below {:g}, so caps would never be released", row.release, row.low),
        "less than low");
  if (row.caps == RowCaps::none)
    for (const char* const member :
         {"low", "high", "release", "low_clock", "lower_clock", "high_clock", "brake_clock", "delay", "brake_delay"})
      if (entry.given.contains(member)) add(member, "is for caps: polca, and this row has none", "leave either out");
}

/// The curve of a service has clocks that rise, and reaches to each clock that its row commands.
void check_curve(const ServicePower& power, const PowerRowEntry* row, const AddComplaint& add) {
  double last = 0;
  for (const CapPoint& point : power.curve) {
    if (!point.clock || point.limit) return add("power.curve", "each point has a clock, and no limit", {});
    if (*point.clock <= last)
      return add("power.curve", fmt::format("the clocks rise, and {:g} doesn't", *point.clock), {});
    last = *point.clock;
    if (point.pace > 1 || point.decode_pace() > 1)
      return add("power.curve",
                 fmt::format("at {:g} MHz a GPU works {:g} times as fast as uncapped", *point.clock,
                             std::max(point.pace, point.decode_pace())),
                 "a pace and decode of at most 1");
    if (point.watts < power.idle)
      return add("power.curve",
                 fmt::format("at {:g} MHz a GPU draws {:g} W, less than the {:g} W of an idle one", *point.clock,
                             point.watts, power.idle),
                 "at least idle");
  }
  if (row == nullptr || row->row.caps == RowCaps::none) return;
  if (power.curve.empty())
    return add(
        "power",
        fmt::format("curve is missing: what GPUs draw and do at the clocks that power_rows.{} commands", row->name),
        "such as curve: [{clock: 288, watts: 120, pace: 0.2}, {clock: 1410, watts: 400, pace: 1}]");
  const double first = *power.curve.front().clock;
  for (const double clock : {row->low_clock, row->lower_clock, row->high_clock, row->brake_clock})
    if (clock < first || clock > last)
      return add("power.curve",
                 fmt::format("power_rows.{} commands {:g} MHz, outside of the curve, {:g} to {:g}", row->name, clock,
                             first, last),
                 "points on both sides");
}

void check_power(const TrainingSystem& system, const ServingEntry& entry, const AddComplaint& add) {
  const ServicePower& power = *entry.power;
  if (power.prompts <= 0 || power.prompts < power.idle)
    add("power",
        fmt::format("prompts, the power of a GPU that computes prompts, is {:g} W, and idle {:g} W", power.prompts,
                    power.idle),
        "such as power: {idle: 80, prompts: 400}");
  for (std::size_t i = 1; i < power.decodes.size(); ++i)
    if (power.decodes[i].sequences <= power.decodes[i - 1].sequences)
      return add("power.decodes", "the numbers of sequences rise",
                 "such as [{sequences: 1, watts: 236}, {sequences: 64, watts: 256}]");
  for (const DecodeWatts& each : power.decodes)
    if (each.watts < power.idle)
      return add("power.decodes",
                 fmt::format("a GPU that decodes {} sequences draws {:g} W, less than the {:g} W of an idle one",
                             each.sequences, each.watts, power.idle),
                 "at least idle");
  const auto row =
      power.row ? std::ranges::find(system.power_rows, *power.row, &PowerRowEntry::name) : system.power_rows.end();
  if (power.row && row == system.power_rows.end())
    return add("power.row", fmt::format("{} is no entry of power_rows", *power.row), {});
  if (std::ranges::find(system.rl, entry.name, &RlEntry::rollout) != system.rl.end())
    return add("power", "rows act on jobs that serve, and an entry of rl generates with it", "an entry without power");
  check_curve(power, power.row ? &*row : nullptr, add);
}

}  // namespace

Codec<CapPoint> cap_point_codec() {
  const Codec<std::optional<double>> pace = maybe(number_codec(1e-3, 1e3));
  return map_codec<CapPoint>(
      {field("limit", &CapPoint::limit, maybe(number_codec(0, kMostGpuWatts))),
       field("clock", &CapPoint::clock, maybe(number_codec(1, kFastestClock))),
       field("watts", &CapPoint::watts, number_codec(0, kMostGpuWatts), true),
       field("pace", &CapPoint::pace, number_codec(1e-3, 1e3), true), field("decode", &CapPoint::decode, pace)},
      "{limit: 150, watts: 144.6, pace: 0.847}");
}

Codec<std::vector<PowerRowEntry>> power_rows_codec() {
  return entries_codec<PowerRowEntry>({.members = power_row_rows,
                                       .usual = usual_power_row,
                                       .why_not_named = why_no_entry_name,
                                       .example = "{inference: {budget: 100000}}",
                                       .entry_example = "{budget: 100000}",
                                       .most = kMaxItems});
}

Codec<std::optional<ServicePower>> service_power_codec() {
  return key_rows::maybe_map(service_power_rows(), "{idle: 80, prompts: 400, row: inference}");
}

std::vector<Complaint> power_row_complaints(const TrainingSystem& system) {
  std::vector<Complaint> found;
  const auto to = [&found](std::string key) {
    return [&found, key = std::move(key)](std::string_view member, std::string reason, std::string hint) {
      found.push_back({.key = member.empty() ? key : fmt::format("{}.{}", key, member),
                       .reason = std::move(reason),
                       .hint = std::move(hint)});
    };
  };
  for (const PowerRowEntry& each : system.power_rows) check_row(each, to("power_rows." + each.name));
  for (const ServingEntry& each : system.serving)
    if (each.power) check_power(system, each, to("serving." + each.name));
  return found;
}

std::vector<MemberText> power_row_members() {
  return member_texts(power_row_rows(), usual_power_row());
}

std::vector<MemberText> service_power_members() {
  std::vector<MemberText> all = member_texts(service_power_rows(), ServicePower{});
  for (MemberText& row : member_texts(decode_watts_rows(), DecodeWatts{})) {
    row.name = fmt::format("decodes.{}", row.name);
    all.push_back(std::move(row));
  }
  return all;
}

}  // namespace contend
