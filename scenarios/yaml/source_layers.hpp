#pragma once
// Splits a scenario into its layers, later ones on top: the files that a file includes, the file itself, then each
// `--set key=value`. Every layer is a tree of its own, so that every complaint knows its file and line.

#include "scenarios/yaml/yaml_tree.hpp"

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace contend {

/// The text of a file, or the reason why it cannot be read.
struct FileText {
  std::optional<std::string> text;
  std::string reason;
};
using FileReader = std::function<FileText(const std::string& path)>;

/// Reads a file from disk, up to the largest size that any part of a scenario may have.
[[nodiscard]] FileText read_text_file(const std::string& path);

/// One layer and the text that it comes from.
struct ScenarioLayer {
  std::unique_ptr<const SourceText> source;
  YamlNode root;  ///< a map
};

/// The layers of one file and its includes, the file itself last. Adds complaints about invalid YAML, missing files,
/// include cycles and missing schema versions.
[[nodiscard]] std::vector<ScenarioLayer> file_layers(const std::string& name, std::string text, const FileReader& read,
                                                     std::vector<Complaint>& complaints);

/// The layer of `key=value` with a dotted key. If the text has another form, it adds a complaint and returns nothing.
[[nodiscard]] std::optional<ScenarioLayer> override_layer(const std::string& assignment,
                                                          std::vector<Complaint>& complaints);

}  // namespace contend
