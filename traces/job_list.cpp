#include "traces/job_list.hpp"

#include "models/catalogue/catalogue.hpp"
#include "models/parallel/transformer_catalogue.hpp"
#include "models/training_profile.hpp"
#include "sim/complaints.hpp"
#include "sim/fields.hpp"
#include "text/byte_source.hpp"
#include "text/csv.hpp"
#include "text/decimal.hpp"
#include "text/decimal_places.hpp"
#include "text/file_complaints.hpp"
#include "text/words.hpp"
#include "traces/jobs/import_jobs.hpp"
#include "traces/jobs/name_index.hpp"
#include "traces/jobs/place_text.hpp"
#include "traces/jobs/trace_table.hpp"

#include <algorithm>
#include <array>
#include <climits>
#include <optional>
#include <unordered_map>
#include <utility>

#include <fmt/core.h>

namespace contend {
namespace {

enum Column : std::uint8_t {
  kJobId,
  kSubmitMs,
  kSubmitS,
  kModel,
  kGpus,
  kIterations,
  kDuration,
  kAttempts,
  kOutcome,
  kLimit,
  kMeasuredWait,
  kVc,
  kUser,
  kGpuType,
  kGpuShare,
  kCpus,
  kHostMemory,
  kPriority,
  kPlace,
  kDeadline,
  kMinGpus,
  kMaxGpus,
  kFusion,
  kCompression,
  kBatch,
  kBatchRule,
  kGpuMemory,
  kAfter,
  kThink,
  kRequiredLevel,
  kPreferredLevel,
  kSegmentGpus,
  kSegmentLevel,
  kElapsed,
  kColumns
};
constexpr std::array<std::string_view, kColumns> kNames = {
    "job_id",        "submit_ms",      "submit_s",        "model",
    "gpus",          "iterations",     "duration_s",      "attempts_s",
    "outcome",       "limit_s",        "measured_wait_s", "vc",
    "user",          "gpu_type",       "gpu_share",       "cpus",
    "host_memory",   "priority",       "place",           "deadline_s",
    "min_gpus",      "max_gpus",       "fusion",          "compression",
    "batch",         "batch_rule",     "gpu_memory",      "after",
    "think_s",       "required_level", "preferred_level", "segment_gpus",
    "segment_level", "elapsed_s"};

std::string hint_for_column(std::string_view name, const std::vector<std::string>& known) {
  static const NamedTexts kUsualColumns{usual_columns_text()};
  for (const auto& [word, column] : kUsualColumns.all())
    if (same_but_for_case(word, name)) return fmt::format("did you mean \"{}\"?", column);
  return did_you_mean(std::string{name}, known);
}

/// Columns that replace members of a training entry.
constexpr std::array kMemberColumns = {kFusion, kCompression, kBatch};
constexpr std::int64_t kMaxMilliCpus = 1'000'000'000;

std::vector<std::string> profile_names() {
  std::vector<std::string> names;
  for (const TrainingProfile& profile : training_profiles()) names.emplace_back(profile.name);
  return names;
}

class JobListReader {
 public:
  /// `models`: what jobs of iterations may name; any text if it is empty. `with_services`: jobs that name neither of
  /// these nor iterations answer requests.
  JobListReader(ByteSource& source, RowReport& report, const TraceSink& sink, std::span<const std::string> models,
                bool with_services = false)
      : rows_{source, report.file(), {.guarded = true}},
        report_{report},
        sink_{sink},
        models_{models},
        with_services_{with_services} {
    index_.fill(kNone);
  }

  void read() {
    read_header();
    while (rows_.next()) {
      report_.count_row();
      if (rows_.fields().size() == width_) {
        read_row();
      } else {
        const std::string expected = fmt::format("expected {} fields as in the header", width_);
        report_.bad(rows_.line(), "", expected, fmt::format("{}, got {}", expected, rows_.fields().size()));
      }
    }
  }

 private:
  static constexpr std::size_t kNone = SIZE_MAX;
  static constexpr std::string_view kPrintable = "expected printable UTF-8 text";

