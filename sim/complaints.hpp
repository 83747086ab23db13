#pragma once
// Complaints collects the faults of an input and throws them together, so that the user sees all of them at once.

#include "sim/error.hpp"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

namespace contend {

class Complaints {
 public:
  void add(Complaint complaint) { found_.push_back(std::move(complaint)); }
  /// Adds a complaint without a place in a file; the arguments are the fields of Complaint.
  void add(std::string key, std::string reason, std::string hint = {}) {
    add({.key = std::move(key), .reason = std::move(reason), .hint = std::move(hint)});
  }
  /// Those that `part()` throws, if it does; other parts may have more. What an earlier part has found already, as
  /// parts that read the same file do, is told once.
  template <class Part>
  void collect(const Part& part) {
    try {
      part();
    } catch (const InputError& error) {
      for (const Complaint& each : error.complaints())
        if (!has(each)) found_.push_back(each);
    }
  }
  [[nodiscard]] bool empty() const { return found_.empty(); }
  /// If there are complaints, throws InputError with all of them in order of adding, and keeps none.
  void throw_if_any() {
    if (!found_.empty()) throw InputError{std::exchange(found_, {})};
  }

 private:
  [[nodiscard]] bool has(const Complaint& complaint) const {
    return std::any_of(found_.begin(), found_.end(), [&](const Complaint& each) {
      return each.file == complaint.file && each.line == complaint.line && each.column == complaint.column &&
             each.key == complaint.key && each.reason == complaint.reason;
    });
  }

  std::vector<Complaint> found_;
};

/// A copy of the error after `change(Complaint&)` of each complaint. A caller uses it to put the names and places that
/// the user knows into the complaints of a lower layer.
template <class Change>
[[nodiscard]] InputError amended(const InputError& error, const Change& change) {
  std::vector<Complaint> complaints = error.complaints();
  for (Complaint& each : complaints) change(each);
  return InputError{std::move(complaints)};
}

}  // namespace contend
