#pragma once
// Hosts by framework: the table that ships, models/hosts.yaml, and the maps of users.

#include "scenarios/spec/training_entry.hpp"
#include "scenarios/yaml/codecs.hpp"

#include <string_view>

namespace contend {

/// The text of models/hosts.yaml.
[[nodiscard]] std::string_view host_table();
/// The costs of a framework of the table; it has the framework.
[[nodiscard]] const HostCosts& host_named(std::string_view framework);
[[nodiscard]] Codec<LossKernels> loss_codec();
/// `auto`, `none`, the name of a framework, or a map of costs, which may begin with the costs of a framework (`like`).
[[nodiscard]] Codec<HostChoice> host_codec();

}  // namespace contend
