#pragma once
// Parses a text to a tree of YAML nodes that remember their places. It wraps yaml-cpp, which accepts duplicate keys,
// reads 010 as 8 and 'no' as false: here every scalar stays text, and constructs that a scenario may not contain
// (duplicate keys, anchors and aliases, tags, merge keys, a second document) are complaints.

#include "sim/error.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace contend {

inline constexpr std::size_t kMaxSourceBytes = 1 << 20;    ///< of a scenario
inline constexpr std::size_t kMaxProfileBytes = 16 << 20;  ///< of a calibration profile, which has a line for each
                                                           ///< measurement
inline constexpr std::size_t kMaxYamlDepth = 100;

/// A place in a text, from 1; 0 if unknown.
struct Place {
  int line = 0;
  int column = 0;  ///< in bytes
};

/// Sees the place of each value that is read as the path of a file, and that path from the working directory.
using PathWatcher = std::function<void(Place place, const std::string& path)>;

/// The text that complaints quote: a file, or one `--set key=value`.
class SourceText {
 public:
  SourceText(std::string name, std::string text, bool is_override = false);
  [[nodiscard]] const std::string& name() const { return name_; }
  [[nodiscard]] const std::string& text() const { return text_; }
  /// The folder from which relative paths in this text start; empty for the working directory.
  [[nodiscard]] std::string folder() const;
  [[nodiscard]] bool is_override() const { return is_override_; }
  /// Notes that the value at this place was read as this path. The last note of a place counts.
  void note_path(Place place, const std::string& path) const {
    if (watcher_) watcher_(place, path);
  }
  /// The same text; the watcher sees the paths that are read from it.
  [[nodiscard]] SourceText watched(PathWatcher watcher) const;
  [[nodiscard]] Complaint complaint(Place place, std::string_view key, std::string reason, std::string hint = {}) const;

 private:
  [[nodiscard]] std::string line(int number) const;

  std::string name_;
  std::string text_;
  bool is_override_;
  std::vector<std::size_t> line_starts_;
  PathWatcher watcher_;
};

/// A node of the tree.
struct YamlNode {
  enum class Kind : std::uint8_t { null, scalar, sequence, map };
  struct Entry;

  Kind kind = Kind::null;
  Place place;
  std::string text;             ///< of a scalar
  bool quoted = false;          ///< quoted or a block scalar, and so never a number or a bool
  std::vector<YamlNode> items;  ///< of a sequence
  std::vector<Entry> entries;   ///< of a map, in the order of the text, keys distinct
};

struct YamlNode::Entry {
  std::string key;
  Place place;
  YamlNode value;
};

/// What a complaint says it found: `"eight"`, `a list`, `a map`, `nothing`.
[[nodiscard]] std::string found_text(const YamlNode& node);

/// Follows a path such as `.graph.links[4].from` from `root` as far as it exists; returns how many parts matched and
/// the node reached.
[[nodiscard]] std::pair<std::size_t, const YamlNode*> follow(const YamlNode& root, std::string_view path);

/// Parses the single document in `text`, which begins in column `first_column` of the first line of `source`. An empty
/// text is a null node; the result is nothing if the text is no YAML or larger than `limit` bytes. Adds complaints.
std::optional<YamlNode> parse_yaml(std::string_view text, const SourceText& source, int first_column,
                                   std::vector<Complaint>& complaints, std::size_t limit = kMaxSourceBytes);

}  // namespace contend
