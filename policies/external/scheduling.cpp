// A scheduling policy in another process. It hears in each pass what has changed since the last, and answers which jobs
// to start and which to preempt.

#include "policies/external/dialogue.hpp"
#include "policies/registry.hpp"
#include "sim/error.hpp"

#include <optional>
#include <utility>
#include <vector>

#include <fmt/core.h>

namespace contend {

namespace {

class ExternalScheduling final : public SchedulingPolicy {
 public:
  ExternalScheduling(const Parameters& parameters, const PolicyContext& context)
      : dialogue_{"scheduling", parameters, context} {}

  [[nodiscard]] PolicyKey key(const JobView& job) const override { return key_of(order_, job); }

  void queued(const JobView& job) override {
    note(job.id, State::waiting);
    queued_.push_back(job);
  }

  void left(JobId job) override {
    note(job, State::away);
    left_.push_back(job);
  }

  void pass(const ClusterView& cluster, SchedulingActions& actions) override {
    wake_ = Time::never();
    const Answer* const terms = dialogue_.hello({"order"});
    if (terms == nullptr) return;
    dialogue_.guard([&] { order_ = terms->order(); });
    std::vector<JobId> asked;
    bool again = false;
    int in_vain = 0;
    do {
      JsonWriter question = question_of(cluster, again, asked);
      const std::optional<Answer> answer = dialogue_.ask(
          question, {"start", "in_order", "start_preempting", "preempt", "again", "ask", "wake"}, JobId::none());
      if (!answer) return;
      dialogue_.guard([&] {
        carry_out(*answer, cluster, actions);
        asked = known_jobs(answer->ids("ask"));
        again = answer->flag("again") || !asked.empty();
        wake_ = answer->wake(cluster.now());
      });
      in_vain = started_.empty() && queued_.empty() ? in_vain + 1 : 0;
      if (in_vain == kMostInVain)
        dialogue_.fail(fmt::format("asked {} times at one instant to be asked again, and started nothing", in_vain));
    } while (again && !dialogue_.failed());
  }

  [[nodiscard]] Time next_decision(const ClusterView&) override { return wake_; }

 private:
  static constexpr int kMostInVain = 20'000;
  enum class State : std::uint8_t { unknown, waiting, running, away };

  void note(JobId job, State state) {
    if (states_.size() <= job.index()) states_.resize(job.index() + 1, State::unknown);
    states_[job.index()] = state;
  }

  /// The job with this number; throws InputError unless it is in this state.
  [[nodiscard]] JobId job_in(std::uint32_t number, State state, std::string_view verb) const {
    const State its = number < states_.size() ? states_[number] : State::unknown;
    const JobId job{number};
    if (its == State::unknown) throw InputError{fmt::format("can't {} job {}, which isn't queued yet", verb, number)};
    if (its != state)
      throw InputError{fmt::format("can't {} {}, which {}", verb, dialogue_.job_text(job),
                                   its == State::waiting   ? "waits"
                                   : its == State::running ? "runs"
                                                           : "has ended, or will be retried later")};
    return job;
  }

  [[nodiscard]] std::vector<JobId> known_jobs(const std::vector<std::uint32_t>& numbers) const {
    std::vector<JobId> jobs;
    for (const std::uint32_t number : numbers) {
      if (number >= states_.size() || states_[number] == State::unknown)
        throw InputError{fmt::format("asks for job {}, which isn't queued yet", number)};
      jobs.emplace_back(number);
    }
    return jobs;
  }

  /// All that has happened since the last question.
  [[nodiscard]] JsonWriter question_of(const ClusterView& cluster, bool again, const std::vector<JobId>& asked) {
    JsonWriter json{JsonWriter::Layout::line};
    json.begin_object().member("type", "pass").member("now", cluster.now().ns());
    json.member("free_gpus", cluster.free_gpus());
    if (again) json.member("again", true);
    if (!std::exchange(knows_cluster_, true)) {
      json.key("cluster").begin_object().member("servers", std::uint64_t{cluster.servers()});
      json.member("gpus", std::uint64_t{cluster.gpus()}).end_object();
    }
    write_ids(json, "started", std::exchange(started_, {}));
    write_ids(json, "refused", std::exchange(refused_, {}));
    write_ids(json, "left", std::exchange(left_, {}));
    write_jobs(json, "queued", std::exchange(queued_, {}));
    std::vector<JobView> views;
    for (const JobId job : asked) views.push_back(cluster.job(job));
    write_jobs(json, "jobs", views);
    json.end_object();
    return json;
  }

  void write_jobs(JsonWriter& json, std::string_view name, const std::vector<JobView>& jobs) const {
    if (jobs.empty()) return;
    json.key(name).begin_array();
    for (const JobView& job : jobs) dialogue_.write_job(json, job);
    json.end_array();
  }

  void carry_out(const Answer& answer, const ClusterView& cluster, SchedulingActions& actions) {
    for (const std::uint32_t number : answer.ids("preempt")) actions.preempt(job_in(number, State::running, "preempt"));
    const bool in_order = answer.flag("in_order");
    for (const std::uint32_t number : answer.ids("start")) {
      const JobId job = job_in(number, State::waiting, "start");
      if (!outcome(job, actions.start(job), cluster, actions) && in_order) break;
    }
    for (const Answer& each : answer.objects("start_preempting")) {
      constexpr std::string_view kMembers[] = {"job", "candidates"};
      each.allow(kMembers);
      const std::optional<std::uint64_t> number = each.whole("job");
      if (!number || *number >= UINT32_MAX)
        throw InputError{"answered nonsense: `start_preempting` needs a `job` in each of its objects"};
      const JobId job = job_in(static_cast<std::uint32_t>(*number), State::waiting, "start");
      std::vector<JobId> candidates;
      for (const std::uint32_t other : each.ids("candidates"))
        candidates.push_back(job_in(other, State::running, "preempt"));
      outcome(job, actions.start_preempting(job, candidates), cluster, actions);
    }
  }

  /// Notes whether a job has started, for the other side and for explanations.
  bool outcome(JobId job, bool has_started, const ClusterView& cluster, SchedulingActions& actions) {
    (has_started ? started_ : refused_).push_back(job);
    if (has_started) {
      if (states_[job.index()] == State::waiting) note(job, State::running);
    } else if (actions.recording()) {
      const JobView view = cluster.job(job);
      const bool over_quota = cluster.quota_left(view.vc) < view.gpus;
      actions.blocked(job, over_quota ? Why::quota : Why::no_place);
    }
    return has_started;
  }

  Dialogue dialogue_;
  ExternalOrder order_ = ExternalOrder::submit;
  Time wake_ = Time::never();
  bool knows_cluster_ = false;
  std::vector<State> states_;  // by job
  // What the other side has yet to hear.
  std::vector<JobView> queued_;
  std::vector<JobId> left_, started_, refused_;
};

}  // namespace

PolicyRow<SchedulingPolicy> external_scheduling() {
  return {.name = "external",
          .summary = "a program of the user decides, in any language (docs/howto/external-policy.md)",
          .source = "this project",
          .parameters = external_parameters(),
          .make = make_own<SchedulingPolicy, ExternalScheduling>,
          .is_outside = true};
}

}  // namespace contend
