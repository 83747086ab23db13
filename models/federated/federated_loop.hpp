#pragma once
// Federated training: a server and its clients. The loop is a state machine; its owner takes it from one instant to the
// next. On one instant clients come first, in order of their numbers, then timers of the server.

#include "models/federated/federated_spec.hpp"
#include "models/federated/population.hpp"
#include "sim/federated_round.hpp"
#include "sim/units.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace contend {

/// What a client, or a device, does from the moment at which it is asked.
struct ClientVisit {
  Time begin, down, compute, up;  ///< when it is asked; how long the parts take
  Bytes down_bytes{}, up_bytes{};
  Time leaves = Time::never();  ///< when it goes

  [[nodiscard]] Time arrival() const { return begin + down + compute + up; }
  [[nodiscard]] bool arrives() const { return arrival() <= leaves; }
  /// When the server knows that it is done or gone.
  [[nodiscard]] Time end() const { return arrives() ? arrival() : leaves; }
};

/// The time of a transfer alone on a link, rounded up to nanoseconds; 0 of nothing, whatever the rate.
[[nodiscard]] Time transfer_time(Bytes bytes, ByteRate rate);

class FederatedLoop {
 public:
  virtual ~FederatedLoop() = default;
  FederatedLoop(const FederatedLoop&) = delete;
  FederatedLoop& operator=(const FederatedLoop&) = delete;

  /// The next instant at which something happens, after resume(); Time::never() once it is over.
  [[nodiscard]] virtual Time next() const = 0;
  /// Does what falls on `now`, which is next().
  virtual void advance(Time now) = 0;
  /// The server goes on: asks clients, for the first time or again.
  virtual void resume(Time now) = 0;
  /// The server is gone at `now`, which isn't after next(): clients stop, and updates that are in no version are lost.
  virtual void lose(Time now) = 0;
  [[nodiscard]] bool is_over() const { return std::ssize(rounds_) == spec_.rounds; }

  [[nodiscard]] std::span<const FederatedRound> rounds() const { return rounds_; }
  [[nodiscard]] std::int64_t versions() const { return versions_; }
  /// Over all rounds, and what has ended since.
  [[nodiscard]] FederatedRound totals() const;
  /// For how long the server has made versions by `now`, which isn't after next(), and this device has computed.
  [[nodiscard]] virtual Time busy(std::size_t device, Time now) const;
  [[nodiscard]] const FederatedSpec& spec() const { return spec_; }

 protected:
  explicit FederatedLoop(FederatedSpec spec);

  /// A client is asked for so many steps.
  [[nodiscard]] ClientVisit visit(ClientNumber client, std::int64_t steps, Time now) const;
  /// Counts what was sent in a visit that ends, or is cut off, at `end`. Its update goes into a version, or is
  /// dropped; it is of so many clients.
  void settle(const ClientVisit& visit, Time end, bool is_update, std::int64_t clients = 1);
  /// An update of this age goes into the next version.
  void count_age(std::int64_t versions);
  /// A round closes, or a version is made.
  void close_round(Time end, bool has_version);
  /// The time of a version of so many updates, for which the server begins to work at `now`.
  /// `sent`: the bytes of the largest of these updates.
  [[nodiscard]] Time version_time(std::int64_t updates, Bytes sent, Time now);
  /// The server works from `from` or later, once it is free, for `length`. Returns until when.
  Time serve(Time from, Time length);
  [[nodiscard]] Time server_free() const { return free_; }
  void stop_server(Time now);

  [[nodiscard]] Roster& roster() { return roster_; }
  [[nodiscard]] const Roster& roster() const { return roster_; }
  [[nodiscard]] FederatedRound& open_round() { return open_; }

 private:
  FederatedSpec spec_;
  Roster roster_;
  std::vector<ClientVisit> usual_;  // of each client, from instant 0, but for when it leaves
  std::vector<FederatedRound> rounds_;
  FederatedRound open_;
  std::int64_t versions_ = 0;
  WarmAggregators warm_;
  Time free_, served_;  // the server: until when it works, and for how long in all, by then
};

/// Throws InputError by FederatedSpec::check(), and for a deadline by which no client can be back. The server is not
/// there before resume().
[[nodiscard]] std::unique_ptr<FederatedLoop> federated_loop(FederatedSpec spec);

}  // namespace contend
