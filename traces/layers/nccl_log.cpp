// Reads the output of nccl-tests (github.com/NVIDIA/nccl-tests) and of its derivative rccl-tests. The columns differ
// between versions (redop and root were added, error became #wrong), so they are found by the header; the lines of
// ranks differ too (Group was added). The meaning of a size is the same in all: the larger of what a rank sends and
// receives in total.

#include "text/decimal.hpp"
#include "traces/layers/collective_text.hpp"
#include "traces/layers/layer_quantities.hpp"

#include <algorithm>
#include <climits>
#include <cmath>
#include <set>

#include <fmt/core.h>

namespace contend {
namespace {

struct NcclTest {
  std::string_view program;  ///< without `_perf`
  TimedExchange exchange;
};

constexpr NcclTest kNcclTests[] = {
    {"all_reduce", TimedExchange::all_reduce}, {"reduce_scatter", TimedExchange::reduce_scatter},
    {"all_gather", TimedExchange::all_gather}, {"alltoall", TimedExchange::all_to_all},
    {"broadcast", TimedExchange::broadcast},   {"reduce", TimedExchange::reduce},
    {"sendrecv", TimedExchange::message},
};

bool whole(std::string_view text) {
  return !text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos;
}

/// The positions of the columns, from the header of nccl-tests.
struct Columns {
  int line = 0;
  std::size_t count = 0;         ///< without the timestamp
  std::size_t out_of_place = 0;  ///< index of the time; algbw, busbw and #wrong follow
  std::size_t in_place = 0;      ///< index of the time in place; 0 if there is none
  bool timestamp = false;
  bool counts_wrong = false;  ///< the column is `#wrong`, not the older `error`
};

/// One run of a program: its ranks and columns.
struct Run {
  std::optional<TimedExchange> exchange;
  std::set<int> ranks;
  std::set<int> groups;
  std::set<std::string, std::less<>> servers;
  int highest_rank = -1;
  std::optional<Columns> columns;
};

class NcclReader {
 public:
  NcclReader(const CollectiveReadOptions& options, FileComplaints& complaints)
      : options_{options}, complaints_{complaints} {}

  CollectiveLog read(std::string_view text) {
    LogLines lines{text};
    while (lines.next()) {
      const std::vector<LogWord> words = words_of(lines);
      if (lines.comment())
        read_comment(words);
      else if (whole(words[0].text))
        read_row(words);
      else
        note_other(lines);
    }
    if (!seen_header_)
      complaints_.fail({first_other_ == 0 ? 1 : first_other_, 1}, "",
                       fmt::format("expected the output of nccl-tests, with a header `# size count type ... time algbw "
                                   "busbw`, got {}",
                                   other_text_.empty() ? "a log without one" : other_text_));
    return std::move(log_);
  }

 private:
  void note_other(const LogLines& lines) {
    ++log_.other_lines;
    if (first_other_ != 0) return;
    first_other_ = lines.number();
    other_text_ = quoted_line(lines.line());
  }

  void read_comment(const std::vector<LogWord>& words) {
    if (words.empty()) return;
    const auto is = [&](std::size_t i, std::string_view text) { return i < words.size() && words[i].text == text; };
    if (is(0, "OSU"))
      complaints_.fail({words[0].place.line, 1}, "",
                       "expected the output of nccl-tests, this is that of an OSU benchmark (an --osu-log)");
    if (is(0, "nccl-tests")) read_version(words);
    if (is(0, "Collective") && is(1, "test") && is(2, "starting:") && words.size() > 3)
      name_ = words[3];
    else if (is(0, "nThread"))
      begin_run();
    else if (is(0, "Rank"))
      read_rank(words);
    else if (is(0, "size") && words.size() > 3)
      read_header(words);
  }

