#pragma once
// Collects every complaint about one file, so that a reader can report them together.

#include "sim/error.hpp"

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
  std::vector<Complaint> kept_;
  std::int64_t more_ = 0;
};

/// A whole number from `minimum` to `maximum`; what is none is complained about and read as `minimum`.
[[nodiscard]] std::int64_t read_whole(std::string_view text, std::int64_t minimum, std::int64_t maximum,
                                      TextPlace place, const std::string& key, FileComplaints& complaints);

}  // namespace contend
