#include "policies/external/dialogue.hpp"

#include "policies/external/child.hpp"
#include "policies/external/in_process.hpp"
#include "sim/cluster.hpp"
#include "sim/error.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include <fmt/format.h>

namespace contend {

namespace {

constexpr std::string_view kAnswerName = "its answer";

/// The beginning of an answer, for messages.
std::string excerpt(std::string_view line) {
  constexpr std::size_t kMost = 80;
  std::string text;
  append_json_string(text, line.substr(0, kMost));
  return line.size() > kMost ? text + "..." : text;
}

[[noreturn]] void wrong_type(std::string_view name, std::string_view expected, const JsonValue& found) {
  throw InputError{fmt::format("answered nonsense: `{}` must be {}, and is {}", name, expected, kind_name(found.kind))};
}

std::unique_ptr<Partner> partner_of(const std::string& command) {
  if (command.starts_with(kInProcess)) return in_process_partner(command);
  return std::make_unique<Child>(command);
}

std::uint32_t id_of(std::string_view name, const JsonValue& value) {
  const std::optional<std::uint64_t> number = value.whole();
  if (!number || *number >= UINT32_MAX) wrong_type(name, "a list of whole numbers", value);
  return static_cast<std::uint32_t>(*number);
}

}  // namespace

std::span<const ParameterInfo> external_parameters() {
  static constexpr ParameterInfo kParameters[] = {{"command", std::string_view{}, 0, 0,
                                                   "the policy: a program that /bin/sh starts in the current folder, "
                                                   "such as `python3 my_policy.py`, or `unix:` and "
                                                   "the path of a socket where it waits; required"},
                                                  {"timeout_s", 30.0, 0.001, 86'400, "longest time for an answer, s"}};
  return kParameters;
}

PolicyKey key_of(ExternalOrder order, const JobView& job) {
  switch (order) {
    case ExternalOrder::submit:
      break;
    case ExternalOrder::remaining_time:
      return job.remaining_service.ns() / job.gpus;
    case ExternalOrder::remaining_service:
      return job.remaining_service.ns();
  }
  return job.submit.ns();
}

void Answer::allow(std::span<const std::string_view> names) const {
  if (const std::string reason = text("error"); !reason.empty()) throw InputError{"said: " + reason};
  for (const std::string& name : value_.names) {
    if (std::ranges::find(names, name) != names.end()) continue;
    const std::string near = nearest_name(name, {names.begin(), names.end()});
    throw InputError{fmt::format("answered nonsense: no member `{}` belongs here{}", name,
                                 near.empty() ? "" : fmt::format("; did you mean `{}`?", near))};
  }
}

bool Answer::flag(std::string_view name) const {
  const JsonValue* const value = value_.find(name);
  if (value == nullptr) return false;
  if (!value->is(JsonValue::Kind::boolean)) wrong_type(name, "true or false", *value);
  return value->boolean;
}

std::string Answer::text(std::string_view name) const {
  const JsonValue* const value = value_.find(name);
  if (value == nullptr) return {};
  if (!value->is(JsonValue::Kind::string)) wrong_type(name, "a text", *value);
  return value->text;
}

std::optional<std::uint64_t> Answer::whole(std::string_view name) const {
  const JsonValue* const value = value_.find(name);
  if (value == nullptr) return std::nullopt;
  const std::optional<std::uint64_t> number = value->whole();
  if (!number) wrong_type(name, "a whole number", *value);
  return number;
}

const JsonValue* Answer::list(std::string_view name) const {
  const JsonValue* const value = value_.find(name);
  if (value != nullptr && !value->is(JsonValue::Kind::array)) wrong_type(name, "a list", *value);
  return value;
}

std::vector<std::uint32_t> Answer::ids(std::string_view name) const {
  std::vector<std::uint32_t> result;
  if (const JsonValue* const all = list(name))
    for (const JsonValue& item : all->items) result.push_back(id_of(name, item));
  return result;
}

std::vector<bool> Answer::flags(std::string_view name) const {
  std::vector<bool> result;
  if (const JsonValue* const all = list(name)) {
    for (const JsonValue& item : all->items) {
      if (!item.is(JsonValue::Kind::boolean)) wrong_type(name, "a list of true and false", item);
      result.push_back(item.boolean);
    }
  }
  return result;
}

std::vector<Answer> Answer::objects(std::string_view name) const {
  std::vector<Answer> result;
  if (const JsonValue* const all = list(name)) {
    for (const JsonValue& item : all->items) {
      if (!item.is(JsonValue::Kind::object)) wrong_type(name, "a list of objects", item);
      result.emplace_back(item);
    }
  }
  return result;
}

ExternalOrder Answer::order() const {
  const std::string word = text("order");
  if (word.empty() || word == "submit") return ExternalOrder::submit;
  if (word == "remaining_time") return ExternalOrder::remaining_time;
  if (word == "remaining_service") return ExternalOrder::remaining_service;
  throw InputError{
      fmt::format("answered nonsense: `order` must be submit, remaining_time or remaining_service, and is `{}`", word)};
}

Time Answer::wake(Time now) const {
  const std::optional<std::uint64_t> at = whole("wake");
  if (!at) return Time::never();
  if (*at <= static_cast<std::uint64_t>(now.ns()) || *at >= static_cast<std::uint64_t>(kEndOfClock.ns()))
    throw InputError{fmt::format("answered nonsense: `wake` must be later than now, {} ns, and is {}", now.ns(), *at)};
  return Time::nanoseconds(static_cast<std::int64_t>(*at));
}

Dialogue::Dialogue(std::string_view kind, const Parameters& parameters, const PolicyContext& context)
    : kind_{kind},
      command_{parameters.get<std::string>("command")},
      timeout_{static_cast<std::int64_t>(std::ceil(parameters.get<double>("timeout_s") * 1e9))},
      seed_{context.seed},
      job_name_{context.job_name},
      failure_{context.failure} {
  if (command_.empty())
    throw InputError{{.key = fmt::format("policies.{}.command", kind),
                      .reason = "the policy external needs a command",
                      .hint = "such as \"python3 my_policy.py\""}};
}

Dialogue::~Dialogue() {
  if (!partner_ || failed_) return;
  JsonWriter json{JsonWriter::Layout::line};
  json.begin_object().member("type", "bye").end_object();
  partner_->tell(json.take());
}

const Answer* Dialogue::hello(std::initializer_list<std::string_view> members) {
  if (terms_ || failed_) return terms_ ? &*terms_ : nullptr;
  JsonWriter json{JsonWriter::Layout::line};
  json.begin_object().member("type", "hello").member("protocol", kPolicyProtocol);
  json.member("contend", CONTEND_VERSION).member("kind", kind_).member("seed", seed_).end_object();
  std::vector<std::string_view> names{"protocol", "name"};
  guard([&] {
    partner_ = partner_of(command_);
    Answer answer = parse(partner_->ask(json.take(), timeout_));
    if (const std::string reason = answer.text("error"); !reason.empty()) throw InputError{"said: " + reason};
    const std::optional<std::uint64_t> version = answer.whole("protocol");
    if (version != kPolicyProtocol)
      throw InputError{fmt::format("speaks {} of the protocol; this program speaks version {}",
                                   version ? fmt::format("version {}", *version) : "no version", kPolicyProtocol)};
    names.insert(names.end(), members.begin(), members.end());
    answer.allow(names);
    if (const std::string name = answer.text("name"); !name.empty()) name_ = name;
    terms_ = std::move(answer);
  });
  return terms_ ? &*terms_ : nullptr;
}

std::optional<Answer> Dialogue::ask(JsonWriter& question, std::initializer_list<std::string_view> members,
                                    JobId about) {
  if (failed_) return std::nullopt;
  try {
    Answer answer = parse(partner_->ask(question.take(), timeout_));
    answer.allow(std::span{members.begin(), members.size()});
    return answer;
  } catch (const InputError& error) {
    fail(about.valid() ? fmt::format("{}, asked about {}", error.what(), job_text(about)) : error.what());
    return std::nullopt;
  }
}

Answer Dialogue::parse(const std::string& line) {
  JsonValue value;
  try {
    TextSource source{line};
    value = read_json(source, std::string{kAnswerName});
  } catch (const InputError& error) {
    throw InputError{fmt::format("answered nonsense: {}, and not a JSON object: {}", excerpt(line),
                                 error.complaints().front().reason)};
  }
  if (!value.is(JsonValue::Kind::object))
    throw InputError{fmt::format("answered nonsense: {}, and not a JSON object", excerpt(line))};
  return Answer{std::move(value)};
}

void Dialogue::fail(const std::string& reason) {
  if (failed_) return;
  failed_ = true;
  if (partner_) partner_->kill();
  const std::string text = fmt::format("{} policy `{}` (command `{}`) {}", kind_, name_, command_, reason);
  if (!failure_) throw InputError{text};
  failure_->record(text);
}

std::string Dialogue::job_text(JobId job) const {
  return job_name_ ? fmt::format("job `{}`", job_name_(job)) : fmt::format("job {}", job.value());
}

void Dialogue::write_job(JsonWriter& json, const JobView& job) const {
  const auto number = [&](std::string_view name, std::int64_t value, std::int64_t usual) {
    if (value != usual) json.member(name, value);
  };
  const auto gpu_time = [&](std::string_view name, GpuTime value) {
    json.key(name).raw(fmt::format("{}", value.ns()));
  };
  json.begin_object().member("id", std::uint64_t{job.id.value()});
  if (job_name_) json.member("name", job_name_(job.id));
  json.member("submit", job.submit.ns()).member("tie", job.tie).member("gpus", job.gpus);
  gpu_time("total_service", job.total_service);
  gpu_time("remaining_service", job.remaining_service);
  if (job.attained_service != GpuTime{}) gpu_time("attained_service", job.attained_service);
  if (job.limit) json.member("limit", job.limit->ns());
  number("memory_per_gpu", job.memory_per_gpu.count(), 0);
  number("gpu_share", RankDemand{job}.share, 0);
  number("milli_cpus", job.milli_cpus, 0);
  number("host_memory", job.host_memory.count(), 0);
  number("priority", job.priority, 0);
  number("vc", job.vc, -1);
  number("user", job.user, -1);
  number("gpu_type", job.gpu_type, -1);
  if (job.timed) json.member("timed", true);
  if (job.running) json.member("running", true);
  json.member("since", job.since.ns()).end_object();
}

}  // namespace contend
