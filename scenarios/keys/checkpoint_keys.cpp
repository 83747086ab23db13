#include "scenarios/keys/key_rows.hpp"
#include "scenarios/keys/key_tables.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

namespace contend {
namespace {

using key_rows::kDay;
using key_rows::maybe;
using key_rows::row;
using key_rows::where;

constexpr std::string_view kNeedsPeriod = "checkpoints.policy: synchronous or asynchronous";

bool has_period(const Scenario& scenario) {
  return scenario.checkpoints.has_period();
}

/// A quantity, or a word in its place.
template <class T, class Q>
Codec<T> quantity_or_word(Codec<Q> quantity, std::string kind, std::string word, Q T::*value, bool T::*is_word) {
  Codec<T> codec;
  codec.type = fmt::format("{} or {}", kind, word);
  codec.range = quantity.range;
  codec.schema = [=](JsonWriter& json) { any_of_schema(json, quantity.schema, word_schema(word)); };
  codec.read = [=](const YamlNode& node, const Reading& reading, T& result) {
    T made;
    made.*is_word = node.kind == YamlNode::Kind::scalar && node.text == word;
    const std::size_t complaints = reading.complaints.size();
    if (!(made.*is_word)) quantity.read(node, reading, made.*value);
    if (reading.complaints.size() == complaints) result = made;
    if (reading.complaints.size() > complaints && reading.complaints.back().hint.empty())
      reading.complaints.back().hint = fmt::format("`{}` is possible, too", word);
  };
  codec.print = [=](const T& each) { return each.*is_word ? word : quantity.print(each.*value); };
  codec.plain = [=](const T& each, PartNames apart) -> std::optional<PlainValue> {
    if (each.*is_word) return PlainValue{word, std::nullopt};
    return plain_value(quantity, each.*value, apart);
  };
  return codec;
}

Codec<CheckpointPeriod> period_codec() {
  return quantity_or_word(quantity_codec(Time{}, 365 * kDay), "time", "optimal", &CheckpointPeriod::time,
                          &CheckpointPeriod::optimal);
}

Codec<CheckpointSize> size_codec() {
  return quantity_or_word(quantity_codec(Bytes{1}, Bytes{std::int64_t{1} << 50}), "bytes", "auto",
                          &CheckpointSize::bytes, &CheckpointSize::of_model);
}

std::vector<ScenarioKey> stop_keys() {
  return {
      row<&CheckpointSetup::policy>("checkpoints.policy",
                                    choice_codec<CheckpointPolicy>({{"continuous", CheckpointPolicy::continuous},
                                                                    {"none", CheckpointPolicy::none},
                                                                    {"synchronous", CheckpointPolicy::synchronous},
                                                                    {"asynchronous", CheckpointPolicy::asynchronous},
                                                                    {"just-in-time", CheckpointPolicy::just_in_time}})),
      where(row<&CheckpointSetup::period>("checkpoints.period", period_codec()), has_period, kNeedsPeriod),
      where(row<&CheckpointSetup::iterations>("checkpoints.iterations",
                                              maybe(integer_codec<std::int64_t>(1, 1'000'000'000))),
            has_period, kNeedsPeriod),
      where(
          row<&CheckpointSetup::cost>("checkpoints.cost", quantity_codec(Time{}, kDay)),
          [](const Scenario& s) {
            return s.checkpoints.has_period() || s.checkpoints.policy == CheckpointPolicy::just_in_time;
          },
          "checkpoints.policy: synchronous, asynchronous or just-in-time"),
      where(
          row<&CheckpointSetup::persist>("checkpoints.persist", quantity_codec(Time{}, 365 * kDay)),
          [](const Scenario& s) { return s.checkpoints.policy == CheckpointPolicy::asynchronous; },
          "checkpoints.policy: asynchronous"),
  };
}

bool is_synchronous(const Scenario& scenario) {
  return scenario.checkpoints.policy == CheckpointPolicy::synchronous;
}

std::vector<ScenarioKey> start_keys() {
  return {
      row(
          "checkpoints.start_up.mean", [](auto& s) -> auto& { return s.checkpoints.start.mean; },
          quantity_codec(Time{}, kDay)),
      where(
          row(
              "checkpoints.start_up.deviation", [](auto& s) -> auto& { return s.checkpoints.start.deviation; },
              quantity_codec(Time{}, kDay)),
          [](const Scenario& s) { return s.checkpoints.start.given(); }, "checkpoints.start_up.mean above 0"),
      where(row<&CheckpointSetup::lifetime>("checkpoints.lifetime",
                                            maybe(quantity_codec(Time::nanoseconds(1), 365 * kDay))),
            is_synchronous, "checkpoints.policy: synchronous"),
  };
}

std::vector<ScenarioKey> writing_keys() {
  return {
      where(row<&CheckpointSetup::size>("checkpoints.size", maybe(size_codec())), has_period, kNeedsPeriod),
      where(row<&CheckpointSetup::rate>("checkpoints.rate", maybe(quantity_codec(ByteRate{1'000}, ByteRate{1e18}))),
            has_period, kNeedsPeriod),
      where(row<&CheckpointSetup::store>("checkpoints.store", maybe(quantity_codec(ByteRate{1'000}, ByteRate{1e18}))),
            has_period, kNeedsPeriod),
      where(
          row<&CheckpointSetup::copy_rate>("checkpoints.copy_rate",
                                           maybe(quantity_codec(ByteRate{1'000}, ByteRate{1e18}))),
          [](const Scenario& s) { return s.checkpoints.policy == CheckpointPolicy::asynchronous; },
          "checkpoints.policy: asynchronous"),
      row<&CheckpointSetup::restart>("checkpoints.restart_cost", quantity_codec(Time{}, kDay)),
  };
}

}  // namespace

std::vector<ScenarioKey> checkpoint_keys() {
  return table_of<ScenarioKey>({stop_keys, writing_keys, start_keys});
}

}  // namespace contend
