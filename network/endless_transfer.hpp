#pragma once
// The complaint about a transfer that would end after the last instant that the clock can count.

#include "network/topology.hpp"
#include "sim/ports.hpp"

#include <string>

namespace contend {

/// What a transfer has left to send, and how fast it can at best.
struct EndlessTransfer {
  std::string job;
  double bytes = 0;
  double rate = 0;  ///< bytes per second, > 0
  LinkId link;      ///< the one that limits it; none() if none does
};

/// Throws InputError, which names the job, the servers, the rate and the link.
[[noreturn]] void refuse_endless(const EndlessTransfer& transfer, const TransferRequest& request,
                                 const Topology& topology);

}  // namespace contend
