#pragma once
// The factories that policies/registry.cpp puts into its tables. The classes behind them are private to their files.

#include "policies/registry.hpp"

#include <memory>

namespace contend {

std::unique_ptr<SchedulingPolicy> make_fifo(const Parameters&, const PolicyContext&);
std::unique_ptr<SchedulingPolicy> make_sjf(const Parameters&, const PolicyContext&);
std::unique_ptr<SchedulingPolicy> make_srtf(const Parameters&, const PolicyContext&);
std::unique_ptr<SchedulingPolicy> make_srsf(const Parameters&, const PolicyContext&);

std::unique_ptr<PlacementPolicy> make_random_placement(const Parameters&, const PolicyContext&);
std::unique_ptr<PlacementPolicy> make_first_fit(const Parameters&, const PolicyContext&);
std::unique_ptr<PlacementPolicy> make_list_scheduling(const Parameters&, const PolicyContext&);
std::unique_ptr<PlacementPolicy> make_lwf(const Parameters&, const PolicyContext&);

std::unique_ptr<CommunicationPolicy> make_srsf_communication(const Parameters&, const PolicyContext&);
std::unique_ptr<CommunicationPolicy> make_ada_dual(const Parameters&, const PolicyContext&);

}  // namespace contend
