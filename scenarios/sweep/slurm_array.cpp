#include "scenarios/sweep/slurm_array.hpp"

#include "sim/error.hpp"
#include "text/atomic_file.hpp"
#include "text/csv.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <filesystem>
#include <utility>

#include <fmt/core.h>

namespace contend {

namespace {

/// One word of a shell command.
std::string shell_word(std::string_view word) {
  std::string text = "'";
  for (const char c : word) text += c == '\'' ? std::string{"'\\''"} : std::string{c};
  return text + "'";
}

/// The name of a sweep as one word without surprises.
std::string plain(std::string name) {
  for (char& c : name) {
    const bool good =
        (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' || c == '_';
    if (!good) c = '-';
  }
  return name;
}

std::string directives(const SlurmSweep& sweep, const char* what, const char* log) {
  std::string text = fmt::format("#SBATCH --job-name={}\n#SBATCH --output={}\n#SBATCH --open-mode=append\n",
                                 shell_word(fmt::format("contend-{}-{}", what, plain(sweep.name))),
                                 shell_word(sweep.folder + "/logs/" + log));
  if (sweep.partition) text += fmt::format("#SBATCH --partition={}\n", shell_word(*sweep.partition));
  if (sweep.time) text += fmt::format("#SBATCH --time={}\n", shell_word(*sweep.time));
  if (sweep.memory) text += fmt::format("#SBATCH --mem={}\n", shell_word(*sweep.memory));
  return text;
}

[[noreturn]] void complain(const std::string& file, int line, std::string reason) {
  Complaint complaint;
  complaint.file = file;
  complaint.line = line;
  complaint.reason = std::move(reason);
  throw InputError{{std::move(complaint)}};
}

std::optional<std::int64_t> whole(std::string_view text) {
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{} || end != text.data() + text.size() || number < 0) return std::nullopt;
  return number;
}

CsvTable read_table(const std::string& file, const std::vector<std::string>& header) {
  CsvTable table = parse_csv(read_file(file), file);
  if (table.header != header) complain(file, 1, "not written by contend sweep --slurm");
  return table;
}

const std::vector<std::string> kPlanHeader{"name", "shards", "runs", "output"};
const std::vector<std::string> kSubmissionHeader{"job", "shards"};
constexpr std::string_view kMerge = "merge";

}  // namespace

std::string SlurmSweep::store(std::int64_t shard) const {
  return fmt::format("{}/shards/shard-{}.sqlite", folder, shard);
}

std::int64_t SlurmSweep::runs_of(std::int64_t shard) const {
  return runs / shards + (shard < runs % shards ? 1 : 0);
}

std::string shard_script(const SlurmSweep& sweep) {
  std::string words;
  for (const std::string& word : sweep.words) words += " " + shell_word(word);
  return "#!/usr/bin/env bash\n" + directives(sweep, "sweep", "shard-%a.log") +
         fmt::format(
             "#SBATCH --cpus-per-task={0}\n"
             "# A shard of the sweep {1}: its number is the first argument, or that of the task.\n"
             "shard=${{1:-$SLURM_ARRAY_TASK_ID}}\n"
             "store={2}/shard-$shard.sqlite\n"
             "resume=()\n"
             "if [[ -e $store ]]; then resume=(--resume); fi\n"
             "cd {3} || exit 1\n"
             "{4} sweep{5} --shard \"$shard/{6}\" -j {0} -o \"$store\" \"${{resume[@]}}\"\n"
             "status=$?\n"
             "# 4: all runs have ended, some with an error that is recorded.\n"
             "if [[ $status == 4 ]]; then exit 0; fi\n"
             "exit $status\n",
             sweep.threads, plain(sweep.name), shell_word(sweep.folder + "/shards"), shell_word(sweep.work_folder),
             shell_word(sweep.program), words, sweep.shards);
}

std::string merge_script(const SlurmSweep& sweep) {
  return "#!/usr/bin/env bash\n" + directives(sweep, "merge", "merge.log") +
         fmt::format(
             "# The stores of all shards of {0} into one; an older result stays until the new one is whole.\n"
             "output={1}\n"
             "rm -f \"$output.new\"\n"
             "{2} merge {3}/shard-*.sqlite -o \"$output.new\"\n"
             "status=$?\n"
             "if [[ $status == 0 || $status == 4 ]]; then mv \"$output.new\" \"$output\"; fi\n"
             "if [[ $status == 4 ]]; then exit 0; fi\n"
             "exit $status\n",
             plain(sweep.name), shell_word(sweep.output), shell_word(sweep.program),
             shell_word(sweep.folder + "/shards"));
}

std::string plan_csv(const SlurmSweep& sweep) {
  std::string text = "name,shards,runs,output\n";
  append_csv_field(text, sweep.name);
  text += fmt::format(",{},{},", sweep.shards, sweep.runs);
  append_csv_field(text, sweep.output);
  return text + "\n";
}

SlurmSweep read_plan(const std::string& folder) {
  const std::string file = folder + "/plan.csv";
  if (!std::filesystem::exists(file)) complain(file, 0, "there is none: expected a folder of contend sweep --slurm");
  const CsvTable table = read_table(file, kPlanHeader);
  if (table.rows.size() != 1) complain(file, 1, "expected one row");
  const CsvRow& row = table.rows.front();
  const auto shards = whole(row.fields[1]), runs = whole(row.fields[2]);
  if (!shards || !runs || *shards < 1) complain(file, row.line, "expected numbers of shards and runs");
  SlurmSweep sweep;
  sweep.folder = folder;
  sweep.name = row.fields[0];
  sweep.shards = *shards;
  sweep.runs = *runs;
  sweep.output = row.fields[3];
  return sweep;
}

std::string submissions_csv(const std::vector<SlurmSubmission>& submissions) {
  std::string text = "job,shards\n";
  for (const SlurmSubmission& each : submissions) {
    append_csv_field(text, each.job);
    text += ',';
    append_csv_field(text, each.shards.empty() ? std::string{kMerge} : ranges_text(each.shards));
    text += '\n';
  }
  return text;
}

std::vector<SlurmSubmission> read_submissions(const std::string& folder) {
  const std::string file = folder + "/submissions.csv";
  std::vector<SlurmSubmission> submissions;
  if (!std::filesystem::exists(file)) return submissions;
  for (const CsvRow& row : read_table(file, kSubmissionHeader).rows) {
    SlurmSubmission& each = submissions.emplace_back();
    each.job = row.fields[0];
    if (row.fields[1] != kMerge) each.shards = parse_ranges(row.fields[1]);
  }
  return submissions;
}

std::string ranges_text(const std::vector<std::int64_t>& numbers) {
  std::string text;
  for (std::size_t i = 0; i < numbers.size();) {
    std::size_t last = i;
    while (last + 1 < numbers.size() && numbers[last + 1] == numbers[last] + 1) ++last;
    text += fmt::format("{}{}", i == 0 ? "" : ",", numbers[i]);
    if (last > i) text += fmt::format("-{}", numbers[last]);
    i = last + 1;
  }
  return text;
}

std::vector<std::int64_t> parse_ranges(std::string_view text) {
  constexpr std::int64_t kMost = 10'000'000;
  std::vector<std::int64_t> numbers;
  const std::string all{text};
  while (!text.empty()) {
    const std::string_view part = text.substr(0, text.find(','));
    text.remove_prefix(std::min(text.size(), part.size() + 1));
    const std::size_t dash = part.find('-');
    const auto first = whole(part.substr(0, dash));
    const auto last = dash == std::string_view::npos ? first : whole(part.substr(dash + 1));
    if (!first || !last || *last < *first || *last > kMost)
      throw InputError{fmt::format("expected numbers such as 0-3,7, got \"{}\"", all)};
    for (std::int64_t i = *first; i <= *last; ++i) numbers.push_back(i);
  }
  return numbers;
}

std::map<std::pair<std::string, std::int64_t>, std::string> parse_queue(std::string_view text) {
  std::map<std::pair<std::string, std::int64_t>, std::string> states;
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(text.size(), line.size() + 1));
    if (line.empty()) continue;
    const std::size_t bar = line.find('|');
    if (bar == std::string_view::npos) throw InputError{fmt::format("squeue printed \"{}\"", line)};
    const std::string_view id = line.substr(0, bar);
    const std::string state{line.substr(bar + 1)};
    const std::size_t underscore = id.find('_');
    const std::string job{id.substr(0, underscore)};
    if (underscore == std::string_view::npos) {
      states[{job, -1}] = state;
      continue;
    }
    std::string_view tasks = id.substr(underscore + 1);
    if (tasks.starts_with('[')) tasks = tasks.substr(1, tasks.find_first_of("%]") - 1);
    for (const std::int64_t task : parse_ranges(tasks)) states[{job, task}] = state;
  }
  return states;
}

bool is_active(std::string_view state) {
  constexpr std::array kActive = {"PENDING",  "RUNNING",      "CONFIGURING", "COMPLETING",   "SUSPENDED",
                                  "REQUEUED", "REQUEUE_HOLD", "RESIZING",    "SIGNALING",    "STAGE_OUT",
                                  "STOPPED",  "SPECIAL_EXIT", "REQUEUE_FED", "RESV_DEL_HOLD"};
  return std::find(kActive.begin(), kActive.end(), state) != kActive.end();
}

}  // namespace contend
