#pragma once
// Code shared by the readers of collective logs.

#include "text/file_complaints.hpp"
#include "traces/layers/collective_log.hpp"

#include <string_view>
#include <vector>

namespace contend {

/// Iterates over the non-blank lines of a text and numbers them. What launchers put in front of each line is left out:
/// `[1,0]<stdout>:` of `mpirun --tag-output`, with a name and @ before the numbers since Open MPI 5, and `0: ` of
/// `srun --label`.
class LogLines {
 public:
  explicit LogLines(std::string_view text) : rest_{text} {}
  /// Goes to the next non-blank line; returns false at the end.
  [[nodiscard]] bool next();
  [[nodiscard]] std::string_view line() const { return line_; }
  /// Characters that a launcher has put in front of it.
  [[nodiscard]] std::size_t tag() const { return tag_; }
  [[nodiscard]] int number() const { return number_; }
  [[nodiscard]] bool comment() const;

 private:
  std::string_view rest_, line_;
  std::size_t tag_ = 0;
  int number_ = 0;
};

/// A word of a line and its position.
struct LogWord {
  std::string_view text;
  TextPlace place;
};
/// The words of a line; a comment loses its #.
[[nodiscard]] std::vector<LogWord> words_of(const LogLines& lines);

/// Reads a latency in microseconds, > 0.
[[nodiscard]] Time read_latency(std::string_view text, TextPlace place, FileComplaints& complaints);

/// The first 60 characters of a line, for a message.
[[nodiscard]] std::string quoted_line(std::string_view line);

/// The ranks (or the exchange) from the log, else from the options, else 0 ranks (or an all-reduce); `log` records
/// which.
[[nodiscard]] int ranks_of(int in_log, const CollectiveReadOptions& options, CollectiveLog& log);
[[nodiscard]] TimedExchange exchange_of(std::optional<TimedExchange> in_log, const CollectiveReadOptions& options,
                                        CollectiveLog& log);

[[nodiscard]] CollectiveLog parse_nccl_log(std::string_view text, const CollectiveReadOptions& options,
                                           FileComplaints& complaints);
[[nodiscard]] CollectiveLog parse_osu_log(std::string_view text, const CollectiveReadOptions& options,
                                          FileComplaints& complaints);

}  // namespace contend
