#include "cli/calibrate_network_report.hpp"
#include "cli/command.hpp"
#include "cli/exchange_option.hpp"
#include "cli/exit_code.hpp"
#include "cli/output.hpp"
#include "cli/text_table.hpp"
#include "report/fit_figures.hpp"
#include "scenarios/study/network_fragment.hpp"
#include "scenarios/study/profile_reader.hpp"
#include "sim/error.hpp"
#include "text/own_files.hpp"
#include "text/quantities.hpp"
#include "traces/layers/collective_log.hpp"

#include <algorithm>
#include <climits>
#include <ctime>
#include <map>

#include <sys/stat.h>

#include <fmt/format.h>

namespace contend {
namespace {

constexpr std::uint64_t kMostRanks = 1 << 20;

std::size_t regions_of(const Arguments& arguments) {
  if (arguments.value("regions").value_or("auto") == "auto") return 0;
  return static_cast<std::size_t>(*arguments.whole_number("regions", 1, 4));
}

/// `64KiB..4MiB`; without a first or a last one there is no limit.
std::optional<SizeRange> sizes_of(const Arguments& arguments) {
  const std::optional<std::string> text = arguments.value("sizes");
  if (!text) return std::nullopt;
  SizeRange range{Bytes{0}, Bytes{INT64_MAX}};
  const std::size_t dots = text->find("..");
  const auto read = [&](const std::string& part, Bytes& into) {
    if (part.empty()) return;
    const Parsed<Bytes> size = parse_quantity<Bytes>(part);
    if (!size.value)
      throw UsageError{fmt::format("--sizes: expected FROM..TO such as 64KiB..4MiB, got \"{}\"{}{}", *text,
                                   size.hint.empty() ? "" : "; ", size.hint)};
    into = *size.value;
  };
  if (dots == std::string::npos || text->size() == 2)
    throw UsageError{fmt::format("--sizes: expected FROM..TO such as 64KiB..4MiB, got \"{}\"", *text)};
  read(text->substr(0, dots), range.first);
  read(text->substr(dots + 2), range.last);
  if (range.last < range.first) throw UsageError{fmt::format("--sizes: {} ends before it begins", *text)};
  return range;
}

FragmentChoice fragment_choice(const Arguments& arguments) {
  FragmentChoice choice;
  const std::string study = arguments.value("study").value_or("overlap");
  if (study != "overlap" && study != "jobs")
    throw UsageError{fmt::format("--study: expected overlap or jobs, got \"{}\"", study)};
  choice.study = study == "jobs" ? FragmentStudy::jobs : FragmentStudy::overlap;
  choice.ranks = static_cast<int>(arguments.whole_number("workers", 2, kMostRanks).value_or(0));
  choice.sizes = sizes_of(arguments);
  if (!arguments.has("output"))
    for (const char* option : {"study", "workers"}) arguments.refuse(option, "without -o FILE");
  return choice;
}

/// The numbers of --ranks: one for all logs that don't say theirs, one for each such log in order, or one for each log.
/// Where every log that a number is given for says its own, the two must agree.
class GivenRanks {
 public:
  GivenRanks(const Arguments& arguments, std::size_t logs) : logs_{logs} {
    for (const std::string& text : arguments.values("ranks")) {
      const Arguments one{{}, {{"ranks", text}}, {}};
      numbers_.push_back(static_cast<int>(*one.whole_number("ranks", 1, kMostRanks)));
    }
  }
  /// For the log that is read next.
  [[nodiscard]] int next() const {
    if (numbers_.size() == 1) return numbers_.front();
    const std::size_t at = for_each_log() ? seen_.size() : needing_.size();
    return at < numbers_.size() ? numbers_[at] : 0;
  }
  void read(const std::string& path, const CollectiveLog& log) {
    const auto [least, most] = std::ranges::minmax(log.samples, {}, &CollectiveSample::ranks);
    seen_.push_back({path, next(), least.ranks, most.ranks});
    if (log.used_ranks) needing_.push_back(path);
  }
  void check() const {
    if (numbers_.empty()) return;
    if (numbers_.size() > 1 && !for_each_log() && needing_.size() != numbers_.size())
      throw UsageError{fmt::format("--ranks: given {} times; {}", numbers_.size(), need_text())};
    if (!for_each_log() && !needing_.empty()) return;
    for (const Seen& log : seen_)
      if (log.fewest != log.given || log.most != log.given)
        throw UsageError{fmt::format("--ranks {}: {} says {}", log.given, log.path, said_text(log))};
  }

