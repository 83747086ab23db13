#include "scenarios/reader.hpp"

#include "scenarios/keys.hpp"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

namespace contend {
namespace {

using Kind = YamlNode::Kind;

/// A known key and the value that a layer gives it.
struct Assignment {
  const ScenarioKey* key;
  Place place;
  const YamlNode* value;
  /// Whether the value is more than the word for "no value".
  [[nodiscard]] bool sets() const {
    return key->unset.empty() || value->kind != Kind::scalar || value->text != key->unset;
  }
};

/// The parts of keys that may follow `prefix` (empty, or ending in a point).
std::vector<std::string> names_after(const std::string& prefix) {
  std::vector<std::string> names;
  for (const ScenarioKey& key : scenario_keys()) {
    if (!key.path.starts_with(prefix)) continue;
    const std::string_view rest = key.path.substr(prefix.size());
    std::string name{rest.substr(0, rest.find('.'))};
    if (names.empty() || names.back() != name) names.push_back(std::move(name));
  }
  return names;
}

/// For a key that is not known where it stands: a neighbour that was meant, or where the name belongs.
std::string hint_for(const std::string& name, const std::string& prefix) {
  const auto is_path = [&](const ScenarioKey& key) { return key.path == prefix + name; };
  if (std::any_of(scenario_keys().begin(), scenario_keys().end(), is_path))
    return "write nested maps instead of points";
  std::string hint = did_you_mean(name, names_after(prefix));
  for (const ScenarioKey& key : scenario_keys()) {
    if (hint.empty() && key.path.ends_with("." + name)) hint = fmt::format("did you mean `{}`?", key.path);
  }
  return hint;
}

/// Reads one layer after the other into one scenario.
class LayerReader {
 public:
  explicit LayerReader(std::vector<Diagnostic>& complaints) : complaints_{complaints} {}

  void apply(const ScenarioLayer& layer) {
    std::vector<Assignment> assignments;
    collect(*layer.source, layer.root, {}, assignments);
    refuse_conflicts(*layer.source, assignments);
    for (const Assignment& assignment : assignments) {
      if (assignment.sets()) displace_by(*assignment.key);
    }
    for (const Assignment& assignment : assignments) {
      const std::string path{assignment.key->path};
      const Reading reading{*layer.source, path, complaints_};
      if (assignment.key->role == KeyRole::include && layer.source->is_override()) {
        reading.complain(assignment.place, "not possible as an override");
        continue;
      }
      assignment.key->read(*assignment.value, reading, scenario_);
    }
  }

  Scenario take() {
    Scenario::Network& network = scenario_.network;
    if (!network.nic && !network.beta) network.nic = default_scenario().network.nic;
    refuse_idle();
    return std::move(scenario_);
  }

 private:
  /// Keys of an overlap study in another scenario, and the other way round.
  void refuse_idle() {
    const bool study = scenario_.overlap.given();
    for (const ScenarioKey& key : scenario_keys()) {
      if (!is_idle(key, scenario_) || key.print(scenario_) == key.print(default_scenario())) continue;
      Diagnostic complaint;
      complaint.key = key.path;
      complaint.reason = study ? "has no effect on the study of an iteration" : "has no effect without a model";
      if (!study) complaint.hint = "give overlap.model or overlap.layers";
      complaints_.push_back(std::move(complaint));
    }
  }

  void collect(const SourceText& source, const YamlNode& map, const std::string& prefix,
               std::vector<Assignment>& assignments) {
    const auto& keys = scenario_keys();
    for (const YamlNode::Entry& entry : map.entries) {
      const std::string path = prefix + entry.key;
      const std::string group = path + ".";
      const auto key = std::find_if(keys.begin(), keys.end(), [&](const ScenarioKey& k) { return k.path == path; });
      // A key with a point in it is not two nested keys, so it may match only where no point is part of its own name.
      const bool plain = entry.key.find('.') == std::string::npos;
      if (plain && key != keys.end()) {
        assignments.push_back({&*key, entry.place, &entry.value});
      } else if (plain &&
                 std::any_of(keys.begin(), keys.end(), [&](const auto& k) { return k.path.starts_with(group); })) {
        if (entry.value.kind == Kind::map) {
          collect(source, entry.value, group, assignments);
        } else {
          Reading{source, path, complaints_}.expected("a map of keys", entry.value);
        }
      } else {
        Reading{source, path, complaints_}.complain(entry.place, "unknown key", hint_for(entry.key, prefix));
      }
    }
  }

  /// Two keys of one layer that displace each other contradict each other.
  void refuse_conflicts(const SourceText& source, const std::vector<Assignment>& assignments) {
    std::vector<const Assignment*> blamed;  // one complaint for each is enough
    const auto is_blamed = [&](const Assignment& a) {
      return std::find(blamed.begin(), blamed.end(), &a) != blamed.end();
    };
    for (auto second = assignments.begin(); second != assignments.end(); ++second) {
      for (auto first = assignments.begin(); first != second; ++first) {
        if (!first->sets() || !second->sets() || is_blamed(*first) || is_blamed(*second)) continue;
        if (!displaces(*first->key, *second->key) || !displaces(*second->key, *first->key)) continue;
        const std::string path{second->key->path};
        Reading{source, path, complaints_}.complain(
            second->place, fmt::format("can't stand beside {} (line {})", first->key->path, first->place.line),
            "give one of the two");
        blamed.insert(blamed.end(), {&*first, &*second});
      }
    }
  }

  void displace_by(const ScenarioKey& key) {
    for (const ScenarioKey& other : scenario_keys()) {
      if (displaces(key, other)) other.reset(scenario_);
    }
  }

  std::vector<Diagnostic>& complaints_;
  Scenario scenario_ = default_scenario();
};

/// In the order of the files, and of the places in each.
void sort_by_place(std::vector<Diagnostic>& complaints) {
  std::map<std::string, std::size_t> order;
  for (const Diagnostic& d : complaints) order.emplace(d.file, order.size());
  std::stable_sort(complaints.begin(), complaints.end(), [&](const Diagnostic& a, const Diagnostic& b) {
    const auto rank = [&](const Diagnostic& d) {
      return std::tuple{order.at(d.file), d.line, d.line > 0 ? d.column : 0};
    };
    return rank(a) < rank(b);
  });
}

}  // namespace

Scenario parse_scenario(std::string_view text, const std::string& name, const LoadOptions& options,
                        const FileReader& read) {
  std::vector<Diagnostic> complaints;
  std::vector<ScenarioLayer> layers = file_layers(name, std::string{text}, read, complaints);
  for (const std::string& assignment : options.overrides) {
    if (auto layer = override_layer(assignment, complaints)) layers.push_back(std::move(*layer));
  }
  LayerReader reader{complaints};
  for (const ScenarioLayer& layer : layers) reader.apply(layer);
  Scenario scenario = reader.take();
  if (!complaints.empty()) {
    sort_by_place(complaints);
    throw InputError{std::move(complaints)};
  }
  return scenario;
}

Scenario load_scenario(const std::string& path, const LoadOptions& options) {
  const FileText file = read_text_file(path);
  if (!file.text) throw InputError{{SourceText{path, {}}.complaint({}, {}, "can't read it: " + file.reason)}};
  return parse_scenario(*file.text, path, options, read_text_file);
}

}  // namespace contend
