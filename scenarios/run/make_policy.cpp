#include "scenarios/run/make_policy.hpp"

namespace contend {

std::vector<Complaint> scheduling_complaints(const PolicyChoice& scheduling) {
  if (scheduling.name == "external") return {};  // to create it would start it
  try {
    static_cast<void>(make_policy(scheduling_policies(), scheduling, PolicyContext{}));
    return {};
  } catch (const InputError& error) {
    return error.complaints();
  }
}

}  // namespace contend