  void read_header() {
    if (!rows_.next())
      throw InputError{{.file = report_.file(), .reason = "the file is empty; expected a header line"}};
    Complaints complaints;
    const auto complain = [&](std::string reason, std::string hint = {}) {
      complaints.add(
          {.file = report_.file(), .line = rows_.line(), .reason = std::move(reason), .hint = std::move(hint)});
    };
    const std::vector<std::string> known{kNames.begin(), kNames.end()};
    width_ = rows_.fields().size();
    if (std::ranges::none_of(rows_.fields(), [](std::string_view name) { return is_known(name); })) {
      complain(fmt::format("line {} must be a header, which names the columns; got {}", rows_.line(),
                           quote_for_message(rows_.fields().front())),
               width_ == 1 && rows_.fields().front().find(';') != std::string_view::npos
                   ? "separate the columns by commas instead of semicolons"
                   : "such as job_id,submit_s,gpus,duration_s");
      complaints.throw_if_any();
    }
    std::vector<std::string> unused;
    std::vector<std::string> hints;
    for (std::size_t i = 0; i < width_; ++i) {
      const std::string_view name = rows_.fields()[i];
      const auto column = static_cast<std::size_t>(std::find(kNames.begin(), kNames.end(), name) - kNames.begin());
      const auto& renamed = report_.renamed();
      if (column == kColumns && !renamed.empty() && std::ranges::find(renamed, name) == renamed.end())
        unused.emplace_back(name);
      else if (column == kColumns)
        complain(fmt::format("unknown column {}", quote_for_message(name)),
                 hints.emplace_back(hint_for_column(name, known)));
      else if (index_[column] != kNone)
        complain(fmt::format("column \"{}\" appears twice", name));
      else
        index_[column] = i;
    }
    // What was probably meant isn't also missing.
    const auto is_meant = [&](std::string_view name) {
      return std::ranges::any_of(
          hints, [&](const std::string& hint) { return hint.find(fmt::format("\"{}\"", name)) != std::string::npos; });
    };
    check_columns(complain, is_meant);
    complaints.throw_if_any();
    report_.set_unused_columns(std::move(unused));
  }

  static bool is_known(std::string_view name) { return std::ranges::find(kNames, name) != kNames.end(); }

  template <class Complain, class IsMeant>
  void check_columns(const Complain& complain, const IsMeant& is_meant) const {
    const auto has = [&](Column column) { return this->has(column) || is_meant(kNames[column]); };
    if (this->has(kSubmitMs) && this->has(kSubmitS))
      complain("both submit_ms and submit_s are given; expected one of them");
    if (!has(kSubmitMs) && !has(kSubmitS)) complain("no column \"submit_ms\" (or \"submit_s\")");
    const bool timed = has(kDuration);
    const bool neither = !timed && !has(kModel) && !has(kIterations);
    if (neither) complain("no column \"duration_s\" (or \"model\" and \"iterations\")");
    for (const Column column : {kJobId, kModel, kGpus, kIterations}) {
      const bool of_work = column == kModel || column == kIterations;
      const bool is_free = of_work && (timed || neither || (column == kIterations && with_services_));
      if (!has(column) && !is_free) complain(fmt::format("no column \"{}\"", kNames[column]));
    }
    if (has(kAttempts) && !timed) complain("the column \"attempts_s\" needs a column \"duration_s\"");
  }

  void read_row() {
    good_ = true;
    JobRequest job;
    job.name = field(kJobId);
    if (job.name.empty()) {
      bad(kJobId, "expected a name", "expected a name, got nothing");
    } else if (const std::string reason = why_not_printable(job.name); !reason.empty()) {
      bad(kJobId, "expected a name of printable text",
          fmt::format("expected a name of printable UTF-8 text, got {}: {}", quote_for_message(job.name), reason));
    } else if (const int first = names_.insert(job.name, rows_.line()); first != 0) {
      bad(kJobId, "the name was used already",
          fmt::format("{} was used on line {} already", quote_for_message(job.name), first));
    }
    job.model = name_in(kModel);
    const bool timed = !field(kDuration).empty();
    job.serves = !timed && may_serve(job.model);
    if (has(kDuration) && !timed && !job.serves && field(kIterations).empty())
      return bad(kDuration, "neither duration_s nor iterations", {}, "give one of the two");
    if (!timed && !job.serves) check_model(job.model);
    read_members(job, timed);
    job.submit = has(kSubmitS) ? time(kSubmitS, 9) : time(kSubmitMs, 6);
    job.gpus = static_cast<int>(positive(kGpus, TraceTable::kMaxGpus));
    if (!timed && !job.serves)
      job.iterations = positive(kIterations, INT64_MAX);
    else if (timed)
      read_times(job);
    read_wishes(job);
    if (good_) sink_(rows_.line(), std::move(job));
  }

