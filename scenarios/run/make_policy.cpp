#include "scenarios/run/make_policy.hpp"

#include "sim/error.hpp"

#include <string>
#include <string_view>
#include <utility>

namespace contend {

std::vector<Complaint> scheduling_complaints(const Scenario& scenario) {
  constexpr std::string_view kKey = "policies.scheduling", kOutside = "external";
  std::vector<Complaint> found;
  if (scenario.scheduling.name == kOutside) return found;  // to create it would start it
  try {
    static_cast<void>(make_policy(scheduling_policies(), scenario.scheduling, PolicyContext{}));
  } catch (const InputError& error) {
    for (Complaint each : error.complaints()) {
      const std::size_t end = each.reason.find(": ");
      const bool begins_with_key = each.reason.starts_with(kKey) && end != std::string::npos;
      if (each.key.empty()) each.key = begins_with_key ? each.reason.substr(0, end) : std::string{kKey};
      if (begins_with_key) each.reason = each.reason.substr(end + 2);
      found.push_back(std::move(each));
    }
  }
  return found;
}

}  // namespace contend
