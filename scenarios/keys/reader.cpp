#include "scenarios/keys/reader.hpp"

#include "scenarios/keys/federated_codec.hpp"
#include "scenarios/keys/key_places.hpp"
#include "scenarios/keys/key_tables.hpp"
#include "scenarios/keys/keys.hpp"
#include "scenarios/keys/machine_preset.hpp"
#include "scenarios/keys/metering.hpp"
#include "scenarios/keys/power_row_codec.hpp"
#include "scenarios/keys/rl_codec.hpp"
#include "scenarios/keys/serving_codec.hpp"
#include "scenarios/keys/training_codec.hpp"
#include "scenarios/keys/unknown_key.hpp"
#include "scenarios/run/fabric.hpp"
#include "scenarios/run/islands.hpp"
#include "scenarios/run/make_policy.hpp"
#include "scenarios/study/study_check.hpp"
#include "scenarios/training/training_check.hpp"
#include "scenarios/training/training_graphs.hpp"
#include "text/words.hpp"
#include "traces/link_matrix_csv.hpp"

#include <algorithm>
#include <initializer_list>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <utility>

namespace contend {
namespace {

using Kind = YamlNode::Kind;

/// A known key and the node that a layer assigns to it.
struct Assignment {
  const SourceText* source;
  const ScenarioKey* key;
  Place place;
  const YamlNode* value;
  /// True if the value is more than the word for "no value".
  [[nodiscard]] bool sets() const {
    return key->io->unset.empty() || value->kind != Kind::scalar || value->text != key->io->unset;
  }
};

/// Reads layers one after the other into one scenario.
class LayerReader {
 public:
  /// `files` must outlive it.
  explicit LayerReader(const FileReader& files) : files_{&files} {}
  explicit LayerReader(FileReader&&) = delete;

  void apply(const ScenarioLayer& layer) {
    if (!layer.source->is_override()) file_ = layer.source.get();
    std::vector<Assignment> assignments;
    collect(*layer.source, layer.root, {}, assignments);
    refuse_conflicts(*layer.source, assignments);
    for (const std::string& group : std::exchange(emptied_, {})) reset_group(group);
    const Scenario before = scenario_;
    lost_.clear();
    for (const Assignment& assignment : assignments) {
      if (assignment.sets()) displace_by(*assignment.key);
    }
    for (const Assignment& assignment : assignments) {
      const std::string path{assignment.key->path};
      const Reading reading{*layer.source, path, complaints_, files_};
      if (assignment.key->role == KeyRole::include && layer.source->is_override()) {
        reading.complain(assignment.place, "not possible as an override");
        continue;
      }
      assignment.key->io->read(*assignment.value, reading, scenario_);
    }
    drop_pointless(before);
    if (layer.source->is_override()) note_lost(*layer.source);
    for (const Assignment& assignment : assignments) {
      if (assignment.sets()) given_.push_back(assignment);
    }
  }

