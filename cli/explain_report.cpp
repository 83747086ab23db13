#include "cli/explain_report.hpp"

#include "cli/explain_words.hpp"
#include "cli/study_explain.hpp"
#include "cli/text_table.hpp"
#include "results/folding_report.hpp"
#include "sim/counted.hpp"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

namespace contend {
namespace {

/// The most intervals of one wait that the text shows; the table and the JSON cover all.
constexpr std::size_t kShownIntervals = 12;
constexpr std::size_t kShownHolders = 4;
constexpr std::size_t kShownDelays = 8;

/// Seconds to the millisecond, without trailing zeros.
std::string seconds(Time time) {
  std::string text = fmt::format("{:.3f}", time.to_seconds());
  text.erase(text.find_last_not_of('0') + 1);
  if (text.back() == '.') text.pop_back();
  return text + " s";
}

class Story {
 public:
  explicit Story(const ExplainReport& report)
      : report_{report}, explanation_{report.job.explanation}, jobs_{report.job.result.jobs} {}

  std::string text() {
    const JobResult& job = self();
    out_ = fmt::format("{}: {}{}, in {} (seed {}, scheduling {}, placement {})\n\n", job.name,
                       job.model.empty() ? "" : job.model + ", ", gpus_text(job.gpus), report_.source, report_.seed,
                       report_.scheduling, report_.placement);
    line(job.submit, "submitted" + after_text());
    if (job.state == JobState::failed) line(job.submit, "fails: " + job.reason);
    std::size_t wait = 0;
    for (const JobAttempt& attempt : explanation_.attempts) {
      wait = tell_wait(wait, attempt.from);
      tell_start(attempt);
      tell_changes(attempt);
      tell_end(attempt);
    }
    if (job.state == JobState::given_up) line(job.finish, "ends for good: " + job.reason);
    const std::size_t rest = tell_wait(wait, Time::never());
    if (rest > wait) line(report_.job.result.end, "the run ends; the job still waits");
    tell_totals();
    tell_iteration();
    tell_delays();
    tell_down();
    tell_slow();
    tell_sharing();
    tell_folding();
    return std::move(out_);
  }

 private:
  [[nodiscard]] const JobResult& self() const { return of(report_.job.job); }
  [[nodiscard]] const JobResult& of(JobId job) const { return jobs_[job.index()]; }
  static std::string gpus_text(std::int64_t gpus) { return counted(gpus, "GPU"); }
  std::string holder_name(JobId job) const { return fmt::format("{} ({})", of(job).name, gpus_text(of(job).gpus)); }

  void line(Time at, const std::string& what) { out_ += fmt::format("{:>14}  {}\n", seconds(at), what); }

  static std::string servers_text(const GpusByServer& servers) {
    constexpr std::size_t kServersShown = 8;
    if (servers.empty()) return "no server: it had nothing to do";
    std::string out = servers.size() == 1 ? "server " : "servers ";
    for (std::size_t i = 0; i < std::min(servers.size(), kServersShown); ++i)
      out += fmt::format("{}{} ({})", i > 0 ? ", " : "", servers[i].first.value(), gpus_text(servers[i].second));
    if (servers.size() > kServersShown) out += fmt::format(" and {} more", servers.size() - kServersShown);
    return out;
  }

  static std::string out_of_service_text(const WaitInterval& wait) {
    if (wait.out_of_service.total() == 0) return {};
    std::string reasons;
    for (std::size_t i = 0; i < kOutReasons; ++i)
      if (const std::int64_t gpus = wait.out_of_service.gpus[i]; gpus > 0)
        reasons += fmt::format("{}{} {}", reasons.empty() ? "" : ", ", gpus, out_words(i).text);
    return fmt::format("up to {} out of service: {}", gpus_text(wait.out_of_service.total()), reasons);
  }

  std::string holders_text(const WaitInterval& wait) const {
    if (wait.running + wait.started == 0) return {};
    std::string out = fmt::format("{} held by {}", gpus_text(wait.held_gpus), counted(wait.running, "job"));
    if (wait.started > 0) out += fmt::format(" at first, and {} started meanwhile", counted(wait.started, "job"));
    const std::size_t shown = std::min(wait.holders.size(), kShownHolders);
    for (std::size_t i = 0; i < shown; ++i) {
      const GpuHolder& holder = wait.holders[i];
      out += fmt::format("{}{} ({}{}{})", i > 0 ? ", " : ": ", of(holder.job).name, gpus_text(holder.gpus),
                         holder.since > wait.from ? fmt::format(" from {}", seconds(holder.since)) : "",
                         holder.until == Time::never() ? "" : fmt::format(" until {}", seconds(holder.until)));
    }
    return out + (wait.running + wait.started > shown ? ", ..." : "");
  }