  /// `nccl-tests version 2.17.8 nccl-headers=22902 nccl-library=22902`: NCCL 2.29.2. Before 2.9 the code had a digit
  /// less for the minor number.
  void read_version(const std::vector<LogWord>& words) {
    constexpr std::string_view kLibrary = "nccl-library=";
    constexpr std::int64_t kNewForm = 20'000, kMost = 999'999;
    for (const LogWord& word : words) {
      if (!word.text.starts_with(kLibrary) || !whole(word.text.substr(kLibrary.size()))) continue;
      const std::int64_t code =
          read_whole(word.text.substr(kLibrary.size()), 0, kMost, word.place, "nccl-library", complaints_);
      if (code >= kNewForm) log_.nccl_version = fmt::format("{}.{}.{}", code / 10'000, code / 100 % 100, code % 100);
    }
  }

  void begin_run() {
    run_ = Run{};
    if (name_.text.empty()) return;
    std::string_view program = name_.text.substr(name_.text.rfind('/') + 1);
    program = program.substr(0, std::min(program.find("_perf"), program.size()));
    const auto* const test = std::find_if(std::begin(kNcclTests), std::end(kNcclTests),
                                          [&](const NcclTest& t) { return t.program == program; });
    if (test == std::end(kNcclTests))
      complaints_.fail(name_.place, "",
                       fmt::format("expected all_reduce_perf, reduce_scatter_perf, all_gather_perf, alltoall_perf, "
                                   "broadcast_perf, reduce_perf or sendrecv_perf, got \"{}\"",
                                   name_.text));
    run_.exchange = test->exchange;
    name_ = {};
  }

  /// `Rank  3 Group  0 Pid  1890 on   worker-1 device  3 [0x99] NVIDIA H100`, in older versions without Group.
  void read_rank(const std::vector<LogWord>& words) {
    if (words.size() < 2 || !whole(words[1].text)) return;
    const int rank = static_cast<int>(read_whole(words[1].text, 0, INT_MAX - 1, words[1].place, "rank", complaints_));
    if (!run_.ranks.insert(rank).second)
      complaints_.fail(words[0].place, "ranks",
                       fmt::format("rank {} is there twice: expected one program of many ranks, not many programs of "
                                   "their own (nccl-tests needs MPI=1 for several processes)",
                                   rank));
    run_.highest_rank = std::max(run_.highest_rank, rank);
    for (std::size_t i = 2; i + 1 < words.size(); ++i) {
      if (words[i].text == "Group" && whole(words[i + 1].text))
        run_.groups.insert(
            static_cast<int>(read_whole(words[i + 1].text, 0, INT_MAX, words[i + 1].place, "group", complaints_)));
      if (words[i].text == "on") {
        run_.servers.emplace(words[i + 1].text);
        break;
      }
    }
  }

  void read_header(const std::vector<LogWord>& words) {
    Columns columns{.line = words[0].place.line};
    columns.count = words.size();
    for (std::size_t i = 1; i < words.size(); ++i) {
      if (words[i].text == "cputime")
        complaints_.fail(words[i].place, "",
                         "expected times of collectives, got times of the launching host (run without -C)");
      if (words[i].text == "time") (columns.out_of_place == 0 ? columns.out_of_place : columns.in_place) = i;
      if (words[i].text == "#wrong") columns.counts_wrong = true;
    }
    if (words.back().text == "timestamp") {
      columns.timestamp = true;
      --columns.count;
    }
    if (columns.out_of_place == 0 || columns.out_of_place + 2 >= columns.count)
      complaints_.fail(words[0].place, "", "expected a header with the columns time, algbw and busbw");
    run_.columns = columns;
    seen_header_ = true;
  }

  void read_row(const std::vector<LogWord>& words) {
    const TextPlace start = words[0].place;
    if (!run_.columns)
      complaints_.fail(start, "",
                       "expected the header of nccl-tests, `# size count type ... time algbw busbw`, before its rows");
    const Columns& columns = *run_.columns;
    if (words.size() < columns.count || words.size() > columns.count + (columns.timestamp ? 2 : 0)) {
      complaints_.add(start, "",
                      fmt::format("expected {} columns as in the header of line {}, got {}", columns.count,
                                  columns.line, words.size()));
      return;
    }
    const std::int64_t size = read_whole(words[0].text, 0, kMaxElements, start, "size", complaints_);
    if (size == 0) return;  // too small for its ranks: nothing was sent
    const std::size_t time = time_column(columns, words);
    CollectiveSample sample;
    sample.size = Bytes{size};
    sample.exchange = exchange_of(run_.exchange, options_, log_);
    set_ranks(sample);
    sample.time = read_latency(words[time].text, words[time].place, complaints_);
    check_wrong(columns, words, time);
    check_bus(sample, words, time);
    log_.samples.push_back(sample);
  }

  /// The in-place time, as in training, unless it is `N/A`, because it makes no sense for the collective and is not
  /// checked.
  [[nodiscard]] std::size_t time_column(const Columns& columns, const std::vector<LogWord>& words) const {
    if (columns.in_place == 0 || options_.out_of_place || columns.in_place + 3 >= columns.count)
      return columns.out_of_place;
    const bool only_out_of_place =
        words[columns.in_place + 3].text == "N/A" && words[columns.out_of_place + 3].text != "N/A";
    return only_out_of_place ? columns.out_of_place : columns.in_place;
  }

  void set_ranks(CollectiveSample& sample) {
    const int all = run_.highest_rank + 1;  // of long lists some lines are missing
    const int groups = std::max(1, static_cast<int>(run_.groups.size()));
    sample.ranks = ranks_of(all / groups, options_, log_);
    sample.jobs = groups;
    log_.servers = std::max(log_.servers, static_cast<int>(run_.servers.size()));
  }

  void check_wrong(const Columns& columns, const std::vector<LogWord>& words, std::size_t time) {
    if (!columns.counts_wrong || time + 3 >= columns.count) return;
    const LogWord& wrong = words[time + 3];
    if (wrong.text != "0" && wrong.text != "N/A")
      complaints_.add(wrong.place, "#wrong",
                      fmt::format("{} values are wrong, so the time of this collective means nothing", wrong.text));
  }

  /// Checks an unnamed collective by its two bandwidths, whose ratio identifies it.
  void check_bus(const CollectiveSample& sample, const std::vector<LogWord>& words, std::size_t time) {
    const double algorithm = read_bandwidth(words[time + 1]), bus = read_bandwidth(words[time + 2]);
    if (algorithm < 1 || sample.ranks < 2 || bus_complained_) return;  // they have two decimals
    const double expected = bus_factor(sample.exchange, sample.ranks);
    if (std::abs(bus / algorithm - expected) <= 0.03 * expected) return;
    bus_complained_ = true;
    complaints_.add(words[time + 2].place, "busbw",
                    fmt::format("{:.2f} times algbw, not {:.2f} times as of {} among {} ranks", bus / algorithm,
                                expected, to_string(sample.exchange), sample.ranks),
                    "is it another collective (--collective), or another number of ranks?");
  }
  /// Reads a bandwidth in GB/s.
  double read_bandwidth(const LogWord& word) {
    const ScaledDecimal number = parse_scaled(word.text, 6);
    if (number.error != DecimalError::none || number.value < 0)
      complaints_.add(word.place, "bandwidth", fmt::format("expected a number >= 0, got \"{}\"", word.text));
    return static_cast<double>(number.value) * 1e-6;
  }

  const CollectiveReadOptions& options_;
  FileComplaints& complaints_;
  CollectiveLog log_;
  Run run_;
  LogWord name_;  ///< of the program that is about to run
  bool seen_header_ = false;
  bool bus_complained_ = false;
  int first_other_ = 0;
  std::string other_text_;
};

}  // namespace

CollectiveLog parse_nccl_log(std::string_view text, const CollectiveReadOptions& options, FileComplaints& complaints) {
  return NcclReader{options, complaints}.read(text);
}

}  // namespace contend
