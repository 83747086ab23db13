#pragma once
// What the readers of collective logs share.

#include "text/file_complaints.hpp"
#include "traces/layers/collective_log.hpp"

#include <string_view>
#include <vector>

namespace contend {

/// Lines of a text with their numbers.
class LogLines {
 public:
  explicit LogLines(std::string_view text) : rest_{text} {}
  /// Goes to the next line that isn't blank; false at the end.
  [[nodiscard]] bool next();
  [[nodiscard]] std::string_view line() const { return line_; }
  [[nodiscard]] int number() const { return number_; }
  [[nodiscard]] bool comment() const;

 private:
  std::string_view rest_, line_;
  int number_ = 0;
};

struct LogWord {
  std::string_view text;
  TextPlace place;
};
/// The words of a line; those of a comment without its #.
[[nodiscard]] std::vector<LogWord> words_of(const LogLines& lines);

/// A latency in microseconds, > 0.
[[nodiscard]] Time read_latency(std::string_view text, TextPlace place, FileComplaints& complaints);

/// Up to 60 characters of a line, to be quoted.
[[nodiscard]] std::string quoted_line(std::string_view line);

/// What the log says, or else what the options say, or else an all-reduce and 0 ranks; the log remembers which.
[[nodiscard]] int ranks_of(int in_log, const CollectiveReadOptions& options, CollectiveLog& log);
[[nodiscard]] TimedExchange exchange_of(std::optional<TimedExchange> in_log, const CollectiveReadOptions& options,
                                        CollectiveLog& log);

[[nodiscard]] CollectiveLog parse_nccl_log(std::string_view text, const CollectiveReadOptions& options,
                                           FileComplaints& complaints);
[[nodiscard]] CollectiveLog parse_osu_log(std::string_view text, const CollectiveReadOptions& options,
                                          FileComplaints& complaints);

}  // namespace contend