  /// A row that says neither how many iterations nor how long may be of a job that answers requests, if its model is
  /// none that trains.
  [[nodiscard]] bool may_serve(const std::string& model) const {
    return with_services_ && field(kIterations).empty() && !model.empty() &&
           std::ranges::find(models_, model) == models_.end();
  }

  void check_model(const std::string& model) {
    if (base_of(model) != model)
      return bad(kModel, "a model with members",
                 fmt::format("{} has members, which a list has in columns of their own", quote_for_message(model)),
                 "such as the columns batch and fusion");
    if (!model.empty() && (model == last_model_ || models_.empty())) return;
    if (std::ranges::find(models_, model) != models_.end()) {
      last_model_ = model;
      return;
    }
    good_ = false;
    report_unknown_model(report_, rows_.line(), model, models_);
  }

  void read_members(JobRequest& job, bool timed) {
    for (const Column column : kMemberColumns) {
      const std::string_view text = field(column);
      if (text.empty()) continue;
      if (timed)
        bad(column, "has no effect on a job with a duration_s", {}, "leave the field empty, or give iterations");
      else if (job.serves)
        bad(column, "is for jobs of iterations, and this one answers requests", {}, "leave the field empty");
      else
        job.members.emplace_back(kNames[column], name_in(column));
    }
    job.model = variant_of(job.model, job.members);
  }

  /// A name other than the name of the job, which tables and messages print as it is; it may be empty.
  std::string name_in(Column column) {
    const std::string_view text = field(column);
    const std::string reason = text.empty() ? std::string{} : why_not_printable(text);
    if (!reason.empty())
      bad(column, kPrintable, fmt::format("{}, got {}: {}", kPrintable, quote_for_message(text), reason));
    return std::string{text};
  }

  void read_times(JobRequest& job) {
    job.duration = length(kDuration);
    job.tells_iterations = !field(kIterations).empty();
    if (job.tells_iterations) job.iterations = positive(kIterations, INT64_MAX);
    std::string_view rest = field(kAttempts);
    while (!rest.empty()) {
      const std::size_t end = std::min(rest.find(';'), rest.size());
      job.attempts.push_back(length_of(kAttempts, rest.substr(0, end)));
      rest.remove_prefix(std::min(end + 1, rest.size()));
    }
    if (takes_too_long(job)) bad(kDuration, "the attempts of the job together take more than 100 years");
  }

  void read_wishes(JobRequest& job) {
    job.vc = name_in(kVc);
    job.user = name_in(kUser);
    job.gpu_type = name_in(kGpuType);
    if (!field(kLimit).empty()) job.limit = length(kLimit);
    if (!field(kMeasuredWait).empty()) job.measured_wait = time(kMeasuredWait, 9);
    if (!field(kAttempts).empty() && field(kDuration).empty()) bad(kAttempts, "earlier attempts need a duration_s");
    if (const std::string_view text = field(kOutcome); !text.empty()) read_outcome(text, job);
    if (!field(kGpuShare).empty()) job.gpu_share = static_cast<int>(milli(kGpuShare, 1, 1000));
    if (!field(kCpus).empty()) job.milli_cpus = static_cast<int>(milli(kCpus, 0, kMaxMilliCpus));
    if (const std::string_view text = field(kHostMemory); !text.empty())
      job.host_memory = read_memory(kHostMemory, text);
    if (const std::string_view text = field(kGpuMemory); !text.empty()) job.gpu_memory = read_memory(kGpuMemory, text);
    if (const std::string_view text = field(kPriority); !text.empty()) read_priority(text, job);
    if (const std::string_view text = field(kPlace); !text.empty()) read_place(text, job);
    if (!field(kDeadline).empty()) read_deadline(job);
    read_levels(job);
    if (!field(kAfter).empty() || !field(kThink).empty()) read_order(job);
    if (!field(kElapsed).empty()) read_elapsed(job);
    if (!field(kMinGpus).empty() || !field(kMaxGpus).empty()) read_sizes(job);
    job.batch_rule = name_in(kBatchRule);
    if (!job.batch_rule.empty() && job.duration)
      bad(kBatchRule, "has no effect on a job with a duration_s", {}, "leave the field empty, or give iterations");
    if (!job.batch_rule.empty() && job.serves)
      bad(kBatchRule, "is for jobs of iterations, and this one answers requests", {}, "leave the field empty");
  }

