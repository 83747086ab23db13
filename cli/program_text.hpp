#pragma once
// What the program says of itself, in its help and in its man page.

#include <string_view>
#include <utility>

namespace contend {

inline constexpr std::string_view kProgramSummary =
    "contend simulates clusters of GPUs that train deep networks: scheduling, placement and communication.";

inline constexpr std::string_view kProgramExamples[] = {
    "contend run scenarios/ada-srsf/base.yaml -o out",
    "contend run scenarios/ada-srsf/communication-*.yaml --set network.nic=25Gbps"};

/// First commands for somebody who gave no verb, and their answers.
inline constexpr std::pair<std::string_view, std::string_view> kFirstCommands[] = {
    {"contend run scenarios/ada-srsf/base.yaml", "simulate a cluster: completion times, waiting, utilisation"},
    {"contend new mine", "write a scenario of your own by three answers"},
    {"contend explain scenarios/ada-srsf/base.yaml job-3", "why a job took so long"},
    {"contend show scenarios/parallel/llama-3-405b.yaml --parallel", "what a training step takes, and each GPU holds"},
    {"contend fits llama-3-8b --gpus 8 --device H100-SXM",
     "how to lay a model out over GPUs so that it fits, fastest first"},
    {"contend import LOG -o jobs.csv", "make a job list of a cluster's log"},
    {"contend list policies", "what can be named; `contend list` has the lists"}};

/// Variables of the environment and what they change.
inline constexpr std::pair<std::string_view, std::string_view> kEnvironment[] = {
    {"CONTEND_PLUGIN", "plugins to load, separated by colons (docs/howto/plugin.md)"},
    {"CONTEND_POLICY_TIMEOUT",
     "seconds after which a policy of a plugin that hasn't answered counts as failed (default 300; 0: none)"},
    {"CONTEND_MAX_INFLATED", "the most that one gzip file may inflate to (default 4GiB)"},
    {"CONTEND_SHARE", "the folder of the shipped scenarios (default share/contend beside the program's folder)"},
    {"CONTEND_DATA", "the folder of the data with which `contend validate` compares (default ../shared/data)"},
    {"CONTEND_SIMGRID_PYTHON", "the Python with SimGrid, for `contend validate network` (default python3)"},
    {"GITHUB_WORKSPACE", "the root of the repository, from which `compare --github` names files; GitHub sets it"},
    {"GITHUB_STEP_SUMMARY", "the file to which `compare --github` adds its report; GitHub sets it in workflows"},
    {"COLUMNS", "the width of tables (default that of the terminal)"},
    {"NO_COLOR", "if set, verdicts have no colours"}};

}  // namespace contend