  /// Prints the intervals from number `first` on that end by `end`; returns the first one that does not.
  std::size_t tell_wait(std::size_t first, Time end) {
    std::size_t last = first;
    while (last < explanation_.waits.size() && explanation_.waits[last].to <= end) ++last;
    const std::size_t shown = std::min(last - first, kShownIntervals);
    for (std::size_t i = first; i < first + shown; ++i) {
      const WaitInterval& wait = explanation_.waits[i];
      line(wait.from, fmt::format("waits {}: {}", seconds(wait.length()), wait_cause(report_, wait)));
      const bool shows_holders = wait.why == Why::no_gpus || wait.why == Why::no_place || wait.why == Why::no_domain ||
                                 wait.why == Why::quota || wait.why == Why::passed_over;
      if (shows_holders)
        for (const std::string& each : {holders_text(wait), out_of_service_text(wait)})
          if (!each.empty()) out_ += fmt::format("{:>14}    {}\n", "", each);
      tell_reservations(wait.from, wait.to);
    }
    if (last - first > shown) {
      Time rest;
      for (std::size_t i = first + shown; i < last; ++i) rest += explanation_.waits[i].length();
      line(explanation_.waits[first + shown].from,
           fmt::format("waits {} more, in {} intervals (--json has them)", seconds(rest), last - first - shown));
      tell_reservations(explanation_.waits[first + shown].from, explanation_.waits[last - 1].to);
    }
    return last;
  }

  /// Of each wait the first reservation and the last one, if they were made in this time.
  void tell_reservations(Time from, Time to) {
    const auto tell = [&](const Reservation& made, const std::string& text) {
      if (made.made < from || made.made >= to) return;
      line(made.made, fmt::format("{}: {} from {} on", text, servers_text(made.servers), seconds(made.start)));
    };
    for (const Reservations& each : explanation_.reservations) {
      tell(each.first, report_.scheduling + " keeps a place for it");
      const std::string times = each.changes > 1 ? fmt::format(" for the {} time", ordinal(each.changes)) : "";
      if (each.changes > 0) tell(each.last, "its reservation changes" + times);
    }
  }

  /// The jobs after which it comes.
  [[nodiscard]] std::string after_text() const {
    std::string text;
    for (const JobId each : explanation_.after) text += (text.empty() ? ", after " : ", ") + of(each).name;
    return text;
  }

  /// The place that was kept for the job from this start on; nullptr if there was none.
  [[nodiscard]] const Reservation* kept_until(const JobAttempt& attempt) const {
    for (const Reservations& each : explanation_.reservations)
      if (each.last.start == attempt.from && each.last.made < attempt.from) return &each.last;
    return nullptr;
  }

  void tell_start(const JobAttempt& attempt) {
    std::string text = "starts on " + servers_text(attempt.servers);
    if (const Reservation* const kept = kept_until(attempt); kept != nullptr && kept->servers != attempt.servers)
      text += fmt::format(" in place of {}, because {} chose other servers when it started",
                          servers_text(kept->servers), report_.placement);
    if (attempt.restart() > Time{}) text += fmt::format(", and restarts for {}", seconds(attempt.restart()));
    line(attempt.from, text);
  }

  void tell_changes(const JobAttempt& attempt) {
    const auto& changes = attempt.changes;
    const std::size_t shown = std::min(changes.size(), kShownIntervals);
    for (std::size_t i = 0; i < shown; ++i) line(changes[i].first, changes[i].second);
    if (changes.size() > shown)
      line(changes[shown].first, fmt::format("{} more such changes (--json has them)", changes.size() - shown));
  }

  void tell_end(const JobAttempt& attempt) {
    switch (attempt.end) {
      case JobAttempt::End::open:
        tell_stall();
        line(report_.job.result.end, "the run ends; the job still runs");
        break;
      case JobAttempt::End::ended:
        line(attempt.to, fmt::format("finishes, {} after its submission", seconds(attempt.to - self().submit)));
        break;
      case JobAttempt::End::failed:
        line(attempt.to, "the attempt ends without success; the job will be tried again");
        tell_queued_again(attempt);
        break;
      case JobAttempt::End::resized:
        line(attempt.to, "gets another number of GPUs");
        break;
      case JobAttempt::End::interrupted:
        line(attempt.to, "interrupted: " + attempt.cause);
        tell_queued_again(attempt);
        break;
      case JobAttempt::End::preempted: {
        std::string by;
        for (const JobId job : attempt.successors) by += (by.empty() ? "" : ", ") + holder_name(job);
        line(attempt.to, by.empty() ? "preempted" : fmt::format("preempted by {}", by));
        break;
      }
    }
  }

