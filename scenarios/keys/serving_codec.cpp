#include "scenarios/keys/serving_codec.hpp"

#include "models/parallel/transformer_catalogue.hpp"
#include "scenarios/keys/device_codec.hpp"
#include "scenarios/keys/key_rows.hpp"
#include "scenarios/keys/power_row_codec.hpp"
#include "scenarios/keys/setup_codecs.hpp"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include <fmt/format.h>

namespace contend {
namespace {

using Served = ServingEntry;
using key_rows::kDay;
using key_rows::kHour;
using key_rows::map_of;
using key_rows::maybe;
using key_rows::maybe_map;

constexpr std::int64_t kMostTokens = 100'000'000, kMostBlocks = 1'000'000'000;
constexpr int kMostReplicas = 1'000'000;

const Served& usual_service() {
  static const Served usual = [] {
    Served entry;
    entry.replica.batch = 256;
    entry.replica.block = 16;
    return entry;
  }();
  return usual;
}

/// A member of a member of an entry.
template <class T, class Member>
MapMember<Served> inner_member(std::string_view name, Member member, Codec<T> codec) {
  return {name, member_io<Served, T>(member, std::move(codec)), false, {}};
}

/// A term of the law, which counts in picoseconds.
template <std::int64_t StepLaw::*Term>
MapMember<StepLaw> step_term(std::string_view name) {
  static constexpr std::int64_t kPicoseconds = 1000;
  return {name,
          property_io<StepLaw, Time>([](const StepLaw& law) { return Time::nanoseconds(law.*Term / kPicoseconds); },
                                     [](StepLaw& law, Time time) { law.*Term = time.ns() * kPicoseconds; },
                                     quantity_codec(Time{}, kHour)),
          false,
          {}};
}

std::span<const MapMember<StepLaw>> step_rows() {
  static const auto all = key_rows::with_texts(
      "serving.*.step", std::vector<MapMember<StepLaw>>{
                            step_term<&StepLaw::overhead>("overhead"), step_term<&StepLaw::sequence>("sequence"),
                            step_term<&StepLaw::weights>("weights"), step_term<&StepLaw::token>("token"),
                            step_term<&StepLaw::cache>("cache"), step_term<&StepLaw::pair>("pair")});
  return all;
}

std::span<const MapMember<LengthSetup>> length_rows() {
  using L = LengthSetup;
  constexpr double kLongest = 1e7, kWidest = 100;
  static const auto all = key_rows::with_texts(
      "serving.*.requests.prompt",
      std::vector<MapMember<L>>{
          map_member<L>("mean", &L::mean, number_codec(1, kLongest)),
          map_member<L>("cv", &L::cv, number_codec(0, kWidest)),
          map_member<L>("cap", &L::cap, optional_codec(integer_codec<std::int64_t>(1, kMostTokens), "none")),
          map_member<L>("quantiles", &L::quantiles, list_codec(number_codec(0, kLongest), "numbers of tokens"))});
  return all;
}

std::span<const MapMember<RequestsSetup>> request_rows() {
  using R = RequestsSetup;
  constexpr double kMostRequestRate = 1e6;
  static const auto all = key_rows::with_texts(
      "serving.*.requests",
      std::vector<MapMember<R>>{
          map_member<R>("trace", &R::trace, maybe(path_codec())),
          map_member<R>("cache", &R::cache, maybe(integer_codec<std::int64_t>(1, kMostBlocks))),
          map_member<R>("rate", &R::rate, hourly_codec(kMostRequestRate)),
          map_member<R>("gap_cv", &R::gap_cv, number_codec(0.01, 1000)),
          map_member<R>("prompt", &R::prompt, length_codec()), map_member<R>("answer", &R::answer, length_codec()),
          map_member<R>("prefixes", &R::prefixes, integer_codec<std::int64_t>(0, kMostTokens)),
          map_member<R>("hits", &R::hits, number_codec(0, 1)),
          map_member<R>("until", &R::until, maybe(quantity_codec(Time::nanoseconds(1), 3650 * kDay)))});
  return all;
}

std::span<const MapMember<ServiceTargets>> target_rows() {
  using T = ServiceTargets;
  const Codec<std::optional<Time>> time = maybe(quantity_codec(Time::nanoseconds(1), kDay));
  static const auto all = key_rows::with_texts(
      "serving.*.targets",
      std::vector<MapMember<T>>{map_member<T>("ttft", &T::ttft, time), map_member<T>("tpot", &T::tpot, time)});
  return all;
}

std::span<const MapMember<ApartSetup>> apart_rows() {
  using A = ApartSetup;
  static const auto all = key_rows::with_texts(
      "serving.*.apart",
      std::vector<MapMember<A>>{map_member<A>("prefill", &A::prefill, integer_codec<int>(1, kMostReplicas)),
                                map_member<A>("latency", &A::latency, quantity_codec(Time{}, kHour)),
                                map_member<A>("per_token", &A::per_token, quantity_codec(Time{}, kHour))});
  return all;
}

std::span<const MapMember<DraftSetup>> draft_rows() {
  using D = DraftSetup;
  static const auto all = key_rows::with_texts(
      "serving.*.drafts", std::vector<MapMember<D>>{map_member<D>("tokens", &D::tokens, integer_codec<int>(1, 64)),
                                                    map_member<D>("accepted", &D::accepted, number_codec(0, 1))});
  return all;
}

std::span<const MapMember<ScaleSetup>> scale_rows() {
  using S = ScaleSetup;
  constexpr double kMostLoad = 1e6;
  static const auto all = key_rows::with_texts(
      "serving.*.scale",
      std::vector<MapMember<S>>{map_member<S>("min", &S::min, integer_codec<int>(1, kMostReplicas)),
                                map_member<S>("max", &S::max, integer_codec<int>(1, kMostReplicas)),
                                map_member<S>("up", &S::up, number_codec(0, kMostLoad)),
                                map_member<S>("down", &S::down, number_codec(0, kMostLoad)),
                                map_member<S>("period", &S::period, quantity_codec(Time::nanoseconds(1), kDay)),
                                map_member<S>("cold_start", &S::cold_start, quantity_codec(Time{}, kDay))});
  return all;
}

std::span<const MapMember<ServedDegrees>> degree_rows() {
  using D = ServedDegrees;
  const Codec<int> degree = integer_codec<int>(1, 1024);
  static const auto all = key_rows::with_texts(
      "serving.*.parallel", std::vector<MapMember<D>>{map_member<D>("tensor", &D::tensor, degree),
                                                      map_member<D>("pipeline", &D::pipeline, degree),
                                                      map_member<D>("expert", &D::expert, degree)});
  return all;
}

std::span<const MapMember<ServedHost>> host_rows() {
  using H = ServedHost;
  const Codec<Time> time = quantity_codec(Time{}, kHour);
  static const auto all = key_rows::with_texts(
      "serving.*.host",
      std::vector<MapMember<H>>{map_member<H>("step", &H::step, time), map_member<H>("sequence", &H::sequence, time)});
  return all;
}

template <auto Pointer, class T>
MapMember<Served> model_member(std::string_view name, Codec<T> codec) {
  return inner_member<T>(
      name, [](auto& e) -> auto& { return e.served.*Pointer; }, std::move(codec));
}

std::vector<MapMember<Served>> model_rows() {
  using M = ServedModel;
  return {
      model_member<&M::name>("model", maybe(name_codec(transformer_names(), "names of `contend list transformers`"))),
      model_member<&M::config>("config", maybe(path_codec())),
      model_member<&M::device>("device", maybe(device_codec())),
      model_member<&M::type>("dtype", data_type_codec({DataType::fp8})),
      model_member<&M::cache_type>("kv_dtype", maybe(data_type_codec({DataType::fp8}))),
      model_member<&M::parallel>("parallel", map_of(degree_rows(), "{tensor: 4}")),
      model_member<&M::memory_share>("memory_share", number_codec(0.01, 1)),
      model_member<&M::context>("context", integer_codec<std::int64_t>(1, kMostTokens)),
      model_member<&M::host>("host", map_of(host_rows(), "{step: 1ms, sequence: 20us}")),
  };
}

std::vector<MapMember<Served>> replica_rows() {
  using Blocks = std::optional<std::int64_t>;
  const auto get_blocks = [](const Served& e) {
    return e.replica.blocks == ReplicaSpec::kUnlimited ? Blocks{} : Blocks{e.replica.blocks};
  };
  const auto set_blocks = [](Served& e, Blocks value) { e.replica.blocks = value.value_or(ReplicaSpec::kUnlimited); };
  std::vector<MapMember<Served>> rows{
      map_member<Served>("gpus_per_replica", &Served::gpus_per_replica, integer_codec<int>(1, 1024)),
      inner_member<StepLaw>(
          "step", [](auto& e) -> auto& { return e.replica.law; },
          map_of(step_rows(), "{overhead: 1ms, weights: 7ms, token: 30us, cache: 46ns}")),
      inner_member<std::int64_t>(
          "batch", [](auto& e) -> auto& { return e.replica.batch; }, integer_codec<std::int64_t>(1, kMostTokens)),
      inner_member<std::int64_t>(
          "tokens", [](auto& e) -> auto& { return e.replica.tokens; }, integer_codec<std::int64_t>(1, kMostTokens)),
      inner_member<std::int64_t>(
          "block", [](auto& e) -> auto& { return e.replica.block; }, integer_codec<std::int64_t>(1, kMostTokens)),
      {"blocks",
       property_io<Served, Blocks>(get_blocks, set_blocks,
                                   optional_codec(integer_codec<std::int64_t>(1, kMostBlocks), "none")),
       false,
       {}},
      inner_member<bool>(
          "chunked", [](auto& e) -> auto& { return e.replica.chunked; }, bool_codec()),
  };
  return rows;
}

std::vector<MapMember<Served>> service_rows() {
  return {
      map_member<Served>("route", &Served::route,
                         choice_codec<RequestRouting>({{"round", RequestRouting::round_robin},
                                                       {"least", RequestRouting::least},
                                                       {"prefix", RequestRouting::affinity}})),
      map_member<Served>("requests", &Served::requests, map_of(request_rows(), "{trace: requests.csv}")),
      map_member<Served>("targets", &Served::targets, map_of(target_rows(), "{ttft: 2s, tpot: 50ms}")),
      map_member<Served>("apart", &Served::apart,
                         maybe_map(apart_rows(), "{prefill: 2, latency: 10us, per_token: 3us}")),
      map_member<Served>("drafts", &Served::drafts, maybe_map(draft_rows(), "{tokens: 3, accepted: 0.8}")),
      map_member<Served>("scale", &Served::scale,
                         maybe_map(scale_rows(), "{min: 2, max: 8, up: 40, down: 15, cold_start: 90s}")),
      map_member<Served>("power", &Served::power, service_power_codec()),
  };
}

std::span<const MapMember<Served>> serving_rows() {
  static const auto all =
      key_rows::with_texts("serving.*", table_of<MapMember<Served>>({model_rows, replica_rows, service_rows}));
  return all;
}

/// A step is given, or a model from which it follows.
template <class Add>
void check_step(const Served& entry, const Add& add) {
  const ServedModel& served = entry.served;
  if (!served.given()) {
    for (const char* const member : {"device", "dtype", "kv_dtype", "parallel", "memory_share", "context", "host"})
      if (entry.given.contains(member)) add(member, "says how a model is served, and there is none", "give a model");
    if (!entry.given.contains("step"))
      add("", "how long a step takes is missing",
          "such as step: {weights: 7ms, token: 30us}, or a model and its device");
    return;
  }
  if (served.name && served.config) add("config", "the entry has a model already", "leave either out");
  if (entry.given.contains("step"))
    add("step", "the step of a model follows from its operators", "leave it out, and give what the host takes as host");
  if (entry.given.contains("gpus_per_replica"))
    add("gpus_per_replica", "a replica of a model has tensor x pipeline GPUs", "give the degrees in parallel");
  if (served.device && served.device->profile)
    add("device", "the memory of a replica and its experts follow from a sheet, and a profile has none",
        "name a sheet");
}

template <class Add>
void check_requests(const Served& entry, bool answers_rl, const Add& add) {
  const RequestsSetup& requests = entry.requests;
  const bool has_law = requests != RequestsSetup{.trace = requests.trace, .cache = requests.cache};
  if (!entry.given.contains("requests")) {
    if (!answers_rl)
      add("", "requests is missing",
          "such as {trace: requests.csv}, or {rate: 5, until: 1h, prompt: {mean: 1000}, answer: {mean: 200}}");
  } else if (requests.trace && has_law)
    add("requests", "a trace has the times and lengths of requests, so laws have no effect", "leave either out");
  else if (!requests.trace && requests.cache)
    add("requests.cache", "laws don't say of which blocks prompts consist", "a share of each prompt as hits");
  else if (!requests.trace &&
           (std::ranges::none_of(requests.rate, [](double rate) { return rate > 0; }) || !requests.until))
    add("requests", "without a trace it needs a rate, and until when requests come", "such as {rate: 5, until: 1h}");
  check_length(requests.prompt, "requests.prompt", add);
  check_length(requests.answer, "requests.answer", add);
}

template <class Add>
void check_scale(const Served& entry, bool answers_rl, const Add& add) {
  if (!entry.scale) return;
  if (answers_rl)
    add("scale", "an entry of rl generates with it, and says itself how many GPUs do", "an entry without scale");
  const ScaleSetup& rule = *entry.scale;
  if (rule.up == 0) add("scale.up", "the load at which one more replica is asked for is missing", "such as up: 64");
  if (rule.min > rule.max)
    add("scale.min", fmt::format("is more than max, {}", rule.max), "as many replicas as max, or fewer");
  if (rule.down > rule.up)
    add("scale.down",
        fmt::format("is more than up, {:g}, so replicas would stop at a load at which they start", rule.up),
        "less than up");
  if (entry.apart)
    add("scale", "replicas for prefill and for decode have loads of their own, and the rule counts one load",
        "leave out apart or scale");
}

}  // namespace

void check_length(const LengthSetup& length, std::string_view member, const AddComplaint& add) {
  const std::vector<double>& quantiles = length.quantiles;
  const bool has_mean = length.mean != LengthSetup{}.mean || length.cv != 0;
  if (quantiles.empty()) return;
  if (has_mean) add(member, "quantiles are the whole law, so mean and cv have no effect", "leave either out");
  if (quantiles.size() < 2 || !std::ranges::is_sorted(quantiles))
    add(fmt::format("{}.quantiles", member), "expected at least two lengths that don't fall",
        "such as [1, 500, 2000]: the shortest, the median and the longest");
}

Codec<LengthSetup> length_codec() {
  return map_of(length_rows(), "{mean: 1000, cv: 1, cap: 8000}");
}

Codec<std::vector<ServingEntry>> serving_codec() {
  return entries_codec<ServingEntry>({.members = serving_rows,
                                      .usual = usual_service,
                                      .why_not_named = why_no_entry_name,
                                      .example = "{chat: {step: {weights: 7ms}, requests: {trace: requests.csv}}}",
                                      .entry_example = "{step: {weights: 7ms}, requests: {trace: requests.csv}}",
                                      .most = kMaxItems});
}

std::vector<Complaint> serving_complaints(const TrainingSystem& system) {
  std::vector<Complaint> found;
  for (const ServingEntry& each : system.serving) {
    const std::string key = "serving." + each.name;
    const auto add = [&](std::string_view member, std::string reason, std::string hint = {}) {
      found.push_back({.key = member.empty() ? key : fmt::format("{}.{}", key, member),
                       .reason = std::move(reason),
                       .hint = std::move(hint)});
    };
    if (std::ranges::find(system.training, each.name, &TrainingEntry::name) != system.training.end())
      add("", "training has an entry of this name, and jobs name either by their model");
    check_step(each, add);
    const bool answers_rl = std::ranges::find(system.rl, each.name, &RlEntry::rollout) != system.rl.end();
    check_scale(each, answers_rl, add);
    check_requests(each, answers_rl, add);
  }
  return found;
}

std::vector<MemberText> serving_members() {
  std::vector<MemberText> all;
  const auto add = [&](std::string_view group, std::vector<MemberText> rows) {
    for (MemberText& row : rows) {
      if (!group.empty()) row.name = fmt::format("{}.{}", group, row.name);
      all.push_back(std::move(row));
    }
  };
  add("", member_texts(serving_rows(), usual_service()));
  add("parallel", member_texts(degree_rows(), ServedDegrees{}));
  add("host", member_texts(host_rows(), ServedHost{}));
  add("step", member_texts(step_rows(), StepLaw{}));
  add("requests", member_texts(request_rows(), RequestsSetup{}));
  add("requests.prompt", member_texts(length_rows(), LengthSetup{}));
  add("targets", member_texts(target_rows(), ServiceTargets{}));
  add("apart", member_texts(apart_rows(), ApartSetup{}));
  add("drafts", member_texts(draft_rows(), DraftSetup{}));
  add("scale", member_texts(scale_rows(), ScaleSetup{}));
  add("power", service_power_members());
  return all;
}

}  // namespace contend
