// The JSON of `contend explain`.

#include "cli/explain_report.hpp"
#include "cli/explain_words.hpp"
#include "cli/study_explain.hpp"
#include "results/folding_report.hpp"
#include "text/decimal.hpp"
#include "text/json_writer.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace contend {
namespace {

void write_time(JsonWriter& json, const char* name, Time time) {
  json.key(name);
  if (time == Time::never())
    json.null();
  else
    json.raw(format_seconds(time));
}

void write_waits(JsonWriter& json, const ExplainReport& report) {
  const std::vector<JobResult>& jobs = report.job.result.jobs;
  json.key("waits").begin_array();
  for (const WaitInterval& wait : report.job.explanation.waits) {
    json.begin_object();
    write_time(json, "from_s", wait.from);
    write_time(json, "to_s", wait.to);
    json.member("cause", cause_name(wait.why)).member("text", wait_cause(report, wait));
    json.key("by");
    if (wait.by.valid())
      json.value(jobs[wait.by.index()].name);
    else
      json.null();
    for (const auto& [name, place] : {std::pair{"in_line_first", wait.first}, {"in_line_last", wait.last}}) {
      if (place.place == 0) continue;
      json.key(name).begin_object().member("type", server_type_name(report, place.type)).member("place", place.place);
      json.end_object();
    }
    json.member("running_jobs", std::uint64_t{wait.running}).member("held_gpus", wait.held_gpus);
    json.member("started_jobs", std::uint64_t{wait.started});
    json.member("out_of_service_gpus", wait.out_of_service.total()).key("out_of_service").begin_object();
    for (std::size_t i = 0; i < kOutReasons; ++i) json.member(out_words(i).name, wait.out_of_service.gpus[i]);
    json.end_object();
    json.key("largest_holders").begin_array();
    for (const GpuHolder& holder : wait.holders) {
      json.begin_object().member("job_id", jobs[holder.job.index()].name).member("gpus", holder.gpus);
      write_time(json, "since_s", holder.since);
      write_time(json, "until_s", holder.until);
      json.end_object();
    }
    json.end_array().end_object();
  }
  json.end_array();
}

void write_servers(JsonWriter& json, const GpusByServer& servers) {
  json.key("servers").begin_array();
  for (const auto& [server, gpus] : servers)
    json.begin_object().member("server", std::int64_t{server.value()}).member("gpus", gpus).end_object();
  json.end_array();
}

void write_reservations(JsonWriter& json, const Explanation& explanation) {
  json.key("reservations").begin_array();
  for (const Reservations& each : explanation.reservations) {
    json.begin_object();
    for (const auto& [name, made] : {std::pair{"first", &each.first}, {"last", &each.last}}) {
      json.key(name).begin_object().key("made_s").raw(format_seconds(made->made));
      json.key("start_s").raw(format_seconds(made->start));
      write_servers(json, made->servers);
      json.end_object();
    }
    json.member("changes", std::uint64_t{each.changes}).end_object();
  }
  json.end_array();
}

void write_attempts(JsonWriter& json, const ExplainReport& report) {
  static const std::map<JobAttempt::End, const char*> words{
      {JobAttempt::End::open, "end of the run"}, {JobAttempt::End::ended, "finished"},
      {JobAttempt::End::preempted, "preempted"}, {JobAttempt::End::failed, "failed"},
      {JobAttempt::End::resized, "resized"},     {JobAttempt::End::interrupted, "interrupted"}};
  json.key("attempts").begin_array();
  for (const JobAttempt& attempt : report.job.explanation.attempts) {
    json.begin_object();
    write_time(json, "from_s", attempt.from);
    write_time(json, "to_s", attempt.to);
    write_time(json, "restart_s", attempt.restart());
    write_time(json, "queued_again_s", attempt.queued_again);
    json.member("ended_by", words.at(attempt.end)).member("cause", attempt.cause);
    write_servers(json, attempt.servers);
    json.key("changes").begin_array();
    for (const auto& [at, what] : attempt.changes) {
      json.begin_object();
      write_time(json, "at_s", at);
      json.member("what", what).end_object();
    }
    json.end_array().key("preempted_by").begin_array();
    for (const JobId job : attempt.successors) json.value(report.job.result.jobs[job.index()].name);
    json.end_array().end_object();
  }
  json.end_array();
}

void write_delays(JsonWriter& json, const ExplainReport& report) {
  const RunResult& run = report.job.result;
  json.key("delays").begin_array();
  for (const SharedDelay& each : delays_of(report)) {
    json.begin_object().member("by", run.jobs[each.by.index()].name).member("link", place_of(run, each));
    write_time(json, "lost_s", each.lost);
    json.end_object();
  }
  json.end_array();
}

/// Of a transfer that has no route when the run ends.
void write_stall(JsonWriter& json, const ExplainReport& report) {
  const std::optional<StalledTransfer>& stall = report.job.stall;
  if (!stall) return;
  json.key("without_route").begin_object();
  write_time(json, "since_s", stall->since);
  json.member("from", stall->from).member("to", stall->to).member("goes_up_first", stall->goes_up_first);
  json.end_object();
}

void write_slow(JsonWriter& json, const Explanation& explanation) {
  json.key("slow").begin_array();
  for (const SlowTime& each : explanation.slow) {
    json.begin_object().member("component", each.what).member("times", each.times);
    write_time(json, "time_s", each.time);
    write_time(json, "lost_at_most_s", each.lost_at_most);
    json.end_object();
  }
  json.end_array();
}

void write_sharing(JsonWriter& json, const ExplainReport& report) {
  json.key("sharing").begin_array();
  for (const SharedTime& each : sharing_of(report)) {
    json.begin_object().key("beside").begin_array();
    for (const JobId job : each.beside) json.value(report.job.result.jobs[job.index()].name);
    json.end_array();
    write_time(json, "shared_s", each.time);
    write_time(json, "lost_s", each.lost);
    json.end_object();
  }
  json.end_array();
}

}  // namespace

std::string explanation_json(const ExplainReport& report) {
  const JobResult& job = report.job.result.jobs[report.job.job.index()];
  JsonWriter json;
  json.begin_object().member("job_id", job.name).member("model", job.model).member("gpus", job.gpus);
  json.member("state", to_string(job.state)).member("seed", report.seed);
  json.member("scheduling", report.scheduling).member("placement", report.placement);
  write_time(json, "submit_s", job.submit);
  json.key("after").begin_array();
  for (const JobId each : report.job.explanation.after) json.value(report.job.result.jobs[each.index()].name);
  json.end_array();
  write_time(json, "start_s", job.start);
  write_time(json, "finish_s", job.finish);
  write_time(json, "waited_s", report.job.explanation.waited());
  write_time(json, "waited_before_start_s", report.job.explanation.waited_before_start());
  json.key("by_cause").begin_array();
  for (const CauseTotal& total : totals_by_cause(report.job.explanation)) {
    json.begin_object().member("cause", cause_name(total.why)).member("intervals", std::uint64_t{total.intervals});
    write_time(json, "time_s", total.time);
    json.end_object();
  }
  json.end_array();
  write_waits(json, report);
  write_reservations(json, report.job.explanation);
  write_attempts(json, report);
  write_delays(json, report);
  write_stall(json, report);
  write_slow(json, report.job.explanation);
  write_sharing(json, report);
  if (job.folding && !job.folding->unfolded.run_does_not_fold) write_folding(json, *job.folding);
  if (report.job.iteration) messages_json(json, *report.job.iteration);
  json.end_object();
  return json.take();
}

}  // namespace contend
