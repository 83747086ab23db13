#include "scenarios/yaml/source_layers.hpp"

#include "scenarios/yaml/codecs.hpp"
#include "scenarios/yaml/shipped.hpp"
#include "text/byte_source.hpp"
#include "text/words.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <mutex>
#include <utility>

#include <sys/stat.h>

namespace contend {
namespace {

using Kind = YamlNode::Kind;

// Files that include each other twice at every level would double the work with each level.
constexpr std::size_t kMaxFiles = 100;

const YamlNode::Entry* find_entry(const YamlNode& map, std::string_view key) {
  const auto entry = std::find_if(map.entries.begin(), map.entries.end(), [&](const auto& e) { return e.key == key; });
  return entry == map.entries.end() ? nullptr : &*entry;
}

class LayerCollector {
 public:
  LayerCollector(const FileReader& read, std::vector<Complaint>& complaints) : read_{read}, complaints_{complaints} {}

  void add_file(const std::string& name, std::string text) {
    ++files_;
    chain_.push_back(std::filesystem::path{name}.lexically_normal().string());
    auto source = std::make_unique<const SourceText>(name, std::move(text));
    std::optional<YamlNode> root = parse_yaml(source->text(), *source, 1, complaints_);
    if (root && root->kind != Kind::map) {
      complaints_.push_back(source->complaint(root->place, {}, "expected a map of keys, got " + found_text(*root)));
    } else if (root) {
      if (find_entry(*root, "schema_version") == nullptr) {
        complaints_.push_back(source->complaint({1, 1}, "schema_version", "missing", "write `schema_version: 2`"));
      }
      add_includes(*source, *root);
      layers_.push_back({std::move(source), std::move(*root)});
    }
    chain_.pop_back();
  }

  std::vector<ScenarioLayer> take() { return std::move(layers_); }

 private:
  void add_includes(const SourceText& source, const YamlNode& root) {
    const YamlNode::Entry* include = find_entry(root, "include");
    if (include == nullptr) return;
    const Reading reading{source, include->key, complaints_};
    if (include->value.kind != Kind::sequence) return add_include(reading, include->value);
    for (const YamlNode& item : include->value.items) add_include(reading, item);
  }

  void add_include(const Reading& reading, const YamlNode& node) {
    if (node.kind != Kind::scalar || node.text.empty()) return reading.expected("a path or a list of paths", node);
    const std::string path = shipped_path_beside(reading.source.folder(), node.text);
    if (std::find(chain_.begin(), chain_.end(), path) != chain_.end()) {
      return reading.complain(node.place, fmt::format("a cycle of files: {} -> {}", join(chain_, " -> "), path));
    }
    if (files_ >= kMaxFiles) return reading.complain(node.place, fmt::format("more than {} files", kMaxFiles));
    FileText file = read_ ? read_(path) : FileText{std::nullopt, "no files can be included here"};
    if (!file.text) return reading.complain(node.place, fmt::format("can't read {}: {}", quote(path), file.reason));
    add_file(path, std::move(*file.text));
  }

  const FileReader& read_;
  std::vector<Complaint>& complaints_;
  std::vector<ScenarioLayer> layers_;
  std::vector<std::string> chain_;  ///< the files being read, each included by the one before
  std::size_t files_ = 0;
};

FileText text_of_file(const std::string& path) {
  constexpr std::size_t kLargest = std::max(kMaxSourceBytes, kMaxProfileBytes);
  if (std::string reason = why_no_input_file(path); !reason.empty()) return {std::nullopt, std::move(reason)};
  errno = 0;
  std::ifstream file{path, std::ios::binary};
  if (!file) {
    const std::string reason = errno != 0 ? std::strerror(errno) : "it can't be opened";
    return {std::nullopt, reason + missing_scenarios(path)};
  }
  // Reads one byte more than allowed, which suffices for the complaint. In pieces, because pipes do not state a size.
  std::string text;
  while (file && text.size() <= kLargest) {
    const std::size_t before = text.size();
    text.resize(std::min(before + (1 << 18), kLargest + 1));
    file.read(text.data() + before, static_cast<std::streamsize>(text.size() - before));
    text.resize(before + static_cast<std::size_t>(file.gcount()));
  }
  if (file.bad()) return {std::nullopt, "it can't be read"};
  return {std::move(text), {}};
}

}  // namespace

FileText read_text_file(const std::string& path) {
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0 || !S_ISFIFO(status.st_mode)) return text_of_file(path);
  // A pipe gives its text once, and a scenario is read by several. The number of a descriptor names other pipes later.
  static std::mutex mutex;
  static std::map<std::pair<dev_t, ino_t>, FileText> piped;
  const std::scoped_lock lock{mutex};
  const std::pair identity{status.st_dev, status.st_ino};
  const auto found = piped.find(identity);
  return found != piped.end() ? found->second : piped.emplace(identity, text_of_file(path)).first->second;
}

std::vector<ScenarioLayer> file_layers(const std::string& name, std::string text, const FileReader& read,
                                       std::vector<Complaint>& complaints) {
  LayerCollector collector{read, complaints};
  collector.add_file(name, std::move(text));
  return collector.take();
}

std::optional<ScenarioLayer> override_layer(const std::string& assignment, std::vector<Complaint>& complaints) {
  auto source = std::make_unique<const SourceText>("--set", assignment, true);
  const std::size_t equals = assignment.find('=');
  const std::string key = assignment.substr(0, equals);
  const auto parts = static_cast<std::size_t>(std::count(key.begin(), key.end(), '.')) + 1;
  const bool empty_part = key.empty() || key.front() == '.' || key.back() == '.' || key.find("..") != std::string::npos;
  if (equals == std::string::npos || empty_part || parts > kMaxYamlDepth) {
    complaints.push_back(
        source->complaint({}, {}, "expected key=value such as network.nic=25Gbps, got " + quote(assignment)));
    return std::nullopt;
  }
  std::optional<YamlNode> node = parse_yaml(std::string_view{source->text()}.substr(equals + 1), *source,
                                            static_cast<int>(equals) + 2, complaints);
  if (!node) return std::nullopt;
  if (node->place.line == 0) node->place = {1, static_cast<int>(equals) + 2};
  // Builds the maps from the last part of the key outwards.
  for (std::size_t end = key.size(), start;; end = start - 1) {
    const std::size_t dot = end == 0 ? std::string::npos : key.rfind('.', end - 1);
    start = dot == std::string::npos ? 0 : dot + 1;
    const Place place{1, static_cast<int>(start) + 1};
    YamlNode map;
    map.kind = Kind::map;
    map.place = place;
    map.entries.push_back({key.substr(start, end - start), place, std::move(*node)});
    node = std::move(map);
    if (start == 0) break;
  }
  return ScenarioLayer{std::move(source), std::move(*node)};
}

}  // namespace contend