  /// Why it will not go on: a transfer of it has no route.
  void tell_stall() {
    const std::optional<StalledTransfer>& stall = report_.job.stall;
    if (!stall) return;
    line(stall->since,
         fmt::format(
             "a transfer of it has no route from here on: links have failed, and no path from {} to {}{} is left",
             stall->from, stall->to, stall->goes_up_first ? " that goes up and then down" : ""));
  }

  /// A job is away for a while after a failure, which is neither on GPUs nor in the queue.
  void tell_queued_again(const JobAttempt& attempt) {
    if (attempt.queued_again == Time::never() || attempt.queued_again == attempt.to) return;
    const bool is_struck = attempt.end == JobAttempt::End::interrupted;
    line(attempt.queued_again,
         fmt::format("queues again, {} later: {}", seconds(attempt.queued_again - attempt.to),
                     is_struck ? "until then the failure is noticed and diagnosed" : "the delay of its retry"));
  }

  void tell_totals() {
    if (explanation_.waits.empty()) {
      out_ += "\nIt never waited in the queue.\n";
      return;
    }
    const Time waited = explanation_.waited();
    Table table{{"waited because", "intervals", "time [s]", "share [%]"}};
    const auto share = [&](Time time) {
      return fmt::format("{:.1f}", kPercent * time.to_seconds() / waited.to_seconds());
    };
    for (const CauseTotal& total : totals_by_cause(explanation_))
      table.add(
          {cause_name(total.why), fmt::format("{}", total.intervals), format_seconds(total.time), share(total.time)});
    table.add({"all", fmt::format("{}", explanation_.waits.size()), format_seconds(waited), share(waited)});
    out_ += "\n" + table.text();
    const Time first = explanation_.waited_before_start();
    if (first != waited) out_ += fmt::format("Until its first start it waited {}.\n", seconds(first));
  }

  /// For what one of its GPUs spent an iteration, on average, and which messages had to do with it.
  void tell_iteration() {
    if (!report_.job.iteration) return;
    const JobResult& job = self();
    const StudyMessages& iteration = *report_.job.iteration;
    out_ += fmt::format("\nFor what one of its GPUs spent an iteration, as a mean over {}:\n\n{}", job.iterations_done,
                        account_text(iteration));
    if (job.communication > Time{})
      out_ += fmt::format(
          "It had transfers in the network for {}, in {} of which others slowed them, and the communication policy "
          "held messages back for {}.\n",
          seconds(job.communication), seconds(job.contended), seconds(job.communication_wait));
    if (job.gpus > 1 && !iteration.phases.empty()) out_ += "\n" + phases_text(iteration, "An iteration");
  }

  /// On which links its transfers lost time, and because of which jobs.
  void tell_delays() {
    const std::vector<SharedDelay> delays = delays_of(report_);
    if (delays.empty()) return;
    Time all;
    for (const SharedDelay& each : delays) all += each.lost;
    const auto share = [this](Time lost) { return share_of_gpu_time(lost); };
    const SharedDelay& most = delays.front();
    out_ += fmt::format("\nIts transfers were behind {} on {} for {:.1f}% of its time on GPUs.\n",
                        most.by == report_.job.job ? "others of its own" : of(most.by).name,
                        place_of(report_.job.result, most), share(most.lost));
    Table table{{"because of", "on the link", "lost [s]", "of its time on GPUs [%]"}};
    const auto row = [&](const std::string& job, const std::string& link, Time lost) {
      table.add({job, link, fmt::format("{:.3f}", lost.to_seconds()), fmt::format("{:.1f}", share(lost))});
    };
    for (std::size_t i = 0; i < std::min(delays.size(), kShownDelays); ++i) {
      const SharedDelay& each = delays[i];
      row(each.by == report_.job.job ? "its own" : of(each.by).name, place_of(report_.job.result, each), each.lost);
    }
    row("all", "", all);
    out_ += "\nIts transfers took longer than alone in the network, where they shared links:\n\n" + table.text();
    out_ += "What it computes meanwhile may hide a part of that.\n";
  }