 private:
  struct Seen {
    std::string path;
    int given = 0, fewest = 0, most = 0;
  };
  [[nodiscard]] bool for_each_log() const { return numbers_.size() == logs_; }
  [[nodiscard]] std::string need_text() const {
    if (needing_.empty()) return "no log needs it";
    return fmt::format("{} {} it: {}", needing_.size(), needing_.size() == 1 ? "log needs" : "logs need",
                       fmt::join(needing_, ", "));
  }
  static std::string said_text(const Seen& log) {
    return log.fewest == log.most ? fmt::format("{}", log.most) : fmt::format("{} to {}", log.fewest, log.most);
  }

  std::size_t logs_;
  std::vector<int> numbers_;
  std::vector<Seen> seen_;            // all logs so far
  std::vector<std::string> needing_;  // of them, those that don't say
};

/// Day of the last change, UTC; empty if it can't be had.
std::string date_of(const std::string& path) {
  struct stat about {};
  std::tm day{};
  if (stat(path.c_str(), &about) != 0 || gmtime_r(&about.st_mtime, &day) == nullptr) return {};
  return fmt::format("{:04}-{:02}-{:02}", day.tm_year + 1900, day.tm_mon + 1, day.tm_mday);
}

std::string summary_of(const std::string& path, const CollectiveLog& log) {
  struct Seen {
    std::size_t samples = 0;
    int fewest = INT_MAX, most = 0;  ///< ranks
  };
  std::map<TimedExchange, Seen> all;
  for (const CollectiveSample& sample : log.samples) {
    Seen& seen = all[sample.exchange];
    ++seen.samples;
    seen.fewest = std::min(seen.fewest, sample.ranks);
    seen.most = std::max(seen.most, sample.ranks);
  }
  std::string out = path.substr(path.rfind('/') + 1);
  if (const std::string date = date_of(path); !date.empty()) out += fmt::format(" of {}", date);
  out += ":";
  for (const auto& [exchange, seen] : all) {
    out += fmt::format("{} {} times of {}", out.ends_with(':') ? "" : ",", seen.samples, to_string(exchange));
    if (seen.fewest > 0) out += fmt::format(" among {}", seen.fewest);
    if (seen.fewest < seen.most) out += fmt::format(" to {}", seen.most);
  }
  if (log.servers > 0) out += fmt::format(" on {} {}", log.servers, log.servers == 1 ? "server" : "servers");
  return out;
}

constexpr std::pair<std::string_view, CollectiveFormat> kFormats[] = {
    {"nccl-log", CollectiveFormat::nccl}, {"osu-log", CollectiveFormat::osu}, {"csv", CollectiveFormat::csv}};

std::vector<std::string> files_of(const Arguments& arguments) {
  std::vector<std::string> files;
  for (const auto& [option, format] : kFormats)
    for (const std::string& path : arguments.values(option)) files.push_back(path);
  if (const auto path = arguments.value("profile")) files.push_back(*path);
  if (files.empty())
    throw UsageError{"contend calibrate network: expected --nccl-log, --osu-log, --csv or --profile FILE"};
  return files;
}

/// Collectives of an unknown number of ranks tell nothing of the link, which may pass unnoticed beside others.
class UnknownRanks {
 public:
  void add(const std::string& path, const CollectiveLog& log) {
    for (const CollectiveSample& each : log.samples) {
      if (each.ranks > 0 || each.exchange == TimedExchange::message) continue;
      files_.push_back(path);
      return;
    }
  }
  void print() const {
    for (const std::string& path : files_)
      print_message(
          "{}: the log does not give the number of ranks, so it is not used for the link; give it by --ranks N{}\n",
          path, files_.size() > 1 ? ", once for each such log" : "");
    if (files_.size() > 1)
      print_message("of these {} logs, those of one collective are fitted as if their numbers of ranks were equal\n",
                    files_.size());
  }

