// Reads slurm.conf, gres.conf and the text of `scontrol show node`: lines of Key=Value.
#include "sim/error.hpp"
#include "text/decimal.hpp"
#include "text/printable.hpp"
#include "text/words.hpp"
#include "traces/cluster/snapshot.hpp"
#include "traces/cluster/snapshot_parts.hpp"
#include "traces/jobs/timestamp.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <set>

#include <fmt/format.h>

namespace contend {
namespace {

/// The pairs of a line, or of the lines of a node.
struct SettingLine {
  int line = 0;
  std::vector<std::pair<std::string, std::string>> pairs;

  [[nodiscard]] const std::string* find(std::string_view key) const {
    const auto found =
        std::ranges::find_if(pairs, [&](const auto& each) { return same_but_for_case(each.first, key); });
    return found == pairs.end() ? nullptr : &found->second;
  }
  [[nodiscard]] std::string text(std::string_view key) const {
    const std::string* const value = find(key);
    return value != nullptr ? *value : std::string{};
  }
};

[[noreturn]] void fail_at(const std::string& file, int line, std::string key, std::string reason) {
  throw InputError{{.file = file, .line = line, .key = std::move(key), .reason = std::move(reason)}};
}

/// Appends the pairs of a line. A word without `=` goes on with the value before it, as in OS=Linux 6.1.
void take_pairs(std::string_view text, SettingLine& line) {
  while (!text.empty()) {
    const std::size_t begin = text.find_first_not_of(" \t\r");
    if (begin == text.npos) return;
    text.remove_prefix(begin);
    bool quoted = false;
    std::size_t end = 0;
    for (; end < text.size() && (quoted || (text[end] != ' ' && text[end] != '\t' && text[end] != '\r')); ++end)
      if (text[end] == '"') quoted = !quoted;
    std::string word{text.substr(0, end)};
    std::erase(word, '"');
    text.remove_prefix(end);
    const std::size_t equals = word.find('=');
    if (equals != word.npos && equals > 0)
      line.pairs.emplace_back(word.substr(0, equals), word.substr(equals + 1));
    else if (!line.pairs.empty())
      line.pairs.back().second += ' ' + word;
    else
      line.pairs.emplace_back(word, "");
  }
}

/// The lines with something on them; `\` at the end of a line joins the next; of `scontrol` the lines of a node are
/// one.
std::vector<SettingLine> setting_lines(std::string_view text, bool joins_indented) {
  std::vector<SettingLine> lines;
  bool goes_on = false;
  for (int number = 1; !text.empty(); ++number) {
    std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(line.size() + 1, text.size()));
    line = line.substr(0, line.find('#'));
    while (line.ends_with('\r')) line.remove_suffix(1);
    const bool joins = line.ends_with('\\');
    if (joins) line.remove_suffix(1);
    if (line.find_first_not_of(" \t") == line.npos) continue;
    const bool is_indented = joins_indented && line.front() == ' ' && !lines.empty();
    if (!goes_on && !is_indented) lines.push_back({number, {}});
    const std::size_t equals = line.find(" = ");
    if (equals != line.npos && !is_indented)  // of `scontrol show config`: the value reaches to the end of the line
      lines.back().pairs.emplace_back(line.substr(0, line.find(' ')), line.substr(equals + 3));
    else
      take_pairs(line, lines.back());
    goes_on = joins;
  }
  return lines;
}

std::vector<std::string> hosts_in(const SettingLine& line, std::string_view key, const std::string& file) {
  const std::string list = line.text(key);
  std::optional<std::vector<std::string>> hosts = slurm_hosts(list);
  if (!hosts)
    fail_at(file, line.line, std::string{key}, fmt::format("expected nodes such as gpu[001-004], got \"{}\"", list));
  return *std::move(hosts);
}

void note_keys(const SettingLine& line, std::span<const std::string_view> known, const char* kind,
               ClusterSnapshot& snapshot) {
  for (const auto& pair : line.pairs) {
    const auto is_key = [&](std::string_view each) { return same_but_for_case(each, pair.first); };
    if (std::ranges::none_of(known, is_key)) ++snapshot.left_out[kind][pair.first];
  }
}

void add_nodes(const SettingLine& line, const std::string& file, ClusterSnapshot& snapshot) {
  static constexpr std::array<std::string_view, 6> kKnown = {"NodeName", "Gres",       "State",
                                                             "Reason",   "Partitions", "NodeHostName"};
  const bool is_shown = line.find("Arch") != nullptr || line.find("CPUAlloc") != nullptr;
  note_keys(line, kKnown, is_shown ? "fields of nodes" : "keys of NodeName", snapshot);
  const std::string gres = line.text("Gres");
  const std::optional<GresGpus> gpus = slurm_gres(gres == "(null)" ? "" : gres);
  if (!gpus) fail_at(file, line.line, "Gres", fmt::format("expected resources such as gpu:h100:8, got \"{}\"", gres));
  const std::string state = line.text("State");
  for (const std::string& name : hosts_in(line, "NodeName", file)) {
    SnapshotNode node{name, gpus->type, static_cast<int>(gpus->gpus), split_words(line.text("Partitions"), ','), {}};
    if (is_out_of_service(state))
      node.out = line.find("Reason") != nullptr ? state + ": " + line.text("Reason") : state;
    if (!is_shown) {
      snapshot.configured.push_back(std::move(node));
      continue;
    }
    if (!snapshot.known.insert("node " + name).second)
      fail_at(file, line.line, "NodeName", fmt::format("the node {} has been read already", name));
    if (node.gpus == 0)
      ++snapshot.left_out["nodes"]["without GPUs"];
    else
      snapshot.nodes.push_back(std::move(node));
  }
}

std::optional<Time> limit_of(const SettingLine& line, const std::string& file) {
  const std::string text = line.text("MaxTime");
  if (text.empty() || same_but_for_case(text, "INFINITE") || same_but_for_case(text, "UNLIMITED")) return std::nullopt;
  if (const ScaledDecimal minutes = parse_integer(text); minutes.error == DecimalError::none && minutes.value > 0)
    return Time::seconds(60) * minutes.value;
  const std::optional<Time> limit = parse_slurm_duration(text);
  if (!limit) fail_at(file, line.line, "MaxTime", fmt::format("expected a time such as 2-00:00:00, got \"{}\"", text));
  return limit;
}

void add_partition(const SettingLine& line, const std::string& file, ClusterSnapshot& snapshot) {
  static constexpr std::array<std::string_view, 6> kKnown = {"PartitionName", "Nodes", "PriorityTier",
                                                             "MaxTime",       "State", "Default"};
  note_keys(line, kKnown, "keys of PartitionName", snapshot);
  SnapshotPartition partition;
  partition.name = line.text("PartitionName");
  if (const std::string state = line.text("State"); !state.empty() && !same_but_for_case(state, "UP"))
    ++snapshot.left_out["states of partitions"][fmt::format("{} {}", partition.name, state)];
  if (const std::string tier = line.text("PriorityTier"); !tier.empty()) {
    const ScaledDecimal number = parse_integer(tier);
    if (number.error != DecimalError::none || number.value < 0 || number.value > 65'533)
      fail_at(file, line.line, "PriorityTier",
              fmt::format("expected a whole number from 0 to 65533, got \"{}\"", tier));
    partition.tier = static_cast<int>(number.value);
  }
  partition.max_time = limit_of(line, file);
  const std::vector<std::string> listed = hosts_in(line, "Nodes", file);
  const std::set<std::string_view> hosts{listed.begin(), listed.end()};
  for (SnapshotNode& node : snapshot.configured)
    if (hosts.contains(node.name) || line.text("Nodes") == "ALL") node.partitions.push_back(partition.name);
  snapshot.partitions.push_back(std::move(partition));
}

/// A word of SchedulerParameters and the parameter of the policy slurm-backfill.
constexpr std::pair<std::string_view, std::string_view> kSchedulerParameters[] = {
    {"bf_interval", "bf_interval_s"},
    {"bf_window", "bf_window_min"},
    {"bf_resolution", "bf_resolution_s"},
    {"bf_max_job_test", "bf_max_job_test"},
    {"bf_max_job_part", "bf_max_job_part"},
    {"bf_max_job_user", "bf_max_job_user"},
    {"bf_max_job_user_part", "bf_max_job_user_part"},
    {"bf_max_job_start", "bf_max_job_start"},
    {"bf_node_space_size", "bf_node_space_size"},
    {"sched_interval", "sched_interval_s"},
    {"default_queue_depth", "default_queue_depth"},
    {"batch_sched_delay", "batch_sched_delay_s"}};

void take_parameters(const SettingLine& line, const std::string& file, ClusterSnapshot& snapshot) {
  for (const std::string& word : split_words(line.text("SchedulerParameters"), ',')) {
    const std::string name = word.substr(0, word.find('='));
    const std::string value = name.size() == word.size() ? "" : word.substr(name.size() + 1);
    const auto* const known =
        std::ranges::find(kSchedulerParameters, name, [](const auto& each) { return each.first; });
    if (name == "defer") {
      snapshot.parameters["defer"] = "true";
    } else if (known == std::end(kSchedulerParameters)) {
      ++snapshot.left_out["SchedulerParameters"][name];
    } else {
      const ScaledDecimal number = parse_integer(value);
      if (number.error != DecimalError::none || number.value < 0)
        fail_at(file, line.line, "SchedulerParameters",
                fmt::format("{}: expected a whole number, got \"{}\"", name, value));
      snapshot.parameters.insert_or_assign(std::string{known->second}, value);
    }
  }
}

void take_setting(const SettingLine& line, const std::string& file, ClusterSnapshot& snapshot) {
  for (const auto& [key, value] : line.pairs) {
    if (same_but_for_case(key, "ClusterName"))
      snapshot.name = value;
    else if (same_but_for_case(key, "SchedulerParameters"))
      take_parameters(line, file, snapshot);
    else if (same_but_for_case(key, "SchedulerType"))
      snapshot.scheduler = value == "sched/builtin" ? "fifo" : "slurm-backfill";
    else if (key.starts_with("Priority"))
      ++snapshot.left_out["settings that the priorities of the jobs hold"][key];
    else
      ++snapshot.left_out["keys of slurm.conf"][key == "include" || key == "Include" ? key + ' ' + value : key];
  }
}

void add_gres_line(const SettingLine& line, const std::string& file, ClusterSnapshot& snapshot) {
  static constexpr std::array<std::string_view, 3> kKnown = {"NodeName", "Name", "Type"};
  note_keys(line, kKnown, "keys of gres.conf", snapshot);
  if (line.text("Name") != "gpu" || line.find("Type") == nullptr) return;
  if (line.find("NodeName") == nullptr) snapshot.gpu_types[""] = line.text("Type");
  for (const std::string& name : hosts_in(line, "NodeName", file)) snapshot.gpu_types[name] = line.text("Type");
}

/// Adds the pairs of `usual` that the line lacks.
void complete(const SettingLine& usual, SettingLine& line) {
  for (const auto& pair : usual.pairs)
    if (line.find(pair.first) == nullptr) line.pairs.push_back(pair);
}

/// Gives a node or partition what a line DEFAULT above it says; false for such a line, which is kept.
bool takes_defaults(std::map<std::string, SettingLine>& usual, SettingLine& line) {
  const auto [key, value] = line.pairs.front();
  SettingLine& known = usual[key];
  complete(known, line);
  if (value != "DEFAULT") return true;
  known = std::move(line);
  return false;
}

}  // namespace

std::vector<std::string> split_words(std::string_view text, char separator) {
  std::vector<std::string> words;
  while (!text.empty()) {
    const std::string_view word = text.substr(0, text.find(separator));
    text.remove_prefix(std::min(word.size() + 1, text.size()));
    if (!word.empty()) words.emplace_back(word);
  }
  return words;
}

bool add_slurm_text(std::string_view text, const std::string& file, ClusterSnapshot& snapshot) {
  const std::vector<SettingLine> lines = setting_lines(text, true);
  const auto begins = [&](std::string_view key) {
    return std::ranges::any_of(lines, [&](const SettingLine& line) {
      return !line.pairs.empty() && same_but_for_case(line.pairs.front().first, key);
    });
  };
  const auto has = [&](std::string_view key) {
    return std::ranges::any_of(lines, [&](const SettingLine& line) { return line.find(key) != nullptr; });
  };
  const bool is_conf = begins("ClusterName") || begins("PartitionName") || begins("SchedulerType");
  const bool is_shown = begins("NodeName") && (has("Arch") || has("CPUAlloc"));
  const bool is_gres = !is_conf && !is_shown && has("Name") && has("File");
  if (!is_conf && !is_shown && !is_gres) return false;
  std::map<std::string, SettingLine> usual;  // of lines NodeName=DEFAULT and PartitionName=DEFAULT
  for (SettingLine line : is_conf ? setting_lines(text, false) : lines) {
    if (is_conf && !takes_defaults(usual, line)) continue;
    const std::string& first = line.pairs.front().first;
    if (is_gres)
      add_gres_line(line, file, snapshot);
    else if (same_but_for_case(first, "NodeName"))
      add_nodes(line, file, snapshot);
    else if (same_but_for_case(first, "PartitionName"))
      add_partition(line, file, snapshot);
    else
      take_setting(line, file, snapshot);
  }
  if (is_conf && snapshot.scheduler.empty()) snapshot.scheduler = "slurm-backfill";  // Slurm's default
  return true;
}

}  // namespace contend
