#include "cli/command.hpp"
#include "cli/exit_code.hpp"
#include "cli/flows_report.hpp"
#include "cli/load.hpp"
#include "cli/output.hpp"
#include "scenarios/run/fabric.hpp"
#include "text/own_files.hpp"
#include "text/quantities.hpp"

#include <algorithm>
#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include <fmt/core.h>

namespace contend {
namespace {

/// The classes in which M. Alizadeh et al., "pFabric", SIGCOMM 2013, and papers after it print completion times.
constexpr const char* kUsualSizes = "100KB,10MB";
std::vector<Bytes> class_bounds(const std::string& text) {
  std::vector<Bytes> bounds;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find(',', begin), text.size());
    const std::string part = text.substr(begin, end - begin);
    const Parsed<Bytes> size = parse_quantity<Bytes>(part);
    if (!size.value)
      throw UsageError{fmt::format("--sizes: expected sizes such as {}, got \"{}\"{}{}", kUsualSizes, part,
                                   size.hint.empty() ? "" : "; ", size.hint)};
    if (!bounds.empty() && *size.value <= bounds.back())
      throw UsageError{fmt::format("--sizes: expected ascending sizes such as {}, got \"{}\"", kUsualSizes, text)};
    bounds.push_back(*size.value);
    begin = end + 1;
  }
  return bounds;
}

}  // namespace

int flows_verb(const Arguments& arguments) {
  const std::string& path = arguments.positionals()[0];
  const std::string& list = arguments.positionals()[1];
  const std::vector<Bytes> bounds = class_bounds(arguments.value("sizes").value_or(kUsualSizes));
  const Scenario scenario = load_scenarios(arguments, std::span{&path, 1}).scenarios.front();
  need_fabric(scenario.network, path);
  const Topology topology = build_topology(scenario.cluster, scenario.network);
  const std::vector<ListedFlow> flows = read_flow_list(list, topology);
  const std::vector<FlowOutcome> outcomes =
      run_flows(scenario.cluster, scenario.network, scenario.failures, scenario.seed, flows);
  const FlowSummary summary = summarise_flows(flows, outcomes, bounds);
  print_output("{}", arguments.has("json") ? flows_json(summary) : flows_text(summary));
  if (const auto csv = arguments.value("csv")) write_own_file(*csv, flows_csv(flows, outcomes, topology));
  if (summary.all.unfinished == 0) return kExitOk;
  print_message("contend: {} of {} flows never end: links have failed, and no route is left\n", summary.all.unfinished,
                flows.size());
  return kExitUnfinished;
}

}  // namespace contend
