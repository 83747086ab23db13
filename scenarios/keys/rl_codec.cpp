#include "scenarios/keys/rl_codec.hpp"

#include "scenarios/keys/key_rows.hpp"
#include "scenarios/keys/serving_codec.hpp"

#include <algorithm>
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

constexpr std::int64_t kMostGroups = 1'000'000, kMostTrainings = 1'000'000;

const RlEntry& usual_rl_entry() {
  static const RlEntry usual;
  return usual;
}

std::span<const MapMember<RlTraining>> training_rows() {
  using T = RlTraining;
  static const auto all = key_rows::with_texts(
      "rl.*.training", std::vector<MapMember<T>>{map_member<T>("entry", &T::entry, maybe(text_codec())),
                                                 map_member<T>("time", &T::time, quantity_codec(Time{}, kDay)),
                                                 map_member<T>("token", &T::token, quantity_codec(Time{}, kHour))});
  return all;
}

std::vector<MapMember<RlEntry>> work_rows() {
  using R = RlEntry;
  const Codec<std::int64_t> groups = integer_codec<std::int64_t>(1, kMostGroups);
  return {
      map_member<R>("rollout", &R::rollout, text_codec()),
      map_member<R>("rollout_gpus", &R::rollout_gpus, maybe(integer_codec<int>(1, 1'000'000))),
      map_member<R>("training", &R::training, key_rows::map_of(training_rows(), "{time: 60s}")),
      map_member<R>("trainings", &R::trainings, integer_codec<std::int64_t>(1, kMostTrainings)),
      map_member<R>("groups", &R::groups, groups),
      map_member<R>("answers", &R::answers, groups),
      map_member<R>("prompt", &R::prompt, length_codec()),
      map_member<R>("answer", &R::answer, length_codec()),
      map_member<R>("kept", &R::kept, number_codec(1e-3, 1)),
      map_member<R>("reward", &R::reward, quantity_codec(Time{}, kDay)),
      map_member<R>("weights", &R::weights, quantity_codec(Time{}, kDay)),
      map_member<R>("weights_bytes", &R::weights_bytes, quantity_codec(Bytes{}, Bytes{std::int64_t{1} << 50})),
      map_member<R>("weights_rate", &R::weights_rate, maybe(quantity_codec(ByteRate{1}, ByteRate{1e15}))),
      map_member<R>("switch", &R::change, quantity_codec(Time{}, kDay)),
  };
}

std::vector<MapMember<RlEntry>> mode_rows() {
  using R = RlEntry;
  return {
      map_member<R>("mode", &R::mode,
                    choice_codec<RlMode>({{"synchronous", RlMode::synchronous},
                                          {"one-step-off", RlMode::one_step_off},
                                          {"asynchronous", RlMode::asynchronous}})),
      map_member<R>("eta", &R::eta, number_codec(0, 1000)),
      map_member<R>("every", &R::every, integer_codec<std::int64_t>(1, kMostTrainings)),
      map_member<R>("concurrent", &R::concurrent, maybe(integer_codec<std::int64_t>(1, kMostGroups))),
      map_member<R>(
          "order", &R::order,
          choice_codec<BatchOrder>({{"submitted", BatchOrder::submitted}, {"finished", BatchOrder::finished}})),
      map_member<R>("partial", &R::partial, bool_codec()),
      map_member<R>("recompute", &R::recompute, bool_codec()),
  };
}

std::span<const MapMember<RlEntry>> rl_rows() {
  static const auto all = key_rows::with_texts("rl.*", table_of<MapMember<RlEntry>>({work_rows, mode_rows}));
  return all;
}

/// The complaints about one entry.
class RlCheck {
 public:
  RlCheck(const TrainingSystem& system, const RlEntry& entry, std::vector<Complaint>& found)
      : system_{system}, entry_{entry}, found_{found} {}