  /// The checks that need all layers; `readable` says that all of them could be read.
  void finish(bool readable = true) {
    NetworkSetup& network = scenario_.network;
    take_version();
    take_machine();
    place(take_rate(network, *default_scenario().network.nic, gives("network.nic") || gives("network.beta")));
    refuse_pointless();
    if (!scenario_.cluster.types.empty()) {
      place(types_complaints(scenario_.cluster, scenario_.scheduling, scenario_.workload));
      take_types(scenario_);
    }
    const bool vcs_are_read = std::none_of(complaints_.begin(), complaints_.end(),
                                           [](const Complaint& d) { return d.key.starts_with("cluster.vcs"); });
    if (vcs_are_read) place(vcs_complaints(scenario_.cluster));
    if (none_about({"cluster", "workload"})) place(level_complaints(scenario_.cluster, scenario_.workload.level));
    if (const auto complaint = jobs_complaint(scenario_.workload, scenario_.measure);
        complaint && !(complaint->key == "workload.jobs" && is_faulty("workload.like")))
      place({*complaint});
    place(sharing_complaints(scenario_.scheduling, scenario_.sharing));
    if (!scenario_.overlap.given() && none_about({"policies"})) place(scheduling_complaints(scenario_.scheduling));
    if (none_about({"failures", "checkpoints", "cluster", "scheduling", "workload"}))
      place(
          failure_complaints(scenario_.failures, scenario_.checkpoints, scenario_.cluster, network, scenario_.sharing));
    if (none_about({"failures", "loans", "cluster", "scheduling"}))
      place(loan_complaints(scenario_.loans, scenario_.cluster, scenario_.failures));
    if (!readable) return;
    if (!complaints_.empty()) return place_independent();
    take_defaults(scenario_.training);
    take_device(network, scenario_.training);
    if (scenario_.overlap.given()) {
      if (!take_entry()) return;
      keep_places();
    }
    take_sites();
    check_meters();
    if (scenario_.overlap.given()) {  // one job fills its servers
      const int most = *std::ranges::max_element(scenario_.overlap.workers);
      const int per_server = scenario_.cluster.gpus_per_server;
      scenario_.cluster.servers = (most + per_server - 1) / per_server;
      // At flow, parameter servers elsewhere need places of their own.
      const TrainingEntry& entry = scenario_.overlap.entry;
      if (network.traits().has_topology && entry.exchange == ExchangeKind::parameter_server && !entry.colocated)
        scenario_.cluster.servers += entry.servers.value_or(most);
    }
    take_interference();
    take_ideals();
    place(island_complaints(scenario_.cluster, scenario_.network, scenario_.overlap));
    place(serving_complaints(scenario_));
    place(power_row_complaints(scenario_));
    place(rl_complaints(scenario_));
    place(federated_complaints(scenario_));
    place(training_complaints(scenario_, scenario_.workload));
    place(study_complaints(scenario_));
    if (network.traits().has_topology && network.contention_penalty.value_or(0) < 0)
      place({{.key = "network.contention_penalty",
              .reason = "links carry no more than their bandwidth, however many flows share them",
              .hint = "0 or more at fidelity flow"}});
    if (complaints_.empty() && network.traits().has_topology)
      place(topology_complaints(scenario_.cluster, scenario_.network));
  }

  /// The complaint at the place where its key was last given.
  [[nodiscard]] Complaint at_its_key(const Complaint& complaint) const {
    const auto [source, place] = find(complaint.key);
    return source.complaint(place, complaint.key, complaint.reason, complaint.hint);
  }

  [[nodiscard]] const std::vector<Complaint>& complaints() const { return complaints_; }
  [[nodiscard]] const std::vector<std::string>& notes() const { return notes_; }
  [[nodiscard]] Scenario& scenario() { return scenario_; }

 private:
  /// True if no complaint so far is about these groups of keys.
  [[nodiscard]] bool none_about(std::initializer_list<std::string_view> groups) const {
    return std::ranges::none_of(complaints_, [&](const Complaint& each) {
      const std::string_view group = std::string_view{each.key}.substr(0, each.key.find('.'));
      return std::ranges::find(groups, group) != groups.end();
    });
  }

  /// True if a complaint so far is about this key or a part of its value.
  [[nodiscard]] bool is_faulty(const std::string& key) const {
    return std::ranges::any_of(
        complaints_, [&](const Complaint& each) { return each.key == key || each.key.starts_with(key + "."); });
  }

  /// Beside the complaints so far, those that can't follow from them, so that users see them in the same round.
  void place_independent() {
    const auto is_sound = [&](const std::string& entry) { return !is_faulty("training." + entry); };
    if (!scenario_.overlap.given() && is_sound(std::string{kDefaultEntry})) {
      take_defaults(scenario_.training);
      take_device(scenario_.network, scenario_.training);
      for (const TrainingEntry& entry : scenario_.training)
        if (entry.name != kDefaultEntry && is_sound(entry.name)) place(entry_complaints(entry));
    }
    if (scenario_.network.traits().has_topology && none_about({"network", "cluster"}))
      place(topology_complaints(scenario_.cluster, scenario_.network));
  }

  void take_version() {
    const bool as_framework = scenario_.schema_version > 1;
    scenario_.network.as_framework = as_framework;
    for (TrainingEntry& entry : scenario_.training) entry.as_framework = as_framework;
  }

  /// Keys that no layer gives, or says in another way, are as the machine has them.
  void take_machine() {
    NetworkSetup& network = scenario_.network;
    const std::string text =
        network.machine ? machine_preset(*network.machine, network.fidelity) : library_preset(network);
    if (text.empty()) return;
    const SourceText source{"machine", text};
    std::vector<Assignment> assignments;
    const std::optional<YamlNode> root = parse_yaml(source.text(), source, 1, complaints_);
    if (root) collect(source, *root, {}, assignments);
    for (const Assignment& each : assignments) {
      const auto stands_for = [&](const Assignment& given) {
        return given.key == each.key || displaces(*given.key, *each.key) || displaces(*each.key, *given.key);
      };
      if (std::ranges::any_of(given_, stands_for) || !applies(*each.key, scenario_)) continue;
      const std::string path{each.key->path};
      each.key->io->read(*each.value, Reading{source, path, complaints_, files_}, scenario_);
      network.of_machine.push_back(path);
    }
  }

