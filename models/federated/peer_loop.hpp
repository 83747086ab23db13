#pragma once
// Federated training without a server: clients exchange models with their neighbours. docs/models/federated.md has the
// rules with their sources.

#include "models/federated/federated_loop.hpp"
#include "sim/random_stream.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <queue>
#include <tuple>
#include <utility>
#include <vector>

namespace contend {

/// Two neighbours, the lower number first.
using PeerLink = std::pair<ClientNumber, ClientNumber>;

/// The links of so many clients, >= 2, each once and in order. Links of PeerGraph::attached are drawn from the stream:
/// the first rule.links + 1 clients are all neighbours, and each that comes has as many links to different earlier
/// ones, each with a chance in proportion to its links (Barabasi and Albert, Science 286, 1999).
[[nodiscard]] std::vector<PeerLink> peer_links(const NeighbourRule& rule, std::size_t clients, RandomStream draws);

/// Exchanges of all pairs in the mean time of a step by which DADAO keeps pace with gradients: sqrt(2 chi1 chi2), where
/// chi1 is the number of links divided by the second eigenvalue of the Laplacian, and chi2 half of the number of links
/// times the largest effective resistance of a link. By closed forms of rings and complete graphs; 0 of others.
[[nodiscard]] double exchange_rate(PeerGraph graph, std::size_t clients);

/// ClosingRule::gossip. In a round each client that is there computes its steps, and then sends its model to all
/// neighbours that have computed, `exchanges` times, each time when it has theirs. It goes on by itself: parts of a
/// graph that is cut don't wait for each other. Rounds close when the last client is through.
class GossipLoop final : public FederatedLoop {
 public:
  explicit GossipLoop(FederatedSpec spec);
  [[nodiscard]] Time next() const override { return is_over() || !is_on_ ? Time::never() : close_; }
  void advance(Time now) override;
  void resume(Time now) override;
  void lose(Time now) override;

 private:
  struct Peer {
    Time begins;             ///< its next round
    Time began;              ///< the round that is under way
    Time ready;              ///< when it has computed, or has the models of the last exchange
    std::int64_t alive = 0;  ///< neighbours that have computed, over links that are up
    bool has_computed = false;
  };
  void begin_round(Time now);
  /// All that are there compute. False if nobody is there.
  bool compute();
  void find_links();
  void exchange();
  void merge();

  std::vector<PeerLink> links_, up_;  // of the graph; of this round
  std::vector<Peer> peers_;
  RandomStream draws_;
  FederatedRound round_;  // that is under way
  Time close_;
  bool is_on_ = false;
};

/// ClosingRule::clocks. Each client has a clock for its steps, which take no time of anything else, and a common clock
/// draws links, each with equal chance: all are Poisson processes. The two clients of a link exchange models, both ways
/// at once, when neither exchanges with another. A round is the mean time between two steps of a client.
class ClockLoop final : public FederatedLoop {
 public:
  explicit ClockLoop(FederatedSpec spec);
  [[nodiscard]] Time next() const override;
  void advance(Time now) override;
  void resume(Time now) override;
  void lose(Time now) override;

 private:
  enum class Kind : std::uint8_t { step, exchange, ends, round };
  using Event = std::tuple<Time, Kind, std::uint64_t>;
  void step(ClientNumber client, Time now);
  void exchange(Time now);
  [[nodiscard]] Time length_of(PeerLink link) const;

  std::vector<PeerLink> links_;
  std::vector<RandomStream> steps_;
  std::vector<Time> free_;  // by client: until when it exchanges
  RandomStream draws_;
  Time unit_;          // of a round
  double gap_ns_ = 0;  // mean between two exchanges
  bool has_begun_ = false;
  std::priority_queue<Event, std::vector<Event>, std::greater<>> events_;
};

}  // namespace contend
