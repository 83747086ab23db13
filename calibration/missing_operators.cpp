#include "calibration/missing_operators.hpp"

#include "calibration/layer_operators.hpp"
#include "sim/counted.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include <fmt/format.h>

namespace contend {

namespace {

constexpr std::size_t kNamed = 3;  ///< layers, before the others are counted

std::string skipped_reason(const CalibrationProfile& profile, std::string_view op, DataType type) {
  for (const SkippedOperation& each : profile.skipped)
    if (each.name == op && each.type == type && each.shape.empty()) return each.reason;
  return {};
}

/// The reasons of calibrate() and measure() for lack of time; another try with more time may succeed.
bool lacked_time(std::string_view reason) {
  return reason.starts_with("no time left") || reason.starts_with("too slow");
}

std::string layers_text(const std::vector<std::string>& layers) {
  const std::span<const std::string> named = std::span{layers}.first(std::min(kNamed, layers.size()));
  if (named.size() == layers.size()) return fmt::format("{}", fmt::join(named, ", "));
  const std::size_t more = layers.size() - named.size();
  return fmt::format("{} and {}", fmt::join(named, ", "), counted(more, "more layer"));
}

}  // namespace

std::vector<MissingOperator> missing_operators(const CalibrationProfile& profile, const LayerTable& table, int batch,
                                               DataType type) {
  // operators() is one array, so its addresses are in its order.
  std::map<std::pair<const OperatorInfo*, DataType>, MissingOperator> found;
  const auto need = [&](std::string_view op, DataType in, const std::string& layer) {
    const OperatorInfo* info = find_operator(op);
    // Without a table of a layout, the table of the other layout does.
    if (info->same_work && !profile.has_samples(op, in)) info = find_operator(info->like);
    if (profile.has_samples(info->name, in)) return;
    MissingOperator& one = found.try_emplace({info, in}, MissingOperator{info, in, {}, {}}).first->second;
    if (one.layers.empty()) one.skipped = skipped_reason(profile, info->name, in);
    if (one.layers.empty() || one.layers.back() != layer) one.layers.push_back(layer);
  };
  for (const Layer& layer : table.layers) {
    const LayerOperators operators = layer_operators(layer, batch, type);
    for (const PassOperators* pass : {&operators.forward, &operators.backward}) {
      for (const OperatorCall& call : pass->calls) {
        if (call.otherwise)
          need("copy", DataType::fp32, layer.name);
        else
          need(call.name, call.type, layer.name);
      }
      // The operators that CalibratedDevice::work() uses.
      for (const LayerWork& work : pass->rest) {
        need("copy", DataType::fp32, layer.name);
        if (work.flops > 0) need("gemm", type, layer.name);
      }
    }
  }
  std::vector<MissingOperator> out;
  for (auto& [key, one] : found) out.push_back(std::move(one));
  return out;
}

std::string missing_text(std::span<const MissingOperator> missing) {
  std::vector<std::string> parts;
  for (const MissingOperator& each : missing)
    parts.push_back(fmt::format("{} in {} ({}){}", each.info->name, to_string(each.type), layers_text(each.layers),
                                each.skipped.empty() ? "" : ", skipped: " + each.skipped));
  return fmt::format("{}", fmt::join(parts, "; "));
}

std::string measuring_command(const CalibrationProfile& profile, const std::string& path,
                              std::span<const OperatorGroup> groups) {
  std::vector<std::string_view> names;
  for (const OperatorGroup each : operator_groups())
    if (std::find(groups.begin(), groups.end(), each) != groups.end()) names.push_back(to_string(each));
  const bool plain = path.find_first_of(" '\"\\$`*?[]{}()<>|&;#~!") == std::string::npos;
  // A profile can only be resumed with the same back end and mode.
  return fmt::format("contend calibrate{}{} --only {} -o {} --resume", profile.backend == "cpu" ? " --backend cpu" : "",
                     profile.mode == "quick" ? " --quick" : "", fmt::join(names, ","), plain ? path : "'" + path + "'");
}

std::string measuring_command(const CalibrationProfile& profile, const std::string& path,
                              std::span<const MissingOperator> missing) {
  std::vector<OperatorGroup> groups;
  for (const MissingOperator& each : missing)
    if (each.skipped.empty() || lacked_time(each.skipped)) groups.push_back(each.info->group);
  return groups.empty() ? std::string{} : measuring_command(profile, path, groups);
}

}  // namespace contend
