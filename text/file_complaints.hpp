#pragma once
// FileComplaints collects the complaints about one file, so that a reader reports them together.

#include "sim/error.hpp"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace contend {

/// A place in a text; line and column are 0 if unknown.
struct TextPlace {
  int line = 0;    ///< 1-based
  int column = 0;  ///< 1-based, in bytes
};

/// The complaints about one file. It keeps the first 50 in full and counts the others, so that a file with a million
/// faults does not produce a million messages.
class FileComplaints {
 public:
  explicit FileComplaints(std::string file) : file_{std::move(file)} {}

  void add(TextPlace place, std::string key, std::string reason, std::string hint = {});
  [[nodiscard]] bool empty() const { return kept_.empty(); }
  [[nodiscard]] std::int64_t count() const { return static_cast<std::int64_t>(kept_.size()) + more_; }
  [[nodiscard]] const std::string& file() const { return file_; }
  /// Throws InputError with the complaints if there are any.
  void throw_if_any();
  /// Adds a last complaint and throws it together with those before.
  [[noreturn]] void fail(TextPlace place, std::string key, std::string reason, std::string hint = {});

 private:
  void keep(TextPlace place, std::string key, std::string reason, std::string hint);

  std::string file_;
  std::vector<Complaint> kept_;
  std::int64_t more_ = 0;
};

/// Reads a whole number from `minimum` to `maximum`. For any other text it adds a complaint and returns `minimum`.
[[nodiscard]] std::int64_t read_whole(std::string_view text, std::int64_t minimum, std::int64_t maximum,
                                      TextPlace place, const std::string& key, FileComplaints& complaints);

}  // namespace contend