  /// True if the figures of all devices for what computing and communicating cost each other are known and one.
  [[nodiscard]] bool knows_interference() const {
    NetworkSetup network = scenario_.network;
    network.interference.both = NetworkSetup::InterferenceChoice{.usual = true};
    return interference_complaints(scenario_.cluster, network, scenario_.overlap, scenario_.training).empty();
  }

  /// True if a layer gives the key or one of its parts.
  [[nodiscard]] bool gives_any_of(std::string_view path) const {
    return std::ranges::any_of(given_, [&](const Assignment& given) { return given.key->path.starts_with(path); });
  }

  /// As a framework has it, and on a machine, computing and communicating have the interference that is usual on the
  /// device, where that is known.
  void take_interference() {
    NetworkSetup& network = scenario_.network;
    if (gives_any_of("network.interference") || !(network.machine || network.as_framework)) return;
    if (!knows_interference()) return;
    network.interference.both = NetworkSetup::InterferenceChoice{.usual = true};
    if (network.machine) network.of_machine.emplace_back("network.interference");
  }

  /// Notes what this version has as an ideal and the latest has not.
  void take_ideals() {
    if (scenario_.schema_version == kSchemaVersion) return;
    std::vector<std::string>& ideals = scenario_.ideals;
    for (const TrainingEntry& entry : scenario_.training) {
      if (entry.name == kDefaultEntry) continue;
      for (std::string& each : ideals_of(entry))
        if (std::ranges::find(ideals, each) == ideals.end()) ideals.push_back(std::move(each));
    }
    NetworkSetup network = scenario_.network;
    if (!gives_any_of("network.interference") && !network.machine && knows_interference())
      ideals.emplace_back("network.interference: none");
    network.as_framework = true;
    if (!gives("network.collectives") && !network.machine && !library_preset(network).empty())
      ideals.push_back("network.collectives: " + network.collectives);
  }

  /// Gives a study its entry, and the policies of the entry where it has no lists of its own. False if there is no such
  /// entry, which is then a complaint.
  bool take_entry() {
    if (!gives("cluster.gpus_per_server") && !scenario_.network.machine) scenario_.cluster.gpus_per_server = 1;
    IterationStudy& study = scenario_.overlap;
    const TrainingEntry* const entry = find_entry(scenario_.training, *study.training);
    if (entry == nullptr) {
      std::vector<std::string> names;
      for (const TrainingEntry& each : scenario_.training)
        if (each.name != kDefaultEntry) names.push_back(each.name);
      place({{.key = "overlap.training",
              .reason = fmt::format("training has no entry {}", quote(*study.training)),
              .hint = did_you_mean(*study.training, names)}});
      return false;
    }
    study.entry = *entry;
    if (study.fusion.empty()) study.fusion = {entry->fusion};
    if (study.compression.empty()) study.compression = {entry->compression};
    return true;
  }

  [[nodiscard]] bool gives(std::string_view path) const {
    return std::ranges::any_of(given_, [&](const Assignment& given) { return given.key->path == path; });
  }

  /// Sets the servers of a cluster, or the workers of a study, whose links are in a file: a GPU on each of them.
  void take_sites() {
    if (!scenario_.network.sites) return;
    IterationStudy& study = scenario_.overlap;
    ClusterSetup& cluster = scenario_.cluster;
    if (!gives("cluster.gpus_per_server")) cluster.gpus_per_server = 1;
    if (cluster.gpus_per_server > 1 || !cluster.types.empty())
      place({{.key = cluster.types.empty() ? "cluster.gpus_per_server" : "cluster.types",
              .reason = "each site of network.sites has one server of one GPU",
              .hint = "leave the key out, or write 1"}});
    try {
      const auto sites = static_cast<int>(read_link_matrix(*scenario_.network.sites).sites().size());
      const std::string there = fmt::format("{} links {} sites", *scenario_.network.sites, sites);
      if (!study.given() && !gives("cluster.servers")) cluster.servers = sites;
      if (!study.given() && cluster.servers > sites)
        place({{.key = "cluster.servers", .reason = fmt::format("{} servers, but {}", cluster.servers, there)}});
      if (study.given() && !gives("overlap.workers")) study.workers = {sites};
      for (const int workers : study.workers) {
        if (study.given() && workers > sites)
          place({{.key = "overlap.workers", .reason = fmt::format("{} workers, but {}", workers, there)}});
      }
    } catch (const InputError& error) {
      place_of_file(error, "network.sites");
    }
  }

