#pragma once
// Dialogue is the conversation with a policy outside of the program: one JSON object a line, each question answered by
// one line. docs/howto/external-policy.md describes the protocol; `external` is the name of such a policy in scenarios.

#include "policies/external/partner.hpp"
#include "policies/registry.hpp"
#include "sim/error.hpp"
#include "sim/policy_failure.hpp"
#include "text/json_reader.hpp"
#include "text/json_writer.hpp"

#include <chrono>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace contend {

/// The version of the protocol that this program speaks.
inline constexpr std::uint64_t kPolicyProtocol = 1;

/// The parameters of every policy outside of the program.
[[nodiscard]] std::span<const ParameterInfo> external_parameters();

/// The order in which an external policy wants the tasks, or messages, of jobs that meet. The engine computes the keys
/// itself, because it needs them at nearly every event and relies on how they change.
enum class ExternalOrder : std::uint8_t { submit, remaining_time, remaining_service };
[[nodiscard]] PolicyKey key_of(ExternalOrder order, const JobView& job);

/// An answer of the other side. Each function throws InputError for a member of the wrong type.
class Answer {
 public:
  Answer() = default;
  explicit Answer(JsonValue value) : value_{std::move(value)} {}
  /// Throws InputError if there is a member of another name, or the member `error`, with which the other side says that
  /// it can't decide.
  void allow(std::span<const std::string_view> names) const;
  [[nodiscard]] bool flag(std::string_view name) const;  ///< false if it isn't there
  [[nodiscard]] std::string text(std::string_view name) const;
  [[nodiscard]] std::optional<std::uint64_t> whole(std::string_view name) const;
  /// A list of numbers of jobs or GPUs; empty if it isn't there.
  [[nodiscard]] std::vector<std::uint32_t> ids(std::string_view name) const;
  [[nodiscard]] std::vector<bool> flags(std::string_view name) const;
  /// A list of objects; empty if it isn't there.
  [[nodiscard]] std::vector<Answer> objects(std::string_view name) const;
  [[nodiscard]] ExternalOrder order() const;
  /// The instant at which the policy wants to be asked again, later than `now`; Time::never() if it isn't there.
  [[nodiscard]] Time wake(Time now) const;

 private:
  [[nodiscard]] const JsonValue* list(std::string_view name) const;
  JsonValue value_;
};

class Dialogue {
 public:
  /// `kind`: the kind of the policy, such as `scheduling`. Throws InputError if there is no command.
  Dialogue(std::string_view kind, const Parameters& parameters, const PolicyContext& context);
  ~Dialogue();
  Dialogue(const Dialogue&) = delete;
  Dialogue& operator=(const Dialogue&) = delete;

  /// Starts the other side at the first call. Returns its answer to `hello`, which may have these members beside
  /// `protocol` and `name`; nullptr if it has failed.
  const Answer* hello(std::initializer_list<std::string_view> members);
  /// Asks a question and returns the answer, which may have these members; nothing if the policy has failed. `about` is
  /// the job that the question is about, for the message of a failure; none() if it is about several.
  std::optional<Answer> ask(JsonWriter& question, std::initializer_list<std::string_view> members, JobId about);
  /// Calls `use`, and records an InputError that it throws as a failure of the policy.
  template <class Use>
  void guard(const Use& use) {
    try {
      use();
    } catch (const InputError& error) {
      fail(error.what());
    }
  }
  /// Records why the policy can't decide any more and ends the other side. `reason` follows the name of the policy.
  /// Throws InputError if there is nowhere to record it.
  void fail(const std::string& reason);
  [[nodiscard]] bool failed() const { return failed_; }
  /// A job for messages, such as `job "a"`.
  [[nodiscard]] std::string job_text(JobId job) const;
  /// Writes what a policy may know of a job; what has its usual value is left out.
  void write_job(JsonWriter& json, const JobView& job) const;

 private:
  [[nodiscard]] static Answer parse(const std::string& line);

  std::string kind_, command_, name_ = "external";
  std::chrono::nanoseconds timeout_{};
  std::uint64_t seed_ = 0;
  std::function<std::string(JobId)> job_name_;
  std::shared_ptr<PolicyFailure> failure_;
  bool failed_ = false;
  std::optional<Answer> terms_;
  std::unique_ptr<Partner> partner_;
};

/// Writes a list of ids under this name, unless it is empty.
template <class Id>
void write_ids(JsonWriter& json, std::string_view name, const std::vector<Id>& ids) {
  if (ids.empty()) return;
  json.key(name).begin_array();
  for (const Id id : ids) json.value(std::uint64_t{id.value()});
  json.end_array();
}

}  // namespace contend
