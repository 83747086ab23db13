#include "policies/registry.hpp"
#include "policies/plugin.hpp"
#include "sim/error.hpp"

#include <fstream>
#include <iterator>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include <doctest/doctest.h>

using namespace contend;

namespace {

/// A whole page of the documentation; the tests run in the root of the repository.
std::string page(const std::string& name) {
  std::ifstream file{"docs/" + name};
  return {std::istreambuf_iterator<char>{file}, {}};
}

/// The part of the page under `### key`, up to the next heading.
std::string section(const std::string& text, const std::string& key) {
  const std::size_t begin = text.find("\n### " + key + "\n");
  if (begin == std::string::npos) return {};
  return text.substr(begin, text.find("\n#", begin + 1) - begin);
}

bool consists_of(std::string_view text, std::string_view characters) {
  return !text.empty() && text.find_first_not_of(characters) == std::string_view::npos;
}

bool is_line(std::string_view text) {
  return !text.empty() && text.find('\n') == std::string_view::npos;
}

void check_parameter(const ParameterInfo& parameter) {
  INFO("parameter ", parameter.name);
  CHECK(consists_of(parameter.name, "abcdefghijklmnopqrstuvwxyz0123456789_"));
  CHECK(is_line(parameter.text));
  const auto in_range = [&](double value) { return parameter.minimum <= value && value <= parameter.maximum; };
  if (const auto* whole = std::get_if<std::int64_t>(&parameter.default_value)) {
    CHECK(in_range(static_cast<double>(*whole)));
  } else if (const auto* number = std::get_if<double>(&parameter.default_value)) {
    CHECK(in_range(*number));
  }
}

template <class Port>
std::unique_ptr<Port> with_defaults(const PolicyRow<Port>& row) {
  std::vector<std::pair<std::string, ParameterValue>> values;
  for (const ParameterInfo& parameter : row.parameters) values.emplace_back(parameter.name, parameter.default_value);
  if (row.is_outside) values.front().second = "true";  // the command, which has no default
  PolicyContext context{1, TimePerByte{1}, TimePerByte{0.25}, {}};
  context.clos = [] {
    return std::optional{
        ClosFabric{.leaf = {0, 1}, .leaves = 2, .spines = {NodeId{2U}}, .server_rate = 1, .uplink_rate = 1}};
  };
  context.reserved = std::make_shared<ReservedSpines>();
  return row.make(Parameters{std::move(values)}, context);
}

/// Checks the rows of a table against `documented`, which has a line for each that begins as `line` says.
template <class Port, class Line>
void check_rows(std::span<const PolicyRow<Port>> policies, const std::string& documented, const Line& line) {
  CHECK_FALSE(documented.empty());
  CHECK_FALSE(policies.empty());
  std::set<std::string_view> names;
  for (const PolicyRow<Port>& row : policies) {
    INFO("policy ", row.name);
    CHECK(consists_of(row.name, "abcdefghijklmnopqrstuvwxyz0123456789-"));
    CHECK(names.insert(row.name).second);
    CHECK(is_line(row.summary));
    CHECK(is_line(row.source));
    CHECK_MESSAGE(documented.find(line(row)) != std::string::npos, "the documentation has no such line: ", line(row));
    std::set<std::string_view> parameters;
    for (const ParameterInfo& parameter : row.parameters) {
      CHECK(parameters.insert(parameter.name).second);
      check_parameter(parameter);
    }
    // `none` is the absence of compression.
    CHECK((with_defaults(row) != nullptr) == (row.name != "none"));
  }
}

template <class Port>
void check_policies(std::span<const PolicyRow<Port>> policies, const std::string& key) {
  INFO(key, ": run scripts/generate_docs.sh");
  check_rows(policies, section(page("reference/scenario.md"), key), [](const PolicyRow<Port>& row) {
    return "\n| `" + std::string{row.name} + "` | " + std::string{row.summary} + " | ";
  });
}

}  // namespace

TEST_CASE("every policy has a unique name, a summary and a source, is documented, and can be made") {
  check_policies(scheduling_policies(), "policies.scheduling");
  check_policies(placement_policies(), "policies.placement");
  check_policies(communication_policies(), "policies.communication");
  check_policies(fusion_policies(), "overlap.fusion");
  check_policies(compression_policies(), "overlap.compression");
  check_rows(pipeline_schedules(), page("models/pipeline.md"),
             [](const PolicyRow<PipelineSchedule>& row) { return "\n| `" + std::string{row.name} + "` | "; });
}

TEST_CASE("parameters are found by name and type") {
  const Parameters parameters{{{"kappa", std::int64_t{4}}, {"strict", true}}};
  CHECK(parameters.get<std::int64_t>("kappa") == 4);
  CHECK(parameters.get<bool>("strict"));
  CHECK_THROWS_AS(static_cast<void>(parameters.get<double>("kappa")), std::bad_variant_access);
}

TEST_CASE("a policy that can't be registered is refused with the reason") {
  const std::span<const PolicyRow<PlacementPolicy>> rows = placement_policies();  // the first look at the table
  const auto reason = [&](const std::string& name, bool has_factory) {
    PolicyRow<PlacementPolicy> row = rows.front();
    row.name = name;
    if (!has_factory) row.make = nullptr;
    try {
      register_policy(row);
    } catch (const InputError& error) {
      return std::string{error.what()};
    }
    return std::string{};
  };
  const auto refused = [](const std::string& name, const std::string& why) {
    return "the placement policy `" + name + "` can't be registered: " + why;
  };
  for (const std::string name : {"", "A", "a_b", "a b"}) {
    CHECK(reason(name, true) == refused(name, "its name must consist of lower-case letters, digits and hyphens"));
  }
  CHECK(reason("new-1", false) == refused("new-1", "it has no factory"));
  const std::string taken{rows.back().name};
  CHECK(reason(taken, true) == refused(taken, "there is one of that name"));
  CHECK(reason("new-1", true) == refused("new-1", "policies must be registered before the first scenario is read"));
}
