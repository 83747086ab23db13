#pragma once
// Rounds: clients are asked together, and the server closes when all are back or gone, at the first so many updates, or
// at a deadline.

#include "models/federated/federated_loop.hpp"
#include "sim/random_stream.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

namespace contend {

class RoundLoop final : public FederatedLoop {
 public:
  explicit RoundLoop(FederatedSpec spec);

  [[nodiscard]] Time next() const override;
  void advance(Time now) override;
  void resume(Time now) override;
  void lose(Time now) override;
  [[nodiscard]] Time busy(std::size_t device, Time now) const override;

 private:
  /// A client, or a device and the number of clients that it runs.
  struct Part {
    ClientVisit visit;
    std::uint32_t number = 0;
    std::int64_t clients = 1;
  };

  void begin_round(Time now);
  [[nodiscard]] std::int64_t steps_of(ClientNumber client);
  void pack(Time now);
  /// Uploads of BCRS: so many values that all end together.
  void set_ratios();
  /// All send and receive FederatedSpec::whole_bytes.
  void send_whole();
  void find_close(Time now);
  [[nodiscard]] bool is_in(const Part& part) const;
  /// The work of all ends: their updates count, or all is cut off at `now`.
  void end_work(Time now, bool is_version);
  [[nodiscard]] Time computed(const Part& part, Time now) const;

  RandomStream anchors_, whole_;
  std::vector<ClientNumber> asked_;
  std::vector<Part> parts_;  // empty: nobody is there, or the server isn't
  std::vector<std::pair<Time, std::uint32_t>> arrivals_;
  Time close_;
  std::optional<std::pair<Time, std::uint32_t>> last_;  // the update at which it closes, if it closes at one
  Time until_ = Time::never();                          // the version is there
  std::vector<Time> busy_;                              // of devices, in rounds that have ended
  bool has_version_ = false;                            // which the server makes
};

}  // namespace contend
