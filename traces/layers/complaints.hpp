#pragma once
// What the readers of layer times share: collecting every complaint about a file, and reading the quantities that all
// the formats have, with the same limits.

#include "sim/error.hpp"
#include "sim/units.hpp"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace contend {

/// A place in a text; 0 if unknown.
struct TextPlace {
  int line = 0;    ///< 1-based
  int column = 0;  ///< 1-based, in bytes
};

/// The complaints about one file. The first 50 are kept in full, the others are counted: a file that is wrong a million
/// times is not explained a million times.
class FileComplaints {
 public:
  explicit FileComplaints(std::string file) : file_{std::move(file)} {}

  void add(TextPlace place, std::string key, std::string reason, std::string hint = {});
  [[nodiscard]] bool empty() const { return kept_.empty(); }
  [[nodiscard]] std::int64_t count() const { return static_cast<std::int64_t>(kept_.size()) + more_; }
  [[nodiscard]] const std::string& file() const { return file_; }
  /// Throws InputError if there is anything to complain about.
  void throw_if_any();
  /// One last complaint: throws it, together with all before.
  [[noreturn]] void fail(TextPlace place, std::string key, std::string reason, std::string hint = {});

 private:
  void keep(TextPlace place, std::string key, std::string reason, std::string hint);

  std::string file_;
  std::vector<Diagnostic> kept_;
  std::int64_t more_ = 0;
};

/// `did you mean "x"?` for the nearest candidate, or an empty string.
[[nodiscard]] std::string suggest(const std::string& word, const std::vector<std::string>& candidates);

/// Decimals of a time that is given in microseconds and kept in nanoseconds.
inline constexpr int kMicroseconds = 3;

/// A time from decimal text in units of 10^-decimals ns (us: 3, ms: 6, s: 9), 0 to one hour. Rounded to the nanosecond.
/// What is no such time is complained about and read as 0.
[[nodiscard]] Time read_layer_time(std::string_view text, int decimals, TextPlace place, const std::string& key,
                                   FileComplaints& complaints);

/// A whole number from `minimum` to `maximum`; what is none is complained about and read as `minimum`.
[[nodiscard]] std::int64_t read_whole(std::string_view text, std::int64_t minimum, std::int64_t maximum,
                                      TextPlace place, const std::string& key, FileComplaints& complaints);

/// The largest tensor and the longest table that a reader accepts: with them no sum of bytes or times overflows.
inline constexpr std::int64_t kMaxElements = std::int64_t{1} << 40;
inline constexpr std::int64_t kMaxLayers = 1'000'000;

}  // namespace contend
