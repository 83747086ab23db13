#pragma once
// Complaints about an input, found one by one and thrown together: who has three faults to mend hears of all three.

#include "sim/error.hpp"

#include <string>
#include <utility>
#include <vector>

namespace contend {

class Complaints {
 public:
  void add(Complaint complaint) { found_.push_back(std::move(complaint)); }
  /// About a key, or a part of an input, that has no place in a file; all three as in Complaint.
  void add(std::string key, std::string reason, std::string hint = {}) {
    add({.key = std::move(key), .reason = std::move(reason), .hint = std::move(hint)});
  }
  /// Those that `part()` throws, if it does; other parts may have more.
  template <class Part>
  void collect(const Part& part) {
    try {
      part();
    } catch (const InputError& error) {
      found_.insert(found_.end(), error.complaints().begin(), error.complaints().end());
    }
  }
  [[nodiscard]] bool empty() const { return found_.empty(); }
  /// Throws InputError with all of them in the order in which they were added, and keeps none.
  void throw_if_any() {
    if (!found_.empty()) throw InputError{std::exchange(found_, {})};
  }

 private:
  std::vector<Complaint> found_;
};

/// The same complaints after `change(Complaint&)` of each: what a part found, told with the names and places that the
/// user knows.
template <class Change>
[[nodiscard]] InputError amended(const InputError& error, const Change& change) {
  std::vector<Complaint> complaints = error.complaints();
  for (Complaint& each : complaints) change(each);
  return InputError{std::move(complaints)};
}

}  // namespace contend