 private:
  std::vector<std::string> files_;
};

struct Input {
  std::vector<CollectiveSample> samples;
  std::vector<std::string> provenance;
};

Input read_input(const Arguments& arguments, std::size_t logs) {
  Input input;
  GivenRanks ranks{arguments, logs};
  UnknownRanks unknown;
  CollectiveReadOptions options{exchange_option(arguments), 0, arguments.has("out-of-place")};
  bool used_exchange = false;
  for (const auto& [option, format] : kFormats) {
    for (const std::string& path : arguments.values(option)) {
      options.ranks = ranks.next();
      const CollectiveLog log = read_collective_log(path, format, options);
      ranks.read(path, log);
      unknown.add(path, log);
      used_exchange = used_exchange || log.used_exchange;
      if (log.guessed_exchange)
        print_message("{}: the log does not name its collective; it is taken for an all-reduce (see --collective)\n",
                      path);
      if (log.other_lines > 0)
        print_message("{}: {} lines that are not from nccl-tests are left out\n", path, log.other_lines);
      input.samples.insert(input.samples.end(), log.samples.begin(), log.samples.end());
      input.provenance.push_back(summary_of(path, log));
    }
  }
  ranks.check();
  unknown.print();
  if (options.exchange && !used_exchange) throw UsageError{"--collective: every log names its collective"};
  if (options.out_of_place && !arguments.has("nccl-log")) throw UsageError{"--out-of-place needs an --nccl-log"};
  return input;
}

/// Adds what a profile says of communication.
void add_profile(const Arguments& arguments, Input& input, FragmentChoice& choice) {
  constexpr std::uint64_t kBlocks = 8, kMostBlocks = 1024;
  const std::optional<std::string> path = arguments.value("profile");
  const auto blocks = arguments.whole_number("blocks", 1, kMostBlocks);
  if (!path) return arguments.refuse("blocks", "without --profile FILE");
  const CalibrationProfile profile = read_profile(*path);
  const std::vector<CollectiveSample> samples = measured_collectives(profile);
  input.samples.insert(input.samples.end(), samples.begin(), samples.end());
  if (blocks || has_interference(profile))
    choice.interference = measured_interference(profile, static_cast<std::int64_t>(blocks.value_or(kBlocks)));
  input.provenance.push_back(fmt::format("{}: profile `{}` of {}, {}", path->substr(path->rfind('/') + 1), profile.name,
                                         profile.device, profile.date));
  if (samples.empty() && !choice.interference)
    throw InputError{fmt::format(
        "{}: the profile has neither collectives nor operations beside reductions; `contend calibrate --only "
        "gemm,attention,elementwise,collective,contention -o FILE` measures them",
        *path)};
}

std::string interference_table(const MeasuredInterference& measured) {
  Table table{{"operation", "type", "computing [+%]", "communication [+%]"}};
  table.align_left(1);
  for (const MeasuredPair& each : measured.pairs)
    table.add({fmt::format("{} {}", each.op, fmt::join(each.shape, " x ")), std::string{to_string(each.type)},
               fmt::format("{:.1f}", 100 * each.compute), fmt::format("{:.1f}", 100 * each.network)});
  table.add(
      {"median", "", fmt::format("{:.1f}", 100 * measured.compute), fmt::format("{:.1f}", 100 * measured.network)});
  return fmt::format("Beside reductions of {} blocks\n{}", measured.blocks, table.text());
}

int write_interference(const Arguments& arguments, const FragmentChoice& choice, const Input& input) {
  for (const char* option : {"plot", "json", "sizes", "regions", "at-once"})
    if (arguments.has(option)) throw UsageError{fmt::format("--{}: the profile has no collectives to fit", option)};
  print_output("{}", interference_table(*choice.interference));
  if (const auto path = arguments.value("output")) {
    const NetworkFragment fragment = interference_fragment(choice, input.provenance);
    write_own_file(*path, fragment.yaml);
    print_message("{}: {}\n", *path, fragment.says);
  }
  return kExitOk;
}

/// The gaps of these times: a collective of one rank sends nothing, and equal times give a byte no cost.
void refuse_silent_times(const std::vector<CollectiveSample>& samples, const NetworkCalibration& calibration) {
  const auto is_alone = [](const CollectiveSample& each) {
    return each.ranks == 1 && each.exchange != TimedExchange::message;
  };
  if (std::ranges::any_of(samples, is_alone))
    throw InputError{
        "a collective of one rank sends nothing: its times say nothing of the network; give logs of 2 or more ranks"};
  for (const SeriesFit& series : calibration.series) {
    const auto [least, most] = std::ranges::minmax(series.samples, {}, &CollectiveSample::time);
    const bool one_size = series.samples.front().size == series.samples.back().size;
    if (!one_size && least.time == most.time)
      throw InputError{
          fmt::format("{}: all sizes take the same time, so that a byte would cost nothing; measure larger sizes, or "
                      "check the column of times",
                      series_names(std::vector{&series}))};
  }
}

/// One line for all series that allow as many.
void note_fewer_regions(const NetworkCalibration& calibration, std::size_t wanted) {
  std::map<std::size_t, std::vector<const SeriesFit*>> allowed;
  for (const SeriesFit& series : calibration.series)
    if (series.regions.size() < wanted) allowed[series.regions.size()].push_back(&series);
  for (const auto& [regions, series] : allowed)
    print_message("--regions {}: the sizes of {} allow {}\n", wanted, series_names(series), regions);
}

}  // namespace

int calibrate_network_verb(const Arguments& arguments) {
  FragmentChoice choice = fragment_choice(arguments);
  const std::size_t regions = regions_of(arguments);
  const int at_once = static_cast<int>(arguments.whole_number("at-once", 2, INT_MAX).value_or(0));
  const std::vector<std::string> files = files_of(arguments);
  if (const auto path = arguments.value("plot")) need_svg("plot", *path);
  Input input = read_input(arguments, files.size() - (arguments.has("profile") ? 1 : 0));
  add_profile(arguments, input, choice);
  if (input.samples.empty()) return write_interference(arguments, choice, input);
  const NetworkCalibration calibration =
      calibrate_network(input.samples, {.regions = regions, .sizes = choice.sizes, .at_once = at_once});
  refuse_silent_times(input.samples, calibration);
  note_fewer_regions(calibration, regions);
  if (calibration.series.empty() && calibration.contention.empty())
    throw InputError{
        "all samples have the same number of concurrent jobs and none runs alone, so nothing can be fitted"};
  if (at_once > 0 && calibration.contention.empty())
    throw UsageError{"--at-once: there are no samples of several concurrent jobs"};
  if (choice.sizes && !calibration.link && !arguments.has("output"))
    throw UsageError{
        "--sizes applies to -o FILE and to the fit of the link; there is no -o FILE, and these logs do not determine "
        "the link"};
  if (arguments.has("json"))
    print_output("{}", calibration_json(calibration));
  else
    print_output("{}{}", calibration_text(calibration),
                 choice.interference ? interference_table(*choice.interference) : std::string{});
  if (const auto path = arguments.value("output")) {
    const NetworkFragment fragment = network_fragment(calibration, choice, input.provenance);
    write_own_file(*path, fragment.yaml);
    print_message("{}: {}\n", *path, fragment.says);
    for (const std::string& note : fragment.notes) print_message("{}: {}\n", *path, note);
  }
  if (const auto path = arguments.value("plot")) {
    const std::vector<FigurePanel> panels = fit_panels(calibration);
    if (panels.empty()) throw InputError{"nothing to plot: all samples have one size"};
    write_own_file(*path, stacked_svg(panels));
  }
  return kExitOk;
}

}  // namespace contend
