#include "calibration/operators.hpp"
#include "cli/command.hpp"
#include "cli/exit_code.hpp"
#include "cli/output.hpp"
#include "cli/text_table.hpp"
#include "models/catalogue/catalogue.hpp"
#include "models/overlap/framework_costs.hpp"
#include "models/overlap/usual_interference.hpp"
#include "models/parallel/transformer_catalogue.hpp"
#include "models/training_profile.hpp"
#include "network/catalogue.hpp"
#include "network/collectives/algorithm.hpp"
#include "results/iteration_figures.hpp"
#include "scenarios/keys/keys.hpp"
#include "scenarios/keys/policy_codec.hpp"
#include "scenarios/keys/topology_codec.hpp"
#include "scenarios/study/profile_reader.hpp"
#include "scenarios/yaml/device_sheet.hpp"
#include "scenarios/yaml/shipped.hpp"
#include "sim/fields.hpp"
#include "text/json_writer.hpp"
#include "text/words.hpp"
#include "traces/jobs/trace_format.hpp"
#include "traces/layers/layer_reader.hpp"
#include "validate/suites.hpp"
#include "validate/systems.hpp"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <filesystem>
#include <utility>

#include <fmt/format.h>

namespace contend {
namespace {

constexpr std::size_t kScreenWidth = 100;
constexpr std::size_t kMostWhole = 3;  ///< so many entries are shown whole

/// A catalogue as column names and rows of text, from which tables and JSON are made.
struct Catalogue {
  std::vector<std::string> columns;
  std::vector<std::vector<std::string>> rows;
  /// For each row the lines that its entry alone shows in place of the columns of that title; empty if there are none.
  std::vector<std::vector<std::pair<std::string, std::string>>> details{};
};

std::string parameters_text(std::span<const ParameterInfo> parameters) {
  std::string out;
  for (const ParameterInfo& parameter : parameters) {
    const std::string range = parameter_range(parameter);
    out += fmt::format("{}{}={}{}", out.empty() ? "" : ", ", parameter.name, print_parameter(parameter.default_value),
                       range.empty() ? "" : fmt::format(" ({})", range));
  }
  return out;
}

/// How a scenario names the policy, with its first parameter where it has one: `policies.placement: {policy: lwf,
/// kappa: 1}`.
std::string example_of(const PolicyKind& kind, const PolicyInfo& policy) {
  if (policy.parameters.empty()) return fmt::format("{}: {}", kind.key, policy.name);
  const ParameterInfo& first = policy.parameters.front();
  return fmt::format("{}: {{policy: {}, {}: {}}}", kind.key, policy.name, first.name,
                     print_parameter(first.default_value));
}

Catalogue policies() {
  Catalogue list{.columns = {"kind", "policy", "parameters", "summary", "source", "validated by"}, .rows = {}};
  for (const PolicyKind& kind : policy_kinds()) {
    for (const PolicyInfo& policy : kind.policies) {
      list.rows.push_back({std::string{kind.word}, std::string{policy.name}, parameters_text(policy.parameters),
                           std::string{policy.summary}, std::string{policy.source},
                           validated_by(kind.word, policy.name)});
      auto& details = list.details.emplace_back();
      for (const ParameterInfo& each : policy.parameters)
        details.emplace_back("parameters", fmt::format("{}: {}", parameters_text({&each, 1}), each.text));
      details.emplace_back("in a scenario", example_of(kind, policy));
    }
  }
  return list;
}

Catalogue system_list() {
  Catalogue list{.columns = {"system", "paper", "policies and keys", "contend run", "validated", "more"}, .rows = {}};
  for (const PublishedSystem& each : published_systems())
    list.rows.push_back({std::string{each.name}, std::string{each.paper}, names_of(each), command_of(each),
                         std::string{each.how}, std::string{each.validated}});
  return list;
}

std::string parameters_text(const std::vector<TopologyParameterInfo>& parameters) {
  std::string out;
  for (const TopologyParameterInfo& parameter : parameters) {
    const std::string usual =
        parameter.default_value.empty() ? " (required)" : fmt::format("={}", parameter.default_value);
    out += fmt::format("{}{}{}", out.empty() ? "" : ", ", parameter.name, usual);
  }
  return out;
}

Catalogue topologies() {
  Catalogue list{.columns = {"key", "kind", "parameters", "summary", "source"}, .rows = {}};
  for (const auto& [key, infos] : {std::pair{"fabric", fabric_infos()}, std::pair{"server", server_infos()}})
    for (const TopologyKindInfo& kind : infos)
      list.rows.push_back({key, std::string{kind.name}, parameters_text(kind.parameters), std::string{kind.summary},
                           std::string{kind.source}});
  return list;
}

Catalogue collectives() {
  Catalogue list{.columns = {"algorithm", "collectives", "cost", "summary", "source"}, .rows = {}};
  for (const CollectiveAlgorithm& each : collective_algorithms()) {
    std::string kinds;
    for (const CollectiveKind kind : each.kinds) kinds += fmt::format("{}{}", kinds.empty() ? "" : ", ", name_of(kind));
    list.rows.push_back({std::string{each.name}, kinds, std::string{each.formula}, std::string{each.summary},
                         std::string{each.source}});
  }
  return list;
}

Catalogue formats() {
  Catalogue list{.columns = {"format", "summary", "holds", "written by"}, .rows = {}};
  for (const LayerFormat& each : layer_formats())
    list.rows.push_back(
        {std::string{each.name}, std::string{each.summary}, std::string{each.holds}, std::string{each.producer}});
  return list;
}

Catalogue traces() {
  Catalogue list{.columns = {"format", "summary", "columns", "source", "licence"}, .rows = {}};
  for (const TraceFormat& each : trace_formats())
    list.rows.push_back({std::string{each.name}, std::string{each.summary}, std::string{each.columns},
                         std::string{each.source}, std::string{each.licence}});
  return list;
}

Catalogue networks() {
  Catalogue list{.columns = {"network", "parameters", "layers", "gflops_forward", "source"}, .rows = {}};
  for (const ModelSummary& each : model_summaries())
    list.rows.push_back({std::string{each.name}, fmt::format("{}", each.parameters), fmt::format("{}", each.layers),
                         fmt::format("{:.2f}", each.forward_gflops), std::string{each.source}});
  return list;
}

Catalogue transformer_list() {
  Catalogue list{
      .columns = {"transformer", "parameters", "of_a_token", "layers", "hidden", "heads", "feed_forward", "experts"},
      .rows = {}};
  const auto number = [](std::int64_t value) { return fmt::format("{}", value); };
  for (const TransformerModel& each : transformers()) {
    const std::int64_t width = each.mixture ? each.mixture->expert_feed_forward : each.feed_forward;
    const std::string experts =
        each.mixture ? fmt::format("{} of {}", each.mixture->top_k, each.mixture->experts) : std::string{"-"};
    list.rows.push_back({each.name, number(parameters(each)), number(active_parameters(each)),
                         number(each.all_layers()), number(each.hidden), number(each.heads), number(width), experts});
  }
  return list;
}

Catalogue models() {
  Catalogue list{.columns = {"model", "batch", "forward_ms", "backward_ms", "gradient_mib", "memory_mib", "source"},
                 .rows = {}};
  const auto ms = [](Time time) { return fmt::format("{}", static_cast<double>(time.ns()) / 1e6); };
  const auto mib = [](Bytes bytes) { return fmt::format("{:.1f}", bytes.to_double() / (1 << 20)); };
  for (const TrainingProfile& each : training_profiles())
    list.rows.push_back({std::string{each.name}, fmt::format("{}", each.batch), ms(each.forward), ms(each.backward),
                         mib(each.gradient), mib(each.memory), std::string{each.source}});
  return list;
}

/// The highest of the measured rates of products, in flops a second; 0 if there is none.
double best_rate(const CalibrationProfile& profile, DataType type) {
  double best = 0;
  if (const OperatorTable* const table = profile.table("gemm", type); table != nullptr)
    for (const OperatorSample& each : table->samples)
      best = std::max(best, find_operator("gemm")->work(each.shape, type).flops / each.seconds);
  return best;
}

/// The bytes a second that the largest measured copy reads and writes; 0 if there is none.
double best_bandwidth(const CalibrationProfile& profile) {
  const OperatorTable* const table = profile.table("copy", DataType::fp32);
  if (table == nullptr || table->samples.empty()) return 0;
  const auto largest = std::max_element(table->samples.begin(), table->samples.end(),
                                        [](const auto& a, const auto& b) { return a.shape < b.shape; });
  return 2 * static_cast<double>(largest->shape.front()) / largest->seconds;
}

Catalogue device_list() {
  Catalogue list{.columns = {"device", "fp32_tflops", "tf32_tflops", "bf16_tflops", "memory_gib", "memory_GBps",
                             "link_GBps", "source"},
                 .rows = {}};
  const auto number = [](double value) { return value > 0 ? fmt::format("{:g}", value) : "-"; };
  for (const Device& each : devices()) {
    const auto tflops = [&](DataType type) { return number(each.tflops[static_cast<std::size_t>(type)]); };
    list.rows.push_back({each.name, tflops(DataType::fp32), tflops(DataType::tf32), tflops(DataType::bf16),
                         fmt::format("{:.4g}", each.memory.to_gibibytes()),
                         number(each.memory_bandwidth.bytes_per_second() * 1e-9),
                         number(each.links.bytes_per_second() * 1e-9), each.source});
  }
  for (const std::string& path : shipped_profiles()) {
    const CalibrationProfile profile = read_profile(path);
    const auto tflops = [&](DataType type) { return number(std::round(best_rate(profile, type) * 1e-12)); };
    list.rows.push_back({fmt::format("{}{}", kProfileFolder, std::filesystem::path{path}.filename().string()),
                         tflops(DataType::fp32), tflops(DataType::tf32), tflops(DataType::bf16),
                         fmt::format("{:.4g}", static_cast<double>(profile.memory_bytes) / (1 << 30)),
                         number(std::round(best_bandwidth(profile) * 1e-9)), "-",
                         fmt::format("measured {} on {}", profile.date.substr(0, 10), profile.device)});
  }
  return list;
}

Catalogue keys() {
  Catalogue list{.columns = {"key", "type", "range", "default", "meaning"}, .rows = {}};
  for (const ScenarioKey& key : scenario_keys())
    list.rows.push_back({std::string{key.path}, key.io->type, key.io->range, key.io->print(default_scenario()),
                         std::string{key.text} + (key.needs.empty() ? "" : fmt::format("; needs {}", key.needs))});
  return list;
}

Catalogue metric_list() {
  Catalogue list{.columns = {"metric", "unit", "meaning"}, .rows = {}};
  for (const Metric& each : metrics())
    list.rows.push_back({std::string{each.name}, std::string{each.unit}, std::string{each.text}});
  return list;
}

Catalogue suites() {
  Catalogue list{.columns = {"suite", "meaning"}, .rows = {}};
  for (const SuiteRow& each : validation_suites())
    list.rows.push_back({std::string{each.name}, std::string{each.summary}});
  return list;
}

Catalogue operator_list() {
  Catalogue list{.columns = {"group", "operator", "dimensions", "types", "meaning"}, .rows = {}};
  for (const OperatorInfo& each : operators()) {
    std::vector<std::string_view> types;
    for (const DataType type : each.types) types.push_back(to_string(type));
    list.rows.push_back({std::string{to_string(each.group)}, std::string{each.name},
                         fmt::format("{}", fmt::join(each.dimensions, ", ")), fmt::format("{}", fmt::join(types, ", ")),
                         std::string{each.text}});
  }
  return list;
}

Catalogue interference_list() {
  Catalogue list{.columns = {"GPU", "library", "ranks on", "compute", "network", "source"}, .rows = {}};
  for (const UsualInterference& each : usual_interferences())
    list.rows.push_back({std::string{each.gpu}, std::string{each.library},
                         each.path == TransferPath::inside ? "one server" : "several servers",
                         fmt::format("{}", each.compute), fmt::format("{}", each.network), std::string{each.source}});
  return list;
}

Catalogue machine_list() {
  Catalogue list{.columns = {"machine", "GPUs", "device", "interfaces", "inside", "between", "summary", "source"},
                 .rows = {}};
  for (const TextEntry& each : machines())
    list.rows.push_back(
        {std::string{each.name}, fmt::format("{:g}", each.number("gpus")), std::string{each.text("device")},
         fmt::format("{:g} x {:g}Gbps", each.number("nics"), each.number("line")), std::string{each.text("inside")},
         std::string{each.text("between")}, std::string{each.text("summary")}, std::string{each.text("source")}});
  return list;
}

Catalogue between_list() {
  Catalogue list{.columns = {"network", "further_us", "ring", "tree", "nvls", "sends", "ll128", "spread", "source"},
                 .rows = {}};
  for (const TextEntry& each : network_catalogue()) {
    if (each.kind != "network") continue;
    const auto share = [&](std::string_view word) { return fmt::format("{:g}", each.number(word, 1)); };
    list.rows.push_back({std::string{each.name}, std::string{each.text("further")}, share("ring"), share("tree"),
                         share("nvls"), share("sends"), share("ll128"), std::string{each.text("spread")},
                         std::string{each.text("source")}});
  }
  return list;
}

Catalogue framework_list() {
  Catalogue list{.columns = {"framework", "bytes before", "bytes after", "launches", "source"}, .rows = {}};
  for (const NamedFramework& each : frameworks())
    list.rows.push_back({std::string{each.name}, fmt::format("{}", each.costs.bytes_before),
                         fmt::format("{}", each.costs.bytes_after), fmt::format("{}", each.costs.launches),
                         std::string{each.source}});
  return list;
}

struct Topic {
  std::string_view name, text;
  Catalogue (*make)();
  std::string_view entry;  ///< the column with the names of the entries
  std::string_view brief;  ///< the columns of a line an entry, with commas between them; the last one is cut
};
constexpr Topic kTopics[] = {
    {"policies", "scheduling, placement, communication, fusion, compression and pipeline schedules", policies, "policy",
     "kind,policy,summary"},
    {"systems", "published systems: their policies, a scenario of each, and how each is validated", system_list,
     "system", "system,paper,validated"},
    {"topologies", "fabrics and servers", topologies, "kind", "key,kind,summary"},
    {"collectives", "algorithms of collectives", collectives, "algorithm", "algorithm,collectives,summary"},
    {"models", "training profiles of jobs", models, "model",
     "model,batch,forward_ms,backward_ms,gradient_mib,memory_mib,source"},
    {"networks", "networks of the catalogue, layer by layer", networks, "network",
     "network,parameters,layers,gflops_forward,source"},
    {"transformers", "models that jobs spread over several GPUs (training.NAME.parallel)", transformer_list,
     "transformer", "transformer,parameters,of_a_token,layers,hidden,heads,feed_forward,experts"},
    {"devices", "GPU types", device_list, "device", "device,fp32_tflops,bf16_tflops,memory_gib,memory_GBps,link_GBps"},
    {"interferences", "what computing and communicating usually cost each other (network.interference: auto)",
     interference_list, "GPU", "GPU,library,ranks on,compute,network,source"},
    {"machines", "servers as they are built (machine, network.nccl.machine, network.server)", machine_list, "machine",
     "machine,GPUs,device,interfaces,summary"},
    {"between", "networks between servers (network.nccl.between)", between_list, "network",
     "network,further_us,ring,tree,nvls,sends,ll128,spread,source"},
    {"frameworks", "what frameworks do around each message (training.NAME.framework)", framework_list, "framework",
     "framework,bytes before,bytes after,launches,source"},
    {"layer-formats", "files of layer times", formats, "format", "format,summary"},
    {"trace-formats", "job traces that can be imported", traces, "format", "format,summary"},
    {"keys", "keys of a scenario", keys, "key", "key,default,meaning"},
    {"metrics", "figures of a run", metric_list, "metric", "metric,unit,meaning"},
    {"suites", "comparisons with published results", suites, "suite", "suite,meaning"},
    {"operators", "what a calibration measures", operator_list, "operator", "group,operator,meaning"}};

std::size_t column_of(const Catalogue& list, std::string_view title) {
  return static_cast<std::size_t>(std::find(list.columns.begin(), list.columns.end(), title) - list.columns.begin());
}

const Topic& topic_of(const std::string& name) {
  std::vector<std::string> names;
  for (const Topic& topic : kTopics) {
    if (topic.name == name) return topic;
    names.emplace_back(topic.name);
  }
  throw UsageError{fmt::format("contend list: no list \"{}\"{}", name, suggestion(name, names))};
}

bool has_word(const std::string& text, const std::string& word) {
  const auto small = [](char c) { return std::tolower(static_cast<unsigned char>(c)); };
  const auto found = std::search(text.begin(), text.end(), word.begin(), word.end(),
                                 [&](char a, char b) { return small(a) == small(b); });
  return found != text.end() || word.empty();
}

/// The entries of that name, or the entries with the word anywhere.
Catalogue found_in(const Topic& topic, const Catalogue& list, const std::string& word) {
  const std::size_t entry = column_of(list, topic.entry);
  std::vector<std::size_t> named, having;
  std::vector<std::string> names;
  for (std::size_t i = 0; i < list.rows.size(); ++i) {
    names.push_back(list.rows[i][entry]);
    if (same_but_for_case(list.rows[i][entry], word)) named.push_back(i);
    if (std::ranges::any_of(list.rows[i], [&](const std::string& cell) { return has_word(cell, word); }))
      having.push_back(i);
  }
  if (having.empty())
    throw UsageError{fmt::format("contend list: {} has no \"{}\"{}", topic.name, word, suggestion(word, names))};
  Catalogue found{.columns = list.columns, .rows = {}};
  for (const std::size_t i : named.empty() ? having : named) {
    found.rows.push_back(list.rows[i]);
    if (!list.details.empty()) found.details.push_back(list.details[i]);
  }
  return found;
}

std::string to_json(const Catalogue& list) {
  JsonWriter json;
  json.begin_array();
  for (const auto& row : list.rows) {
    json.begin_object();
    for (std::size_t i = 0; i < row.size(); ++i) json.member(list.columns[i], row[i]);
    json.end_object();
  }
  json.end_array();
  return json.take();
}

/// One entry: a line for each column that says something.
std::string entry_text(const Topic& topic, const Catalogue& list, std::size_t row) {
  const std::size_t entry = column_of(list, topic.entry);
  Table table{{list.columns[entry], list.rows[row][entry]}};
  table.align_left(1);
  const auto* const details = list.details.empty() ? nullptr : &list.details[row];
  const auto is_detailed = [&](const std::string& title) {
    return details != nullptr && std::ranges::any_of(*details, [&](const auto& each) { return each.first == title; });
  };
  for (std::size_t i = 0; i < list.columns.size(); ++i)
    if (i != entry && !list.rows[row][i].empty() && !is_detailed(list.columns[i]))
      table.add({list.columns[i], list.rows[row][i]});
  std::string before;
  for (std::size_t i = 0; details != nullptr && i < details->size(); ++i) {
    const auto& [title, text] = (*details)[i];
    table.add({title == before ? "" : title, text});
    before = title;
  }
  return table.text(output_width(kScreenWidth));
}

/// The text, or as many of its words as fit, and three points.
std::string cut(const std::string& text, std::size_t width) {
  if (text.size() <= width) return text;
  const std::size_t space = text.rfind(' ', width - 4);
  std::size_t end = space == std::string::npos || space == 0 ? width - 4 : space;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xc0) == 0x80) --end;  // no half of a character
  return text.substr(0, end) + " ...";
}