  void read_levels(JobRequest& job) {
    job.level = {name_in(kRequiredLevel), name_in(kPreferredLevel), 0, name_in(kSegmentLevel)};
    const bool has_size = !field(kSegmentGpus).empty();
    if (has_size) job.level.segment = static_cast<int>(positive(kSegmentGpus, TraceTable::kMaxGpus));
    if (has_size != !job.level.segment_level.empty())
      bad(kSegmentGpus, "segment_gpus and segment_level need each other", {}, "give both, or none");
    if (job.level.any() && !job.place.empty())
      bad(kPlace, "a job with a place of its own can't ask for levels", {}, "leave one of them empty");
  }

  void read_elapsed(JobRequest& job) {
    if (!job.duration) return bad(kElapsed, "needs a duration_s", {}, "leave the field empty, or give a duration_s");
    job.elapsed = time(kElapsed, 9);
    if (*job.elapsed >= *job.duration)
      bad(kElapsed, "expected less than duration_s, the whole time that the job runs",
          fmt::format("expected less than duration_s, {}, got {}", field(kDuration), field(kElapsed)));
    if (job.submit > Time{})
      bad(kElapsed, "a job that runs at time 0 is submitted then",
          fmt::format("a job that runs at time 0 is submitted then, and this one at {} s", format_seconds(job.submit)));
    if (!job.attempts.empty() || !field(kAfter).empty())
      bad(kElapsed, "a job that runs has neither earlier attempts nor jobs to wait for");
  }

  void read_order(JobRequest& job) {
    std::string_view rest = field(kAfter);
    if (rest.empty()) return bad(kThink, "there is no job after which it comes", {}, "name jobs in the column `after`");
    while (!rest.empty()) {
      const std::size_t end = std::min(rest.find(';'), rest.size());
      std::string name{rest.substr(0, end)};
      rest.remove_prefix(std::min(end + 1, rest.size()));
      if (name.empty()) return expected(kAfter, "expected names of jobs such as prepare;train", field(kAfter));
      if (name == job.name) return bad(kAfter, "a job can't come after itself");
      if (std::ranges::find(job.after, name) == job.after.end()) job.after.push_back(std::move(name));
    }
    if (!field(kThink).empty()) job.think = length(kThink);
  }

  void read_sizes(JobRequest& job) {
    const auto size = [&](Column column) {
      return field(column).empty() ? job.gpus : static_cast<int>(positive(column, TraceTable::kMaxGpus));
    };
    job.min_gpus = size(kMinGpus);
    job.max_gpus = size(kMaxGpus);
    if (!good_) return;
    if (job.min_gpus > job.max_gpus)
      return bad(kMinGpus, "more than max_gpus",
                 fmt::format("expected at most max_gpus, {}, got {}", job.max_gpus, job.min_gpus));
    if (job.gpus < job.min_gpus || job.gpus > job.max_gpus)
      return bad(kGpus, "not from min_gpus to max_gpus",
                 fmt::format("expected a number from min_gpus to max_gpus, {} to {}, got {}", job.min_gpus,
                             job.max_gpus, job.gpus));
    if (!job.place.empty()) bad(kPlace, "a job with a place of its own can't have other numbers of GPUs");
  }

  void read_deadline(JobRequest& job) {
    if (!good_) return;  // its submission may be wrong
    const Time deadline = time(kDeadline, 9);
    if (good_ && deadline <= job.submit)
      return bad(kDeadline, "a deadline that is not after the submission",
                 fmt::format("expected a time after the submission at {:g} s, got {}", job.submit.to_seconds(),
                             field(kDeadline)));
    job.deadline = deadline - job.submit;
  }

  void read_place(std::string_view text, JobRequest& job) {
    for (std::size_t begin = 0; begin <= text.size();) {
      const std::size_t end = std::min(text.find(';', begin), text.size());
      const std::optional<PlacePart> part = parse_place_part(text.substr(begin, end - begin));
      if (!part) return expected(kPlace, "expected GPUs of servers such as server0:0-3;server1", text);
      job.place.push_back(*part);
      begin = end + 1;
    }
  }