  void check_meters() {
    try {
      static_cast<void>(metering_of(scenario_.cluster, scenario_.meter));
    } catch (const InputError& error) {
      place_of_file(error, "meter.rates");
    }
  }

  /// Complaints about the file that `key` names, at their lines or, without one, at the key; others at their own keys.
  void place_of_file(const InputError& error, const char* key) {
    for (const Complaint& each : error.complaints()) {
      if (each.line > 0)
        complaints_.push_back(each);
      else if (!each.key.empty())
        place({each});
      else
        place({{.key = key, .reason = each.file + ": " + each.reason, .hint = each.hint}});
    }
  }

  /// Records where the keys of a study and the members of its entry were last given, for errors that show only when it
  /// runs.
  void keep_places() {
    std::vector<Complaint>& places = scenario_.overlap.places;
    places.clear();
    for (auto given = given_.rbegin(); given != given_.rend(); ++given) {
      const std::string_view path = given->key->path;
      if (path.starts_with("overlap.") && std::ranges::find(places, path, &Complaint::key) == places.end())
        places.push_back(given->source->complaint(given->value->place, path, {}));
    }
    const TrainingEntry& entry = scenario_.overlap.entry;
    const std::string key = "training." + entry.name;
    places.push_back(at_its_key({.key = key}));
    for (const std::string& member : entry.given) places.push_back(at_its_key({.key = key + "." + member}));
  }

  void collect(const SourceText& source, const YamlNode& map, const std::string& prefix,
               std::vector<Assignment>& assignments) {
    const auto& keys = scenario_keys();
    for (const YamlNode::Entry& entry : map.entries) {
      const std::string path = prefix + entry.key;
      const std::string group = path + ".";
      const auto key = std::find_if(keys.begin(), keys.end(), [&](const ScenarioKey& k) { return k.path == path; });
      // A name with a dot does not denote nested keys, so only names without a dot can match.
      const bool plain = entry.key.find('.') == std::string::npos;
      const bool is_group =
          std::any_of(keys.begin(), keys.end(), [&](const auto& k) { return k.path.starts_with(group); });
      // A whole that may be one value or a map of its parts.
      if (plain && key != keys.end() && !(is_group && entry.value.kind == Kind::map)) {
        assignments.push_back({&source, &*key, entry.place, &entry.value});
      } else if (plain && is_group) {
        if (entry.value.kind == Kind::map) {
          if (entry.value.entries.empty()) emptied_.push_back(group);
          collect(source, entry.value, group, assignments);
        } else {
          Reading{source, path, complaints_}.expected("a map of keys", entry.value);
        }
      } else {
        if (!prefix.empty()) misnamed_.push_back(prefix);
        Reading{source, path, complaints_}.complain(entry.place, "unknown key",
                                                    unknown_key_hint(entry.key, prefix, entry.value));
      }
    }
  }

  /// Reports pairs of keys of one layer that displace each other.
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

  /// Takes back what earlier layers say about the keys of a group.
  void reset_group(const std::string& group) {
    for (const ScenarioKey& key : scenario_keys()) {
      if (!key.path.starts_with(group)) continue;
      reset(key, scenario_);
      std::erase_if(given_, [&](const Assignment& given) { return given.key == &key; });
    }
  }

  void displace_by(const ScenarioKey& key) {
    for (const ScenarioKey& other : scenario_keys()) {
      if (!displaces(key, other)) continue;
      // Most keys that displace each other say one thing in two ways; these two bring other jobs altogether.
      if (other.path == "workload.like" || other.path == "workload.jobs") lose(other);
      reset(other, scenario_);
    }
  }

  /// The key no longer counts, which is worth a note if an earlier layer gave it.
  void lose(const ScenarioKey& key) {
    if (std::ranges::find(given_, &key, &Assignment::key) != given_.end()) lost_.push_back(&key);
  }