/// The widths of the columns of a line: as their cells have, but for the last one, which has the rest of the screen,
/// and the widest one beside the names where this leaves too little. 0: any width.
std::vector<std::size_t> widths_of(const Topic& topic, const Catalogue& list, const std::vector<std::size_t>& columns) {
  constexpr std::size_t kBetween = 2, kLeast = 24, kLeastCut = 8;
  std::vector<std::size_t> widths;
  std::size_t taken = 0;
  for (const std::size_t column : columns) {
    std::size_t& widest = widths.emplace_back(list.columns[column].size());
    for (const auto& row : list.rows) widest = std::max(widest, row[column].size());
    taken += column != columns.back() ? widest + kBetween : 0;
  }
  const std::size_t screen = output_width(kScreenWidth), least = std::min(kLeast, widths.back());
  if (screen == 0) return widths;
  std::size_t* longest = nullptr;
  for (std::size_t k = 0; k + 1 < columns.size(); ++k)
    if (columns[k] != column_of(list, topic.entry) && (longest == nullptr || widths[k] > *longest))
      longest = &widths[k];
  if (taken + least > screen && longest != nullptr && *longest > kLeastCut) {
    const std::size_t less = std::min(taken + least - screen, *longest - kLeastCut);
    *longest -= less;
    taken -= less;
  }
  widths.back() = std::max(least, screen - std::min(screen, taken));
  return widths;
}

