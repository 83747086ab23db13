// The file of a profile: docs/reference/profile.md.

#include "calibration/profile.hpp"

#include "sim/check.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace contend {

namespace {

/// In double quotes, on one line. Bytes above 127 stay: names are UTF-8.
std::string quoted(std::string_view text) {
  std::string out{'"'};
  for (const char c : text) {
    if (c == '"' || c == '\\')
      out += {'\\', c};
    else if (c == '\n')
      out += "\\n";
    else if (c == '\t')
      out += "\\t";
    else if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f)
      out += fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
    else
      out += c;
  }
  return out += '"';
}

void add_head(std::string& out, const CalibrationProfile& p) {
  const auto line = [&](std::string_view key, const std::string& value) { out += fmt::format("{}: {}\n", key, value); };
  line("schema_version", "1");
  line("name", quoted(p.name));
  line("backend", p.backend);
  line("device", quoted(p.device));
  line("driver", quoted(p.driver));
  line("runtime", quoted(p.runtime));
  line("libraries", quoted(p.libraries));
  line("date", quoted(p.date));
  line("version", quoted(p.version));
  line("mode", p.mode);
  line("complete", p.complete ? "true" : "false");
  line("memory_bytes", fmt::format("{}", p.memory_bytes));
  line("multiprocessors", fmt::format("{}", p.multiprocessors));
  line("capability", fmt::format("{}", p.capability));
  line("clock_mhz", fmt::format("{}", p.clock_mhz));
  line("memory_clock_mhz", fmt::format("{}", p.memory_clock_mhz));
  line("power_limited_s", fmt::format("{:.6g}", p.power_limited_s));
  line("visited_twice", fmt::format("{}", p.visited_twice));
  out += p.warnings.empty() ? "warnings: []\n" : "warnings:\n";
  for (const std::string& each : p.warnings) out += fmt::format("  - {}\n", quoted(each));
}

void add_table(std::string& out, const OperatorTable& table) {
  const OperatorInfo* const info = find_operator(table.name);
  CONTEND_CHECK(info != nullptr, "a table of an operator that there isn't");
  out += fmt::format("  - op: {}\n    type: {}\n    cross_validation: {:.4g}\n", table.name, to_string(table.type),
                     table.cross_validation);
  if (!table.relevance.empty()) out += fmt::format("    relevance: [{}]\n", fmt::join(table.relevance, ", "));
  if (table.from_copies) out += "    baseline: copy\n";
  out += fmt::format("    dimensions: [{}]\n", fmt::join(info->dimensions, ", "));
  out += table.samples.empty() ? "    samples: []\n" : "    samples:\n";
  // More digits than a measurement has would only make files longer.
  for (const OperatorSample& each : table.samples)
    out += fmt::format("      - [{}, {:.6g}, {:.4g}, {}]\n", fmt::join(each.shape, ", "), each.seconds, each.half_width,
                       each.repetitions);
}

}  // namespace

const OperatorTable* CalibrationProfile::table(std::string_view op, DataType type) const {
  const auto found = std::find_if(tables.begin(), tables.end(),
                                  [&](const OperatorTable& each) { return each.name == op && each.type == type; });
  return found == tables.end() ? nullptr : &*found;
}

bool CalibrationProfile::has_samples(std::string_view op, DataType type) const {
  const OperatorTable* const found = table(op, type);
  return found != nullptr && !found->samples.empty();
}

std::string to_yaml(const CalibrationProfile& profile) {
  std::string out;
  add_head(out, profile);
  out += profile.tables.empty() ? "operators: []\n" : "operators:\n";
  for (const OperatorTable& each : profile.tables) add_table(out, each);
  out += profile.skipped.empty() ? "skipped: []\n" : "skipped:\n";
  for (const SkippedOperation& each : profile.skipped)
    out += fmt::format("  - {{op: {}, type: {}, shape: [{}], reason: {}}}\n", each.name, to_string(each.type),
                       fmt::join(each.shape, ", "), quoted(each.reason));
  return out;
}

}  // namespace contend
