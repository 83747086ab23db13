#pragma once
// Clients that go on one by one: the server takes updates as they come, at once or at the ends of windows.

#include "models/federated/federated_loop.hpp"

#include <cstddef>
#include <cstdint>
#include <deque>
#include <queue>
#include <tuple>
#include <vector>

namespace contend {

class ArrivalLoop : public FederatedLoop {
 public:
  explicit ArrivalLoop(FederatedSpec spec);

  [[nodiscard]] Time next() const override;
  void advance(Time now) override;
  void resume(Time now) override;
  void lose(Time now) override;

 protected:
  /// What the server takes at once.
  struct Batch {
    std::vector<ClientNumber> clients;
    bool makes_version = true;
  };
  struct Work {
    ClientVisit visit;
    std::int64_t version = 0, steps = 0;  ///< which it got; local steps
    bool is_on = false;
  };
  /// An update that is in no version yet.
  struct Update {
    ClientVisit visit;
    std::int64_t age = 0;
  };

  /// The update of a client is there.
  virtual void arrived(ClientNumber client, Time now);
  /// A client has gone before its update was there.
  virtual void left(ClientNumber /*client*/, Time /*now*/) {}
  /// A timer that set_timer() has set.
  virtual void timer(std::uint64_t /*id*/, Time now) { serve_all(now); }
  /// The next batch; none if it isn't due.
  [[nodiscard]] virtual Batch take(Time now);
  /// Local steps of a client that is asked now.
  [[nodiscard]] virtual std::int64_t steps_for(ClientNumber client, Time /*now*/) {
    return spec().clients[client].steps;
  }
  /// A batch is in a version, or in the buffer: its clients are free.
  virtual void free_batch(const std::vector<ClientNumber>& clients, Time now);
  virtual void forget() {}

  void set_timer(Time at, std::uint64_t id) { events_.emplace(at, Kind::server, id); }
  /// The server takes batches until none is due or one takes time.
  void serve_all(Time now);
  /// The update of a client goes into the buffer, for the next version.
  void keep(ClientNumber client);
  /// A client begins again at once, unless it has gone.
  void again(ClientNumber client, Time now);
  /// Asks clients until as many work as may.
  void fill(Time now);
  [[nodiscard]] const Work& work(ClientNumber client) const { return work_[client]; }

 private:
  enum class Kind : std::uint8_t { client, server };
  using Event = std::tuple<Time, Kind, std::uint64_t>;
  static constexpr std::uint64_t kDone = UINT64_MAX, kWindow = UINT64_MAX - 1;

  void begin(ClientNumber client, Time now);
  /// The work of a client is over: the slot is free.
  void end(ClientNumber client);
  void finish(Time now);
  /// The end of the window in which the first came that waits.
  [[nodiscard]] Time window_end() const;
  void wait_for_window();
  /// All that is under way is cut off.
  void stop(Time now);

  /// Clients that leave in a row, after which no other is expected to stay long enough: a run would never end.
  static constexpr std::int64_t kMostInVain = 1'000'000;

  std::vector<Work> work_;  // by client
  std::size_t working_ = 0;
  std::int64_t in_vain_ = 0;
  std::priority_queue<Event, std::vector<Event>, std::greater<>> events_;
  std::deque<ClientNumber> waiting_;  // for the server
  Batch batch_;                       // that the server has
  bool serves_ = false;
  std::vector<Update> buffer_;
  std::vector<ClientNumber> asked_;
  Time origin_ = Time::never(), window_ = Time::never();  // of windows; the end of one that is set
};

}  // namespace contend
