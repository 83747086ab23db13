#include "cli/command.hpp"
#include "cli/exit_code.hpp"
#include "cli/layers_report.hpp"
#include "cli/load.hpp"
#include "cli/model_report.hpp"
#include "cli/output.hpp"
#include "cli/parallel_report.hpp"
#include "cli/passes_report.hpp"
#include "cli/topology_text.hpp"
#include "models/parallel/transformer_catalogue.hpp"
#include "report/facts.hpp"
#include "report/topology/topology_drawing.hpp"
#include "scenarios/keys/print.hpp"
#include "scenarios/run/fabric.hpp"
#include "scenarios/run/scenario_jobs.hpp"
#include "scenarios/study/study_model.hpp"
#include "sim/error.hpp"
#include "text/own_files.hpp"
#include "text/words.hpp"

#include <fmt/core.h>

namespace contend {
namespace {

void show_topology(const Scenario& scenario, const Arguments& arguments) {
  if (!scenario.network.traits().has_topology) {
    Complaint complaint;
    complaint.file = arguments.positionals().front();
    complaint.key = "network.fidelity";
    complaint.reason = "only fidelity `flow` has a topology";
    complaint.hint = "add --set network.fidelity=flow";
    throw InputError{{std::move(complaint)}};
  }
  const Topology topology = build_topology(scenario.cluster, scenario.network);
  if (const auto file = arguments.value("dot")) write_own_file(*file, topology_dot(topology));
  if (const auto file = arguments.value("svg")) {
    const FabricSpec& fabric = scenario.network.topology.fabric;
    write_own_file(*file, topology_svg(topology, fabric.dimensions));
  }
  if (const std::string note = unequal_servers_note(scenario.cluster); !note.empty())
    print_message("contend: note: {}\n", note);
  const TopologyReport report = report_topology(topology);
  print_output("{}", arguments.has("json") ? topology_json(scenario.name, scenario.network, report)
                                           : topology_text(scenario.name, scenario.network, report));
}

std::vector<JobRequest> jobs_of(const Scenario& scenario) {
  JobLists lists;
  return scenario_jobs(scenario, scenario.seed, lists)->jobs;
}

void show_parallel(const Scenario& scenario, const Arguments& arguments) {
  const std::vector<JobRequest> jobs = jobs_of(scenario);
  if (const auto file = arguments.value("svg")) write_own_file(*file, parallel_svg(scenario, jobs));
  print_output("{}", parallel_report(scenario, jobs, arguments.has("json")));
}

std::string shown_layers(const Scenario& scenario, bool as_json) {
  const TimedModel model = study_model(scenario.overlap);
  return as_json ? layers_json(model) : layers_text(model);
}

/// A model has no scenario, and so no keys to set.
void show_model(const Arguments& arguments) {
  for (const char* option : {"set", "point"}) arguments.refuse(option, "with --model");
  constexpr std::uint64_t kUsual = 4096, kMost = 1 << 24;
  if (arguments.has("as") && find_transformer(arguments.positionals().front()) != nullptr)
    throw UsageError{"--as: a model of the catalogue has no file that could be read otherwise"};
  const TransformerConfig config =
      named_model(arguments.positionals().front(), arguments.value("as").value_or(std::string{}));
  const auto tokens = static_cast<std::int64_t>(arguments.whole_number("sequence", 1, kMost).value_or(kUsual));
  print_output("{}", model_report(config, tokens, arguments.has("json")));
}

/// A comment that names the keys that a machine gave; empty without one.
std::string of_machine_text(const NetworkSetup& network) {
  if (network.of_machine.empty()) return {};
  return fmt::format("# as {} has it (contend list machines): {}\n",
                     network.machine.value_or(network.topology.server.kind), join(network.of_machine));
}

}  // namespace

int show_verb(const Arguments& arguments) {
  if (arguments.has("dot") && !arguments.has("topology")) throw UsageError{"contend show: --dot needs --topology"};
  if (arguments.has("svg") && !arguments.has("topology") && !arguments.has("parallel"))
    throw UsageError{"contend show: --svg needs --topology or --parallel"};
  if (const auto path = arguments.value("svg")) need_svg("svg", *path);
  std::string_view chosen;
  for (const std::string_view option : {"topology", "layers", "parallel", "passes", "model"}) {
    if (!arguments.has(option)) continue;
    if (!chosen.empty()) throw UsageError{fmt::format("contend show: --{} has no effect with --{}", option, chosen)};
    chosen = option;
  }
  if (arguments.has("json") && chosen.empty())
    throw UsageError{"contend show: --json needs --topology, --layers, --parallel, --passes or --model"};
  for (const char* option : {"as", "sequence"})
    if (arguments.has(option) && !arguments.has("model"))
      throw UsageError{fmt::format("contend show: --{} needs --model", option)};
  if (arguments.has("model")) {
    show_model(arguments);
    return kExitOk;
  }
  const Scenario scenario = load_scenarios(arguments).scenarios.front();
  if (arguments.has("topology"))
    show_topology(scenario, arguments);
  else if (arguments.has("parallel"))
    show_parallel(scenario, arguments);
  else if (arguments.has("passes"))
    print_output("{}", passes_report(scenario, jobs_of(scenario), arguments.has("json")));
  else if (arguments.has("layers"))
    print_output("{}", shown_layers(scenario, arguments.has("json")));
  else
    print_output("{}{}", to_yaml(scenario), of_machine_text(scenario.network));
  return kExitOk;
}

}  // namespace contend