  void read_outcome(std::string_view text, JobRequest& job) {
    for (const JobOutcome outcome : {JobOutcome::completed, JobOutcome::failed, JobOutcome::cancelled}) {
      job.outcome = outcome;
      if (text == to_string(outcome)) return;
    }
    expected(kOutcome, "expected completed, failed or cancelled", text);
  }

  void read_priority(std::string_view text, JobRequest& job) {
    const ScaledDecimal number = parse_integer(text);
    if (number.error != DecimalError::none || number.value < INT_MIN || number.value > INT_MAX)
      return expected(kPriority, "expected a whole number of 32 bits", text);
    job.priority = static_cast<int>(number.value);
  }

  Bytes read_memory(Column column, std::string_view text) {
    constexpr std::array<std::pair<std::string_view, int>, 4> kUnits = {
        {{"KiB", 10}, {"MiB", 20}, {"GiB", 30}, {"TiB", 40}}};
    std::string_view digits = text;
    int shift = 0;
    for (const auto& [unit, bits] : kUnits) {
      if (!text.ends_with(unit)) continue;
      digits.remove_suffix(unit.size());
      shift = bits;
    }
    const ScaledDecimal number = parse_integer(digits);
    if (number.error != DecimalError::none || number.value < 0 || number.value > (INT64_MAX >> shift))
      expected(column, "expected whole bytes, KiB, MiB, GiB or TiB", text);
    else
      return Bytes{number.value << shift};
    return Bytes{};
  }

  /// A decimal number in thousandths.
  std::int64_t milli(Column column, std::int64_t minimum, std::int64_t maximum) {
    const ScaledDecimal number = parse_scaled(field(column), 3);
    if (number.error == DecimalError::none && !number.vanishes && number.value >= minimum && number.value <= maximum)
      return number.value;
    expected(column,
             fmt::format("expected a number from {} to {}", static_cast<double>(minimum) / 1000, maximum / 1000),
             field(column));
    return minimum;
  }

  Time time(Column column, int decimals) { return time_of(column, field(column), decimals); }

  /// A time for which something lasts: one that isn't 0 takes a nanosecond at least.
  Time length_of(Column column, std::string_view text) {
    if (!parse_scaled(text, 9).vanishes) return time_of(column, text, 9);
    bad(column, "a time that would be rounded to 0",
        fmt::format("expected 0, or a time of at least a nanosecond, 1e-9, got {}", text));
    return Time{};
  }
  Time length(Column column) { return length_of(column, field(column)); }

  Time time_of(Column column, std::string_view text, int decimals) {
    const ScaledDecimal number = parse_scaled(text, decimals);
    const Time time = Time::nanoseconds(number.value);
    if (number.error == DecimalError::not_a_number)
      expected(column, "expected a number >= 0", text);
    else if (has_more_decimals(text, decimals) && report_.renamed().empty())  // columns of other tables are rounded
      bad(column, "a part of a nanosecond",
          fmt::format("expected at most {} decimals, because times are whole nanoseconds, got {}", decimals, text));
    else if (number.error == DecimalError::overflow || time > kLongestJobTime)
      bad(column, "more than 100 years", fmt::format("{} is more than 100 years", text));
    else if (time < Time{})
      bad(column, "expected a number >= 0", fmt::format("expected a number >= 0, got {}", text));
    else
      return time;
    return Time{};
  }

  std::int64_t positive(Column column, std::int64_t maximum) {
    const std::string_view text = field(column);
    const ScaledDecimal number = parse_integer(text);
    if (number.error == DecimalError::not_a_number) {
      expected(column, "expected a whole number >= 1", text);
    } else if (number.error == DecimalError::overflow || number.value > maximum) {
      const std::string range = fmt::format("expected a whole number from 1 to {}", maximum);
      bad(column, range, fmt::format("{}, got {}", range, text));
    } else if (number.value < 1) {
      bad(column, "expected a whole number >= 1", fmt::format("expected a whole number >= 1, got {}", text));
    } else {
      return number.value;
    }
    return 1;
  }

  [[nodiscard]] bool has(Column column) const { return index_[column] != kNone; }
  [[nodiscard]] std::string_view field(Column column) const {
    return has(column) ? rows_.fields()[index_[column]] : std::string_view{};
  }

