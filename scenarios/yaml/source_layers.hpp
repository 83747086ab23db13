#pragma once
// A scenario is a stack of layers, later ones on top: the files that a file includes, the file itself, then each
// `--set key=value`. Every layer is a tree of its own, so that every complaint knows its file and line.

#include "scenarios/yaml/yaml_tree.hpp"

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace contend {

/// The text of a file, or why there is none.
struct FileText {
  std::optional<std::string> text;
  std::string reason;
};
using FileReader = std::function<FileText(const std::string& path)>;

/// From the disk. Reads no more than any file that a scenario is made of may have.
[[nodiscard]] FileText read_text_file(const std::string& path);

struct ScenarioLayer {
  std::unique_ptr<const SourceText> source;
  YamlNode root;  ///< a map
};

/// The layers of one file and what it includes, the file last. Complaints about texts that are no YAML, missing files,
/// cycles and missing schema versions are added to `complaints`.
[[nodiscard]] std::vector<ScenarioLayer> file_layers(const std::string& name, std::string text, const FileReader& read,
                                                     std::vector<Complaint>& complaints);

/// The layer of `key=value` with a dotted key; nothing, and a complaint, if it is none.
[[nodiscard]] std::optional<ScenarioLayer> override_layer(const std::string& assignment,
                                                          std::vector<Complaint>& complaints);

}  // namespace contend
