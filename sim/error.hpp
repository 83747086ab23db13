#pragma once
// InputError is the one exception for bad input. It carries every complaint that was found, each with its place.
// Readers, builders and policy checks throw it; cli/ catches it, in one place.

#include <stdexcept>
#include <string>
#include <vector>

namespace contend {

/// One complaint about an input, printed as `file:line:column: key: reason` with the source line and a caret below.
struct Complaint {
  std::string file{};         ///< path as the user gave it, `--set` for an override, empty if there is none
  int line = 0;               ///< 1-based; 0 if unknown
  int column = 0;             ///< 1-based; 0 if unknown
  std::string key{};          ///< dotted path such as `cluster.servers`, or empty
  std::string reason{};       ///< what was expected and what was found
  std::string hint{};         ///< what would be right, such as the nearest valid name, or empty
  std::string source_line{};  ///< the text of that line, or empty

  /// The text for the user, without a newline at its end.
  [[nodiscard]] std::string format() const;
};

/// Bad input; its what() joins all complaints.
class InputError : public std::runtime_error {
 public:
  explicit InputError(std::vector<Complaint> complaints);
  explicit InputError(Complaint complaint);
  /// A single complaint without a place in a file.
  explicit InputError(std::string reason);
  [[nodiscard]] const std::vector<Complaint>& complaints() const { return complaints_; }

 private:
  std::vector<Complaint> complaints_;
};

/// The candidate nearest to `word` by edit distance; an empty string if none is near enough for a suggestion.
std::string nearest_name(const std::string& word, const std::vector<std::string>& candidates);

}  // namespace contend
