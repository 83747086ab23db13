#include "scenarios/keys/reader.hpp"
#include "validate/ada_srsf/ada_srsf.hpp"

#include <fmt/core.h>

namespace contend {

Scenario ada_srsf_scenario(std::string_view placement, std::string_view communication,
                           const std::vector<std::string>& overrides) {
  // Cluster and job mix are the defaults of the format; the slopes come from the authors' simulator (10 GbE).
  const std::string text = fmt::format(
      "schema_version: 2\n"
      "cluster: {{servers: 16, gpus_per_server: 4, gpu_memory: 32768MiB}}\n"
      "network: {{fidelity: contention, alpha: 0us, beta: 0.856ms/MiB, eta: 0.235ms/MiB}}\n"
      "policies: {{scheduling: srsf, placement: {}, communication: {}}}\n"
      "workload:\n"
      "  generate:\n"
      "    models: [vgg16, resnet50, inception-v3, lstm]\n"
      "    sizes: {{1: 80, 2: 14, 4: 26, 8: 30, 16: 8, 32: 2}}\n"
      "    iterations: [1000, 6000]\n"
      "    arrivals: 1200s\n",
      placement, communication);
  return parse_scenario(text, "ada-srsf", {.overrides = overrides});
}

}  // namespace contend
