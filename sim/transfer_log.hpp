#pragma once
// TransferLog receives what a network carries, for the log by which others check a run (results/transfer_rows.hpp). No
// result depends on it.

#include "sim/ids.hpp"
#include "sim/ports.hpp"
#include "sim/units.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace contend {

/// A transfer, or a step of one: bytes that move over the same links at one rate.
struct LoggedRoute {
  /// What transfers over the same interfaces share with each other.
  enum class Lane : std::uint8_t { links, interfaces, pulls, inside };
  struct Use {
    std::size_t link = 0;  ///< with `links` a link of the fabric, else a server
    double share = 1;      ///< of the rate that the link carries
  };
  JobId job;
  Lane lane = Lane::links;
  bool is_first = true;  ///< a transfer begins with it
  Time start_up;         ///< before its bytes
  double bytes = 0;
  double message = 0;  ///< bytes of the whole transfer
  double alone = 0;    ///< bytes per second on the idle network; 0: not known
  double penalty = 0;  ///< but for `links`: eta / beta of k-way contention
  double cap = 0;      ///< bound on its rate in bytes per second; 0: none
  int priority = 0;    ///< 0 goes first
  GpuId among;         ///< with `inside`: transfers of the job from this GPU share the links
  std::vector<Use> uses;
  std::vector<ServerId> servers;  ///< that the transfer touches
};

/// Receives routes, what moves along them, and changes of links. A transfer has one open part at a time.
class TransferLog {
 public:
  /// How a part ends.
  enum class End : std::uint8_t {
    sent,       ///< all its bytes have been sent
    cancelled,  ///< its job has left its GPUs
    moved,      ///< the rest goes another way, in a part that follows
  };

  virtual ~TransferLog() = default;
  /// A link of the fabric carries, in bytes per second, capacity x factors[k - 1] / (1 + (k - 1) / k penalty) of k
  /// flows; the last factor holds for more flows, and none is 1.
  virtual void link(std::size_t link, double capacity, std::span<const double> factors, double penalty) = 0;
  /// Returns the number of the route.
  virtual std::size_t route(const LoggedRoute& route) = 0;
  /// A part begins, with its start-up; `bytes` > 0: it is the rest of one that has moved, without a start-up.
  virtual void begins(TransferId transfer, std::size_t route, Time now, double bytes) = 0;
  [[nodiscard]] virtual bool is_open(TransferId transfer) const = 0;
  /// From now on, or from the end of its start-up on if that is later, it sends at this rate in bytes per second.
  virtual void sends(TransferId transfer, Time now, double rate) = 0;
  virtual void ends(TransferId transfer, Time now, End how) = 0;
  /// The link has another capacity from now on.
  virtual void changes(std::size_t link, Time now, double capacity) = 0;
  /// What the job did after `from` until `to` happens so many times more, one after the other, and its open parts move
  /// behind that. Negative: so many times of the last repetition of the job don't happen.
  virtual void repeats(JobId job, Time from, Time to, std::int64_t times) = 0;
};

/// A network model that tells a TransferLog about its transfers derives from this, too.
class LoggedNetwork {
 public:
  virtual ~LoggedNetwork() = default;
  /// Tells it from now on; nothing has been sent before.
  virtual void log_to(TransferLog& log) = 0;
  [[nodiscard]] virtual TransferLog* log() const = 0;
};

/// The log of this network; null if it has none.
[[nodiscard]] inline TransferLog* log_of(const NetworkModel& network) {
  const auto* logged = dynamic_cast<const LoggedNetwork*>(&network);
  return logged != nullptr ? logged->log() : nullptr;
}

}  // namespace contend
