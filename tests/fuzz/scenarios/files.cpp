// Arbitrary bytes as planned routes and as profiles of calibrated devices: either an InputError, or data that keeps
// what its reader promises.

#include "network/routing.hpp"
#include "scenarios/run/route_plan.hpp"
#include "scenarios/study/profile_reader.hpp"
#include "sim/check.hpp"
#include "tests/fuzz/target.hpp"
#include "tests/fuzz/two_leaves.hpp"

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace {

void run_route_plan(std::string_view text) {
  const contend::Topology& topology = contend::fuzz::two_leaves();
  std::vector<contend::PlannedRoute> plan = contend::parse_route_plan(text, "fuzz", topology);
  for (const contend::PlannedRoute& route : plan)
    CONTEND_CHECK(route.from.valid() && route.to.valid() && !route.paths.empty(), "a route has ends and paths");
  static_cast<void>(contend::make_plan_router(topology, std::move(plan), contend::make_shortest_path_router(topology)));
}

void run_profile(std::string_view text) {
  const std::string written = to_yaml(contend::parse_profile(text, "fuzz"));
  const auto again = contend::fuzz::must_accept([&] { return contend::parse_profile(written, "again"); });
  CONTEND_CHECK(to_yaml(again) == written, "a written profile reads back the same");
}

const contend::fuzz::Target kFiles[] = {{"route_plan", run_route_plan}, {"profile", run_profile}};

}  // namespace