  void note_lost(const SourceText& source) {
    if (lost_.empty()) return;
    std::vector<std::string> names;
    for (const ScenarioKey* key : lost_) names.emplace_back(key->path);
    notes_.push_back(fmt::format("{} {}: {} no longer {}", source.name(), source.text(), join(names),
                                 names.size() == 1 ? "counts" : "count"));
  }

  /// Resets keys of earlier layers that have no meaning after this layer.
  void drop_pointless(const Scenario& before) {
    for (const ScenarioKey& key : scenario_keys()) {
      if (!applies(key, before) || applies(key, scenario_)) continue;
      lose(key);
      reset(key, scenario_);
      std::erase_if(given_, [&](const Assignment& given) { return given.key == &key; });
    }
  }

  void refuse_pointless() {
    std::set<std::string> faulty;
    for (const Complaint& each : complaints_)
      if (!each.key.empty()) faulty.insert(each.key);
    for (const ScenarioKey& key : scenario_keys()) {
      if (applies(key, scenario_)) continue;
      const auto given = std::find_if(given_.rbegin(), given_.rend(), [&](const auto& g) { return g.key == &key; });
      if (given == given_.rend()) continue;
      // The keys that this key needs may stand there under a wrong name or with a wrong value, which is a complaint
      // already.
      const auto may_give_it = [&](const std::string& group) { return key.needs.find(group) != std::string::npos; };
      if (std::ranges::any_of(misnamed_, may_give_it) || std::ranges::any_of(faulty, may_give_it)) continue;
      const std::string path{key.path};
      if (path == "cluster.servers" && scenario_.overlap.given()) {
        Reading{*given->source, path, complaints_}.complain(
            given->place, "an iteration study has as many servers as its workers fill",
            "leave it out: overlap.workers and cluster.gpus_per_server say how many these are");
        continue;
      }
      // What these keys say follows from the types.
      const bool is_of_types =
          path.starts_with("cluster.") && !path.starts_with("cluster.host.") && !scenario_.overlap.given();
      Reading{*given->source, path, complaints_}.complain(
          given->place, fmt::format("needs `{}`", is_of_types ? "cluster.types: []" : key.needs));
    }
  }

  /// Adds complaints about keys, each at the place where its key was given.
  void place(const std::vector<Complaint>& complaints) {
    for (const Complaint& complaint : complaints) complaints_.push_back(at_its_key(complaint));
  }

  /// The last place at which `path`, a key or a part of its value, was given; the nearest enclosing place if only a
  /// whole value was given.
  [[nodiscard]] std::pair<const SourceText&, Place> find(const std::string& path) const {
    const Assignment* nearest = nullptr;
    std::size_t longest = 0;
    Place place;
    for (auto given = given_.rbegin(); given != given_.rend(); ++given) {
      const std::string_view key = given->key->path;
      if (path != key && !(path.starts_with(key) && (path[key.size()] == '.' || path[key.size()] == '['))) continue;
      const auto [depth, node] = follow(*given->value, std::string_view{path}.substr(key.size()));
      if (nearest != nullptr && depth <= longest) continue;
      nearest = &*given;
      longest = depth;
      place = node->place;
    }
    return nearest == nullptr ? std::pair<const SourceText&, Place>{*file_, {}}
                              : std::pair<const SourceText&, Place>{*nearest->source, place};
  }

