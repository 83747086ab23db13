#pragma once
// FedCompass (Li et al., arXiv 2309.14675; code APPFL/FedCompass): each client gets as many steps as let it arrive with
// a group of others.

#include "models/federated/arrival_loop.hpp"

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <set>
#include <vector>

namespace contend {

class CompassLoop final : public ArrivalLoop {
 public:
  explicit CompassLoop(FederatedSpec spec);

 private:
  struct Group {
    double expected_ns = 0, latest_ns = 0;
    std::set<ClientNumber> awaited;
    std::vector<ClientNumber> there;
    bool is_open = true;  ///< no version has been made of it
  };
  using Groups = std::map<std::uint64_t, Group>;
  struct Known {
    std::optional<double> step_ns;       ///< as estimated
    std::optional<std::uint64_t> group;  ///< with which it is to arrive
  };

  void arrived(ClientNumber client, Time now) override;
  void left(ClientNumber client, Time now) override;
  void timer(std::uint64_t id, Time now) override;
  [[nodiscard]] Batch take(Time now) override;
  [[nodiscard]] std::int64_t steps_for(ClientNumber client, Time now) override;
  void free_batch(const std::vector<ClientNumber>& clients, Time now) override;
  void forget() override;

  void estimate(ClientNumber client, Time now);
  /// Steps with which a client at this speed joins an open group; none if it can join none.
  std::optional<std::int64_t> join(ClientNumber client, double step_ns, double now_ns);
  [[nodiscard]] std::int64_t steps_of_new(double step_ns, double now_ns) const;
  /// The server gets what of a group is there.
  void close_group(Groups::iterator group, Time now);

  std::vector<Known> known_;  // by client
  Groups groups_;
  std::uint64_t groups_made_ = 0;
  std::deque<std::vector<ClientNumber>> batches_;
};

}  // namespace contend