  /// Links that were down or slower at some time of the run, of its servers or such that it used.
  void tell_down() {
    const JobId job = report_.job.job;
    std::set<std::string> servers;
    for (const JobAttempt& attempt : explanation_.attempts)
      for (const auto& [server, gpus] : attempt.servers) servers.insert(fmt::format("server{}", server.value()));
    std::vector<const FabricLinkResult*> down;
    for (const FabricLinkResult& link : report_.job.result.fabric.links) {
      if (link.down + link.reduced == Time{}) continue;
      const bool uses = std::ranges::any_of(link.users, [job](const auto& user) { return user.job == job; });
      if (uses || is_of_any(link.name, servers)) down.push_back(&link);
    }
    if (down.empty()) return;
    std::ranges::stable_sort(down, [](const auto* a, const auto* b) {
      return std::pair{a->down, a->reduced} > std::pair{b->down, b->reduced};
    });
    Table table{{"link", "down for [s]", "reduced for [s]"}};
    for (std::size_t i = 0; i < std::min(down.size(), kShownDelays); ++i)
      table.add({down[i]->name, fmt::format("{:.3f}", down[i]->down.to_seconds()),
                 fmt::format("{:.3f}", down[i]->reduced.to_seconds())});
    out_ +=
        "\nLinks of its servers, or that it used, which were down or had a part of their bandwidth at some time of the "
        "run:\n\n" +
        table.text();
    if (down.size() > kShownDelays) out_ += fmt::format("{} more (fabric.csv has them)\n", down.size() - kShownDelays);
  }

  /// True if the link begins or ends at one of the servers, or at an interface of one: `server3->leaf0`.
  static bool is_of_any(const std::string& link, const std::set<std::string>& servers) {
    const std::size_t arrow = link.find("->");
    for (const std::string& end : {link.substr(0, arrow), arrow == std::string::npos ? "" : link.substr(arrow + 2)})
      if (servers.contains(end.substr(0, end.find('/')))) return true;
    return false;
  }

  [[nodiscard]] double share_of_gpu_time(Time time) const {
    Time on_gpus;
    for (const JobAttempt& attempt : explanation_.attempts)
      on_gpus += std::min(attempt.to, report_.job.result.end) - attempt.from;
    return kPercent * time.to_seconds() / std::max(on_gpus.to_seconds(), 1e-9);
  }

  /// Which components slowed it down.
  void tell_slow() {
    const std::vector<SlowTime>& slow = explanation_.slow;
    if (slow.empty()) return;
    Table table{{"slowed by", "times as long", "for [s]", "lost at most [s]", "of its time on GPUs [%]"}};
    for (std::size_t i = 0; i < std::min(slow.size(), kShownDelays); ++i) {
      const SlowTime& each = slow[i];
      table.add({each.what, fmt::format("{:g}", each.times), fmt::format("{:.3f}", each.time.to_seconds()),
                 fmt::format("{:.3f}", each.lost_at_most.to_seconds()),
                 fmt::format("{:.1f}", share_of_gpu_time(each.lost_at_most))});
    }
    out_ += "\nComponents that were slow for a while, of several at once the slowest:\n\n" + table.text();
    if (slow.size() > kShownDelays) out_ += fmt::format("{} more (--json has them)\n", slow.size() - kShownDelays);
  }

  /// Which jobs shared its GPUs, and how much that slowed it down.
  void tell_sharing() {
    const std::vector<SharedTime> shared = sharing_of(report_);
    if (shared.empty()) return;
    Table table{{"beside", "for [s]", "speed", "lost [s]", "of its time on GPUs [%]"}};
    const auto row = [&](const std::string& beside, Time time, Time lost) {
      table.add({beside, fmt::format("{:.3f}", time.to_seconds()),
                 fmt::format("{:.3f}", 1 - lost.to_seconds() / time.to_seconds()),
                 fmt::format("{:.3f}", lost.to_seconds()), fmt::format("{:.1f}", share_of_gpu_time(lost))});
    };
    for (std::size_t i = 0; i < std::min(shared.size(), kShownDelays); ++i)
      row(names_of(report_.job.result, shared[i].beside), shared[i].time, shared[i].lost);
    if (shared.size() > 1) row("all", self().shared, self().lost_to_sharing);
    out_ += "\nJobs that shared its GPUs, and its speed beside them over that alone:\n\n" + table.text();
    if (shared.size() > kShownDelays) out_ += fmt::format("{} more (--json has them)\n", shared.size() - kShownDelays);
  }

  /// How many of its GPUs and servers were simulated by themselves; nothing if this run was one that folds none.
  void tell_folding() {
    const std::optional<FoldingCounts>& folding = self().folding;
    if (folding && folding->gpus > folding->roles && !folding->unfolded.run_does_not_fold)
      out_ += fmt::format("\nSimulated: {}.\n", folding_text(*folding));
  }

  const ExplainReport& report_;
  const Explanation& explanation_;
  const std::vector<JobResult>& jobs_;
  std::string out_;
};

}  // namespace

std::string explanation_text(const ExplainReport& report) {
  return Story{report}.text();
}

}  // namespace contend
