// Reads the output of OSU micro-benchmarks: https://mvapich.cse.ohio-state.edu/benchmarks/.

#include "traces/layers/collective_text.hpp"
#include "traces/layers/layer_quantities.hpp"

#include <algorithm>
#include <cctype>
#include <climits>

#include <fmt/core.h>

namespace contend {
namespace {

struct OsuTest {
  std::string_view title;  ///< between `OSU MPI` and `Latency Test`, without case, - and _
  TimedExchange exchange;
  bool block = false;  ///< its size is the size of the block of one rank
};

constexpr OsuTest kOsuTests[] = {
    {"allreduce", TimedExchange::all_reduce},
    {"reducescatter", TimedExchange::reduce_scatter},
    {"allgather", TimedExchange::all_gather, true},
    {"alltoall", TimedExchange::all_to_all, true},
    {"alltoallpersonalizedexchange", TimedExchange::all_to_all, true},
    {"broadcast", TimedExchange::broadcast},
    {"reduce", TimedExchange::reduce},
    {"", TimedExchange::message},
};

std::string folded(std::string_view text) {
  std::string out;
  for (const char c : text)
    if (c != '-' && c != '_' && c != ' ') out += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return out;
}

/// The title of a benchmark, `# OSU MPI-CUDA Allreduce Latency Test v7.0`.
bool is_title(const std::vector<LogWord>& words) {
  return words.size() >= 3 && words[0].text == "OSU" && words[1].text.starts_with("MPI");
}

class OsuReader {
 public:
  OsuReader(const CollectiveReadOptions& options, FileComplaints& complaints)
      : options_{options}, complaints_{complaints} {}

  CollectiveLog read(std::string_view text) {
    LogLines lines{text};
    while (lines.next()) {
      if (lines.comment())
        read_comment(lines);
      else
        read_row(lines);
    }
    return std::move(log_);
  }

 private:
  void read_comment(const LogLines& lines) {
    const std::vector<LogWord> words = words_of(lines);
    if (is_title(words)) return read_title(lines, words);
    if (words.empty()) return;
    const auto has = [&](std::string_view word) {
      return std::ranges::any_of(words, [&](const LogWord& each) { return each.text.find(word) != word.npos; });
    };
    if (has("algbw") || words[0].text == "nThread")
      complaints_.fail({lines.number(), 1}, "",
                       "expected the output of an OSU benchmark, this is that of nccl-tests (an --nccl-log)");
    if (words[0].text != "Size") return;
    if (has("MB/s")) fail_bandwidth(lines);
    if (has("Overall"))
      complaints_.fail({lines.number(), 1}, "",
                       "expected a blocking collective, got one that is timed together with computing");
    // Titles contain blanks, so columns are counted by their units and by names without a unit.
    columns_ =
        1 + static_cast<std::size_t>(std::ranges::count_if(words, [](const LogWord& word) {
          return word.text.find("(us)") != word.text.npos || word.text == "Iterations" || word.text == "Validation";
        }));
    if (columns_ < 2) columns_ = 2;
  }
  void read_title(const LogLines& lines, const std::vector<LogWord>& words) {
    std::string name;
    std::size_t i = 2;
    for (; i < words.size() && words[i].text != "Latency" && words[i].text != "Test"; ++i) name += words[i].text;
    const TextPlace place{lines.number(), 1};
    if (folded(name).ends_with("bandwidth")) fail_bandwidth(lines);
    const auto* const test = std::find_if(std::begin(kOsuTests), std::end(kOsuTests),
                                          [&](const OsuTest& t) { return t.title == folded(name); });
    if (test == std::end(kOsuTests) || i == words.size() || words[i].text != "Latency")
      complaints_.fail(place, "",
                       fmt::format("expected osu_allreduce, osu_reduce_scatter, osu_allgather, osu_alltoall, "
                                   "osu_bcast, osu_reduce or osu_latency, got {}",
                                   quoted_line(lines.line())));
    if (test_ != nullptr && test_ != test)
      complaints_.fail(place, "", "expected one benchmark in a log; put each into a file of its own");
    test_ = test;
  }
  [[noreturn]] void fail_bandwidth(const LogLines& lines) {
    complaints_.fail({lines.number(), 1}, "",
                     "expected latencies, got a bandwidth test, which overlaps messages and so has no start-up time of "
                     "one; use osu_latency");
  }

  void read_row(const LogLines& lines) {
    const std::vector<LogWord> words = words_of(lines);
    if (log_.samples.empty() && test_ == nullptr && words[0].text.find_first_not_of("0123456789,") != std::string::npos)
      complaints_.fail({lines.number(), 1}, "",
                       fmt::format("expected the output of an OSU benchmark, with rows `SIZE LATENCY`, got {}",
                                   quoted_line(lines.line())));
    CollectiveSample sample;
    sample.exchange = exchange_of(test_ ? std::optional{test_->exchange} : std::nullopt, options_, log_);
    auto [size, place] = words[0];
    int in_log = test_ != nullptr && test_->exchange == TimedExchange::message ? 2 : 0;
    if (const std::size_t comma = size.find(','); comma != std::string_view::npos) {
      in_log = static_cast<int>(read_whole(size.substr(0, comma), 1, INT_MAX, place, "ranks", complaints_));
      size.remove_prefix(comma + 1);
      place.column += static_cast<int>(comma) + 1;
    }
    sample.ranks = ranks_of(in_log, options_, log_);
    const bool block = test_ != nullptr && test_->block;
    if (block && sample.ranks == 0)
      complaints_.fail({lines.number(), 1}, "ranks", "the log does not give the number of ranks; give it by --ranks N");
    const std::int64_t ranks = block ? sample.ranks : 1;
    sample.size = Bytes{read_whole(size, 0, kMaxElements / ranks, place, "size", complaints_) * ranks};
    const std::size_t end = static_cast<std::size_t>(words[0].place.column) + words[0].text.size();
    const LogWord latency = words.size() > 1 ? words[1] : LogWord{"", {lines.number(), static_cast<int>(end)}};
    sample.time = read_latency(latency.text, latency.place, complaints_);
    if (words.size() > 1 && words.size() != columns_)
      complaints_.add(words[std::min(columns_, words.size()) - (words.size() < columns_ ? 1 : 0)].place, "",
                      columns_ == 2
                          ? std::string{"expected only `SIZE LATENCY`"}
                          : fmt::format("expected {} columns as in the header, got {}", columns_, words.size()));
    log_.samples.push_back(sample);
    if (sample.ranks != log_.samples.front().ranks)
      complaints_.add({lines.number(), 1}, "ranks", "expected the same number of ranks as in the first row");
  }

  const CollectiveReadOptions& options_;
  FileComplaints& complaints_;
  CollectiveLog log_;
  const OsuTest* test_ = nullptr;  ///< none: the log has no title
  std::size_t columns_ = 2;
};

}  // namespace

CollectiveLog parse_osu_log(std::string_view text, const CollectiveReadOptions& options, FileComplaints& complaints) {
  return OsuReader{options, complaints}.read(text);
}

}  // namespace contend