  const FileReader* files_;
  std::vector<Complaint> complaints_;
  std::vector<std::string> notes_;
  std::vector<const ScenarioKey*> lost_;  ///< keys that the layer being read displaces or leaves without a meaning
  Scenario scenario_ = default_scenario();
  std::vector<std::string> emptied_;   ///< groups that the layer being read sets to {}
  std::vector<std::string> misnamed_;  ///< groups in which a layer so far has an unknown key, with a point at the end
  std::vector<Assignment> given_;      ///< from the layers so far; each node belongs to its layer
  const SourceText* file_ = nullptr;   ///< the last file
};

/// Sorts complaints by file and place.
void sort_by_place(std::vector<Complaint>& complaints) {
  std::map<std::string, std::size_t> order;
  for (const Complaint& d : complaints) order.emplace(d.file, order.size());
  std::stable_sort(complaints.begin(), complaints.end(), [&](const Complaint& a, const Complaint& b) {
    const auto rank = [&](const Complaint& d) {
      return std::tuple{order.at(d.file), d.line, d.line > 0 ? d.column : 0};
    };
    return rank(a) < rank(b);
  });
}

/// Reads the files and overrides of a scenario and applies them to `reader`.
std::vector<ScenarioLayer> read_layers(std::string_view text, const std::string& name, const LoadOptions& options,
                                       const FileReader& read, LayerReader& reader,
                                       std::vector<Complaint>& complaints) {
  std::vector<ScenarioLayer> layers = file_layers(name, std::string{text}, read, complaints);
  for (const std::string& assignment : options.overrides) {
    if (auto layer = override_layer(assignment, complaints)) layers.push_back(std::move(*layer));
  }
  for (const ScenarioLayer& layer : layers) reader.apply(layer);
  return layers;
}

/// Throws these complaints, if there are any.
void throw_complaints(std::vector<Complaint> complaints) {
  if (complaints.empty()) return;
  sort_by_place(complaints);
  throw InputError{std::move(complaints)};
}

/// These complaints, the complaints of the reader and, if there are any, what more there is to say.
std::vector<Complaint> all_complaints(std::vector<Complaint> complaints, LayerReader& reader,
                                      const LoadOptions& options) {
  complaints.insert(complaints.end(), reader.complaints().begin(), reader.complaints().end());
  if (!options.more || complaints.empty()) return complaints;
  const auto is_of_training = [](const Complaint& each) {
    return each.key.starts_with("training") || each.key.empty();
  };
  const bool training_read = std::ranges::none_of(complaints, is_of_training);
  for (Complaint& each : options.more(reader.scenario(), training_read)) complaints.push_back(std::move(each));
  return complaints;
}

}  // namespace

Scenario parse_scenario(std::string_view text, const std::string& name, const LoadOptions& options,
                        const FileReader& read) {
  std::vector<Complaint> complaints;
  LayerReader reader{read};
  const std::vector<ScenarioLayer> layers = read_layers(text, name, options, read, reader, complaints);
  reader.finish(complaints.empty());
  throw_complaints(all_complaints(std::move(complaints), reader, options));
  if (options.notes != nullptr) *options.notes = reader.notes();
  return std::move(reader.scenario());
}

std::vector<Complaint> at_their_keys(const std::string& path, const LoadOptions& options,
                                     std::vector<Complaint> complaints) {
  const FileText file = read_text_file(path);
  if (!file.text) return complaints;
  std::vector<Complaint> others;
  const FileReader read{read_text_file};
  LayerReader reader{read};
  const std::vector<ScenarioLayer> layers = read_layers(*file.text, path, options, read, reader, others);
  for (Complaint& each : complaints) {
    if (each.line == 0 && !each.key.empty() && (each.file.empty() || each.file == path)) each = reader.at_its_key(each);
  }
  return complaints;
}

struct ScenarioVariants::State {
  FileReader read;
  LayerReader reader{read};
  std::vector<ScenarioLayer> layers;  ///< the reader points into them
};

ScenarioVariants::ScenarioVariants(std::string_view text, const std::string& name, const LoadOptions& options,
                                   FileReader read)
    : state_{std::make_unique<State>()} {
  std::vector<Complaint> complaints;
  state_->read = std::move(read);
  state_->layers = read_layers(text, name, options, state_->read, state_->reader, complaints);
  throw_complaints(all_complaints(std::move(complaints), state_->reader, options));
  if (options.notes != nullptr) *options.notes = state_->reader.notes();
}

ScenarioVariants::~ScenarioVariants() = default;
ScenarioVariants::ScenarioVariants(ScenarioVariants&&) noexcept = default;
ScenarioVariants& ScenarioVariants::operator=(ScenarioVariants&&) noexcept = default;

const Scenario& ScenarioVariants::base() const {
  return state_->reader.scenario();
}

Scenario& ScenarioVariants::base() {
  return state_->reader.scenario();
}

Scenario ScenarioVariants::with(std::span<const ScenarioLayer* const> layers) const {
  LayerReader reader = state_->reader;
  for (const ScenarioLayer* layer : layers) reader.apply(*layer);
  reader.finish();
  throw_complaints(reader.complaints());
  return std::move(reader.scenario());
}

Scenario load_scenario(const std::string& path, const LoadOptions& options) {
  const FileText file = read_text_file(path);
  if (!file.text) throw InputError{{SourceText{path, {}}.complaint({}, {}, "can't read it: " + file.reason)}};
  return parse_scenario(*file.text, path, options, read_text_file);
}

}  // namespace contend
