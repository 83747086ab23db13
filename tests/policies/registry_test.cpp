#include "policies/registry.hpp"

#include <fstream>
#include <iterator>
#include <memory>
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

/// The whole reference page of scenarios; the tests run in the root of the repository.
std::string reference_page() {
  std::ifstream file{"docs/reference/scenario.md"};
  return {std::istreambuf_iterator<char>{file}, {}};
}

/// The part of the page under `### key`, up to the next heading.
std::string section(const std::string& page, const std::string& key) {
  const std::size_t begin = page.find("\n### " + key + "\n");
  if (begin == std::string::npos) return {};
  return page.substr(begin, page.find("\n#", begin + 1) - begin);
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
  return row.make(Parameters{std::move(values)}, {1, TimePerByte{1}, TimePerByte{0.25}, {}});
}

template <class Port>
void check_policies(std::span<const PolicyRow<Port>> policies, const std::string& key) {
  INFO(key);
  const std::string documented = section(reference_page(), key);
  CHECK_FALSE(documented.empty());
  CHECK_FALSE(policies.empty());
  std::set<std::string_view> names;
  for (const PolicyRow<Port>& row : policies) {
    INFO("policy ", row.name);
    CHECK(consists_of(row.name, "abcdefghijklmnopqrstuvwxyz0123456789-"));
    CHECK(names.insert(row.name).second);
    CHECK(is_line(row.summary));
    CHECK(is_line(row.source));
    const std::string line = "\n| `" + std::string{row.name} + "` | " + std::string{row.summary} + " | ";
    CHECK_MESSAGE(documented.find(line) != std::string::npos,
                  "docs/reference/scenario.md doesn't describe it; run scripts/generate_docs.sh");
    std::set<std::string_view> parameters;
    for (const ParameterInfo& parameter : row.parameters) {
      CHECK(parameters.insert(parameter.name).second);
      check_parameter(parameter);
    }
    // `none` is the absence of compression.
    CHECK((with_defaults(row) != nullptr) == (row.name != "none"));
  }
}

}  // namespace

TEST_CASE("every policy has a unique name, a summary and a source, is documented, and can be made") {
  check_policies(scheduling_policies(), "policies.scheduling");
  check_policies(placement_policies(), "policies.placement");
  check_policies(communication_policies(), "policies.communication");
  check_policies(fusion_policies(), "overlap.fusion");
  check_policies(compression_policies(), "overlap.compression");
}

TEST_CASE("parameters are found by name and type") {
  const Parameters parameters{{{"kappa", std::int64_t{4}}, {"strict", true}}};
  CHECK(parameters.get<std::int64_t>("kappa") == 4);
  CHECK(parameters.get<bool>("strict"));
  CHECK_THROWS_AS(static_cast<void>(parameters.get<double>("kappa")), std::bad_variant_access);
}