  void expected(Column column, const std::string& what, std::string_view text) {
    bad(column, what, fmt::format("{}, got {}", what, quote_for_message(text)));
  }

  void bad(Column column, std::string_view reason, std::string message = {}, std::string hint = {}) {
    good_ = false;
    report_.bad(rows_.line(), kNames[column], reason, std::move(message), std::move(hint));
  }

  RowReader rows_;
  RowReport& report_;
  const TraceSink& sink_;
  std::array<std::size_t, kColumns> index_{};
  std::size_t width_ = 0;
  bool good_ = true;
  std::span<const std::string> models_;
  bool with_services_;
  std::string last_model_;
  NameIndex names_;
};

/// Reports the jobs that come after a job that the list doesn't have, or, over others, after themselves.
void check_order(const JobList& list, RowReport& report) {
  if (std::ranges::all_of(list.jobs, [](const JobRequest& job) { return job.after.empty(); })) return;
  std::unordered_map<std::string_view, std::size_t> rows;
  std::vector<std::string> names;
  for (std::size_t j = 0; j < list.jobs.size(); ++j) {
    rows.emplace(list.jobs[j].name, j);
    names.push_back(list.jobs[j].name);
  }
  std::vector<std::vector<std::size_t>> after(list.jobs.size());
  for (std::size_t j = 0; j < list.jobs.size(); ++j) {
    for (const std::string& name : list.jobs[j].after) {
      const auto found = rows.find(name);
      if (found != rows.end())
        after[j].push_back(found->second);
      else
        report.bad(list.lines[j], "after", "no such job in the list",
                   fmt::format("the list has no job {}", quote_for_message(name)), did_you_mean(name, names));
    }
  }
  for (const std::size_t j : never_submitted(after))
    report.bad(list.lines[j], "after", "comes after jobs that come after it",
               fmt::format("job {} comes after jobs that come after it, so it is never submitted",
                           quote_for_message(list.jobs[j].name)));
}

/// A list without its hash.
JobList read_list(ByteSource& source, const std::string& name, std::span<const std::string> models,
                  bool with_services = false) {
  RowReport report{name, false};
  JobList list;
  const TraceSink keep = [&](int line, JobRequest&& job) {
    list.jobs.push_back(std::move(job));
    list.lines.push_back(line);
  };
  JobListReader{source, report, keep, models, with_services}.read();
  if (report.bad_rows() == 0) check_order(list, report);  // else a job may be missing because its row is bad
  report.throw_if_bad();
  if (list.jobs.empty()) throw InputError{{.file = name, .reason = "the list has no jobs"}};
  return list;
}

}  // namespace

void read_jobs(ByteSource& source, RowReport& report, const TraceSink& sink) {
  JobListReader{source, report, sink, {}}.read();
}

std::string unknown_model_hint(const std::string& model, std::span<const std::string> known) {
  const bool spread = find_model(model) == nullptr && find_transformer(model) != nullptr;
  if (find_model(model) == nullptr && !spread) return did_you_mean(model, {known.begin(), known.end()});
  const bool can_be_name = model.find('.') == std::string::npos;
  return fmt::format(
      "it is a network of the catalogue, which jobs train by an entry of training: `training: {{{}: "
      "{{model: {}{}}}}}`{}",
      can_be_name ? model : "NAME", model, spread ? ", parallel: {tensor: 8}" : "",
      can_be_name ? "" : ", and jobs have the model NAME");
}

void report_unknown_model(RowReport& report, int line, const std::string& model, std::span<const std::string> known) {
  report.bad(line, "model", "unknown model", fmt::format("unknown model {}", quote_for_message(model)),
             unknown_model_hint(model, known));
}

std::vector<JobRequest> parse_job_list(std::string_view text, const std::string& name) {
  TextSource source{text};
  return read_list(source, name, profile_names()).jobs;
}

std::vector<JobRequest> read_job_list(const std::string& path) {
  const std::unique_ptr<ByteSource> source = open_file(path);
  return read_list(*source, path, profile_names()).jobs;
}

JobList read_hashed_job_list(ByteSource& file, const std::string& name, std::span<const std::string> models) {
  HashedSource bytes{file};
  const std::unique_ptr<ByteSource> text = inflated(bytes, name);
  JobList list = read_list(*text, name, models, true);
  list.sha256 = bytes.sha256();
  return list;
}

}  // namespace contend