/// A line for each entry.
std::string lines_text(const Topic& topic, const Catalogue& list) {
  std::vector<std::size_t> columns;
  std::vector<std::string> titles;
  for (std::string_view rest = topic.brief; !rest.empty();) {
    titles.emplace_back(take_field(rest, ','));
    columns.push_back(column_of(list, titles.back()));
  }
  const std::vector<std::size_t> widths = widths_of(topic, list, columns);
  Table table{titles};
  for (std::size_t k = 0; k < columns.size(); ++k) table.align_left(k);
  for (const auto& row : list.rows) {
    std::vector<std::string> cells;
    for (std::size_t k = 0; k < columns.size(); ++k) cells.push_back(cut(row[columns[k]], widths[k]));
    table.add(std::move(cells));
  }
  return fmt::format("{}\n{} entries\n`contend list {} WORD` shows those with the word, a few of them whole\n",
                     table.text(0), list.rows.size(), topic.name);
}

Catalogue topics() {
  Catalogue list{.columns = {"list", "holds"}, .rows = {}};
  for (const Topic& each : kTopics) list.rows.push_back({std::string{each.name}, std::string{each.text}});
  return list;
}

std::string topics_text() {
  const Catalogue list = topics();
  Table table{list.columns};
  table.align_left(1);
  for (const auto& row : list.rows) table.add(row);
  return table.text(output_width(kScreenWidth));
}

}  // namespace

int list_verb(const Arguments& arguments) {
  const std::vector<std::string>& words = arguments.positionals();
  const bool is_json = arguments.has("json");
  if (words.empty()) {
    print_output("{}", is_json ? to_json(topics()) : topics_text());
    return kExitOk;
  }
  const Topic& topic = topic_of(words.front());
  Catalogue list = topic.make();
  if (words.size() > 1) list = found_in(topic, list, words[1]);
  if (is_json) {
    print_output("{}", to_json(list));
  } else if (words.size() > 1 && list.rows.size() <= kMostWhole) {
    for (std::size_t row = 0; row < list.rows.size(); ++row)
      print_output("{}{}", row == 0 ? "" : "\n", entry_text(topic, list, row));
  } else {
    print_output("{}", lines_text(topic, list));
  }
  return kExitOk;
}

}  // namespace contend