  void look() {
    if (names(system_.training, entry_.name) || names(system_.serving, entry_.name))
      add("", "training or serving has an entry of this name, and jobs name all by their model");
    if (!given("rollout"))
      add("", "rollout is missing", "an entry of serving, whose replicas answer the prompts");
    else
      look_at_rollout();
    if (!given("training")) add("", "training is missing", "such as training: {time: 60s}, or training: {entry: NAME}");
    if (entry_.training.entry && !names(system_.training, *entry_.training.entry))
      add("training.entry", fmt::format("{} is no entry of training", *entry_.training.entry));
    if (entry_.training.entry && (entry_.training.time > Time{} || entry_.training.token > Time{}))
      add("training", "an entry says how long a training takes, and so do time and token", "leave out one of both");
    look_at_mode();
    look_at_weights();
    const auto say = [this](std::string_view member, std::string reason, std::string hint) {
      add(member, std::move(reason), std::move(hint));
    };
    check_length(entry_.prompt, "prompt", say);
    check_length(entry_.answer, "answer", say);
  }

 private:
  static bool names(const auto& entries, const std::string& name) {
    return std::ranges::any_of(entries, [&](const auto& each) { return each.name == name; });
  }

  void look_at_rollout() {
    const auto rollout = std::ranges::find(system_.serving, entry_.rollout, &ServingEntry::name);
    if (rollout == system_.serving.end())
      add("rollout", fmt::format("{} is no entry of serving", entry_.rollout));
    else if (entry_.rollout_gpus && *entry_.rollout_gpus % rollout->gpus() != 0)
      add("rollout_gpus",
          fmt::format("{} GPUs are no whole replicas, each of which has {} (serving.{}.{})", *entry_.rollout_gpus,
                      rollout->gpus(), entry_.rollout, rollout->served.given() ? "parallel" : "gpus_per_replica"));
  }

  void look_at_mode() {
    const bool is_asynchronous = entry_.mode == RlMode::asynchronous;
    if (!is_asynchronous)
      for (const char* const member : {"eta", "every", "concurrent", "order", "partial", "recompute"})
        if (given(member)) add(member, "is for mode: asynchronous, in which answers of several ages are under way");
    if (entry_.recompute && !entry_.partial)
      add("recompute", "no answer is under way when weights move, as partial is false");
    if (entry_.mode != RlMode::synchronous && !entry_.rollout_gpus)
      add("", "rollout_gpus is missing", "generation and training at once need GPUs of their own");
    if (entry_.change > Time{} && entry_.rollout_gpus)
      add("switch", "no GPU changes sides: rollout_gpus says which generate");
  }

  void look_at_weights() {
    if (entry_.weights_rate && entry_.weights_bytes == Bytes{})
      add("weights_rate", "no bytes are sent at this rate", "such as weights_bytes: 64GB");
    if (entry_.weights_bytes > Bytes{} && !entry_.weights_rate && !entry_.rollout_gpus)
      add("weights_bytes", "all GPUs generate and train in turn, so nothing goes over the network",
          "a rate at which weights are copied: weights_rate");
  }

  [[nodiscard]] bool given(std::string_view member) const { return entry_.given.contains(member); }
  void add(std::string_view member, std::string reason, std::string hint = {}) {
    const std::string key = "rl." + entry_.name;
    found_.push_back({.key = member.empty() ? key : fmt::format("{}.{}", key, member),
                      .reason = std::move(reason),
                      .hint = std::move(hint)});
  }

  const TrainingSystem& system_;
  const RlEntry& entry_;
  std::vector<Complaint>& found_;
};

}  // namespace

Codec<std::vector<RlEntry>> rl_codec() {
  return entries_codec<RlEntry>({.members = rl_rows,
                                 .usual = usual_rl_entry,
                                 .why_not_named = why_no_entry_name,
                                 .example = "{math: {rollout: chat, training: {time: 60s}, groups: 128, answers: 16}}",
                                 .entry_example = "{rollout: chat, training: {time: 60s}, groups: 128, answers: 16}",
                                 .most = kMaxItems});
}

std::vector<Complaint> rl_complaints(const TrainingSystem& system) {
  std::vector<Complaint> found;
  for (const RlEntry& each : system.rl) RlCheck{system, each, found}.look();
  return found;
}

std::vector<MemberText> rl_members() {
  std::vector<MemberText> all = member_texts(rl_rows(), usual_rl_entry());
  for (MemberText& row : member_texts(training_rows(), RlTraining{})) {
    row.name = fmt::format("training.{}", row.name);
    all.push_back(std::move(row));
  }
  return all;
}

}  // namespace contend
