// Plain loops of federated training. They share nothing with models/federated/ but the numbers of a case.

#include "sim/error.hpp"
#include "validate/beyond/federated_case.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <map>
#include <optional>
#include <utility>

namespace contend {
namespace {

using Ns = std::int64_t;
constexpr Ns kNever = INT64_MAX;

struct PlainWork {
  bool works = false, waits = false;
  Ns begin = 0, down = 0, compute = 0, up = 0, leaves = kNever;
  std::int64_t version = 0, steps = 0, group = -1;
  double step_ns = 0;  // FedCompass' estimate; 0: none

  [[nodiscard]] Ns arrival() const { return begin + down + compute + up; }
  [[nodiscard]] bool arrives() const { return arrival() <= leaves; }
  [[nodiscard]] Ns end() const { return std::min(arrival(), leaves); }
};

Ns transfer_ns(Bytes bytes, ByteRate rate) {
  if (bytes.count() == 0) return 0;
  return Time::ceil_nanoseconds(bytes.to_double() * 1e9 / rate.bytes_per_second()).ns();
}

class Plain {
 public:
  explicit Plain(const FederatedSpec& spec) : spec_{spec}, clients_(spec.clients.size()) {}

  std::vector<FederatedRound> run() {
    if (spec_.rule == ClosingRule::round)
      while (is_on()) round();
    else
      arrivals();
    return rounds_;
  }

 private:
  [[nodiscard]] bool is_on() const { return std::ssize(rounds_) < spec_.rounds; }

  /// True in any of the stays, in every period.
  [[nodiscard]] bool is_there(std::size_t client, Ns at) const {
    if (spec_.presence.stays.empty()) return true;
    const Ns in_period = at % spec_.presence.period.ns();
    const std::vector<Time>& stays = spec_.presence.stays[client];
    for (std::size_t i = 0; i < stays.size(); i += 2)
      if (stays[i].ns() <= in_period && in_period < stays[i + 1].ns()) return true;
    return false;
  }
  /// The next instant after `at` at which that is otherwise.
  [[nodiscard]] Ns changes(std::size_t client, Ns at) const {
    if (spec_.presence.stays.empty()) return kNever;
    const Ns period = spec_.presence.period.ns();
    Ns found = kNever;
    for (Ns k = at / period; k <= at / period + 2; ++k)
      for (const Time each : spec_.presence.stays[client])
        if (const Ns then = k * period + each.ns(); then > at && is_there(client, then) != is_there(client, at))
          found = std::min(found, then);
    return found;
  }

  void begin(std::size_t client, Ns now, std::int64_t steps) {
    PlainWork& work = clients_[client];
    work.works = true;
    work.waits = false;
    work.begin = now;
    work.steps = steps;
    work.down = transfer_ns(spec_.down, spec_.clients[client].down);
    work.compute = spec_.clients[client].step.ns() * steps;
    work.up = transfer_ns(spec_.up, spec_.clients[client].up);
    work.leaves = changes(client, now);
    work.version = version_;
    ++open_.asked;
  }

  /// Bytes that are sent in [from, from + length) until `now`.
  static std::int64_t sent(std::int64_t bytes, Ns from, Ns length, Ns now) {
    if (now >= from + length) return bytes;
    if (now <= from) return 0;
    return static_cast<std::int64_t>(Int128{bytes} * (now - from) / length);
  }
  void end_work(const PlainWork& work, Ns now, bool is_update) {
    const std::int64_t down = sent(spec_.down.count(), work.begin, work.down, now);
    const std::int64_t up = sent(spec_.up.count(), work.begin + work.down + work.compute, work.up, now);
    open_.down += Bytes{down};
    open_.up += Bytes{up};
    if (down < spec_.down.count()) open_.dropped += Bytes{down};
    if (!is_update) open_.dropped += Bytes{up};
    ++(is_update ? open_.updates : open_.lost);
  }
  void close(Ns now, bool has_version) {
    open_.end = Time::nanoseconds(now);
    open_.has_version = has_version;
    rounds_.push_back(std::exchange(open_, {}));
    open_.begin = Time::nanoseconds(now);
    if (has_version) ++version_;
  }

  void round() {
    std::vector<std::size_t> asked;
    Ns next = kNever;
    for (std::size_t c = 0; c < clients_.size(); ++c) {
      if (is_there(c, now_)) asked.push_back(c);
      next = std::min(next, changes(c, now_));
    }
    if (asked.empty()) {
      now_ = next;
      return;
    }
    open_.begin = Time::nanoseconds(now_);
    std::vector<std::pair<Ns, std::size_t>> there;
    Ns last = 0;
    for (const std::size_t c : asked) {
      begin(c, now_, spec_.clients[c].steps);
      last = std::max(last, clients_[c].end());
      if (clients_[c].arrives()) there.emplace_back(clients_[c].arrival(), c);
    }
    std::ranges::sort(there);
    if (spec_.first > 0 && there.size() > spec_.first) there.resize(spec_.first);
    if (spec_.first > 0 && there.size() == spec_.first) last = there.back().first;
    if (spec_.deadline) last = std::min(last, now_ + spec_.deadline->ns());
    std::erase_if(there, [&](const auto& each) { return each.first > last; });
    const bool is_version = there.size() >= spec_.least;
    for (const std::size_t c : asked) {
      const bool is_in = std::ranges::any_of(there, [&](const auto& each) { return each.second == c; });
      end_work(clients_[c], std::min(clients_[c].end(), last), is_version && is_in);
    }
    now_ = last + (is_version ? time_of_version(there.size()) : 0);
    close(now_, is_version);
  }

  [[nodiscard]] Ns time_of_version(std::size_t updates) const {
    return spec_.aggregate.ns() + spec_.pair.ns() * static_cast<Ns>(updates * updates);
  }

  struct Update {
    PlainWork work;
    std::int64_t age = 0;
  };
  struct Group {
    double expected = 0, latest = 0;
    std::vector<std::size_t> members, there;
    bool is_open = true;
  };

  /// All that is idle and there begins.
  void ask() {
    for (std::size_t c = 0; c < clients_.size() && is_on(); ++c)
      if (!clients_[c].works && is_there(c, now_)) begin(c, now_, steps_for(c));
  }

  void arrivals() {
    for (ask(); is_on(); ask()) {
      now_ = next_instant();
      for (std::size_t c = 0; c < clients_.size() && is_on(); ++c) {
        PlainWork& work = clients_[c];
        if (!work.works || work.waits || work.end() != now_) continue;
        if (work.arrives()) {
          arrived(c);
        } else {
          end_work(work, now_, false);
          work.works = false;
          if (work.group >= 0) leave_group(c);
          ask();
        }
      }
      if (is_on() && done_ == now_) finish();
      if (is_on() && spec_.rule == ClosingRule::window) serve();
      for (std::size_t g = 0; g < groups_.size() && is_on(); ++g)
        if (groups_[g].is_open && Time::ceil_nanoseconds(groups_[g].latest).ns() == now_) close_group(g);
    }
  }

  [[nodiscard]] Ns next_instant() const {
    Ns next = done_;
    for (std::size_t c = 0; c < clients_.size(); ++c) {
      const PlainWork& work = clients_[c];
      if (!work.works) next = std::min(next, changes(c, now_));
      if (work.works && !work.waits) next = std::min(next, work.end());
    }
    if (spec_.rule == ClosingRule::window && !queue_.empty() && done_ == kNever) next = std::min(next, window_end());
    for (const Group& group : groups_)
      if (group.is_open) next = std::min(next, Time::ceil_nanoseconds(group.latest).ns());
    if (next == kNever) throw InputError("nothing happens any more");
    return next;
  }

  [[nodiscard]] Ns window_end() const {
    const Ns w = spec_.window.ns(), at = clients_[queue_.front()].arrival();
    return std::max(now_, (at + w - 1) / w * w);
  }

  void arrived(std::size_t client) {
    PlainWork& work = clients_[client];
    work.waits = true;
    if (spec_.rule == ClosingRule::compass) return arrived_in_group(client);
    queue_.push_back(client);
    if (spec_.rule == ClosingRule::buffer) serve();
  }

  void serve() {
    while (is_on() && done_ == kNever && !queue_.empty()) {
      std::vector<std::size_t> taken{queue_.front()};
      if (spec_.rule == ClosingRule::window) {
        const Ns w = spec_.window.ns(), end = (clients_[taken.front()].arrival() + w - 1) / w * w;
        if (end > now_) return;
        taken.clear();
        for (const std::size_t c : queue_)
          if (clients_[c].arrival() <= end) taken.push_back(c);
      }
      queue_.erase(queue_.begin(), queue_.begin() + static_cast<std::ptrdiff_t>(taken.size()));
      Ns length = 0;
      batch_.clear();
      for (const std::size_t c : taken) {
        const std::int64_t age = version_ - clients_[c].version;
        if (spec_.stalest && age > *spec_.stalest) {
          end_work(clients_[c], clients_[c].arrival(), false);
          clients_[c].works = false;
          continue;
        }
        batch_.push_back(c);
        length += age > 0 ? spec_.stale.ns() : 0;
      }
      if (batch_.size() < taken.size()) ask();
      if (batch_.empty()) continue;
      if (makes_version()) length += time_of_version(buffer_.size() + batch_.size());
      done_ = now_ + length;
      if (length == 0) finish();
    }
  }
  [[nodiscard]] bool makes_version() const {
    return spec_.rule == ClosingRule::window || buffer_.size() + batch_.size() >= spec_.buffer;
  }

  void finish() {
    done_ = kNever;
    const bool is_version = makes_version();
    for (const std::size_t c : batch_) {
      buffer_.push_back({clients_[c], version_ - clients_[c].version});
      clients_[c].works = false;
    }
    batch_.clear();
    if (is_version) make_version();
    ask();
    if (spec_.rule == ClosingRule::buffer) serve();
  }

  void make_version() {
    for (const Update& each : buffer_) {
      end_work(each.work, each.work.arrival(), true);
      open_.staleness_sum += each.age;
      open_.staleness_max = std::max(open_.staleness_max, each.age);
    }
    buffer_.clear();
    if (std::ssize(rounds_) + 1 == spec_.rounds)
      for (const PlainWork& work : clients_)
        if (work.works) end_work(work, std::min(now_, work.end()), false);
    close(now_, true);
  }

  // FedCompass, whose server takes no time here.

  std::int64_t steps_for(std::size_t client) {
    if (spec_.rule != ClosingRule::compass) return spec_.clients[client].steps;
    const double speed = clients_[client].step_ns, now = static_cast<double>(now_);
    const auto least = static_cast<double>(spec_.compass.least), most = static_cast<double>(spec_.compass.most);
    if (speed == 0) return spec_.compass.most;
    double best = -1;
    std::size_t into = 0;
    for (std::size_t g = 0; g < groups_.size(); ++g) {
      if (!groups_[g].is_open) continue;
      const double fits = std::floor((groups_[g].expected - now) / speed);
      if (fits < least || fits > most || fits < best) continue;
      best = fits;
      into = g;
    }
    if (best < 0) {
      into = groups_.size();
      for (const Group& group : groups_) {
        if (!group.is_open || now >= group.latest) continue;
        double fastest = 1e300;
        for (const std::size_t c : group.members) fastest = std::min(fastest, clients_[c].step_ns);
        const double fits = std::floor((group.latest + most * fastest - now) / speed);
        if (fits <= most) best = std::max(best, fits);
      }
      best = best < 0 ? most : std::max(best, least);
      groups_.push_back({now + best * speed, now + spec_.compass.latest * best * speed, {}, {}, true});
    }
    groups_[into].members.push_back(client);
    clients_[client].group = static_cast<std::int64_t>(into);
    return static_cast<std::int64_t>(best);
  }

  void arrived_in_group(std::size_t client) {
    PlainWork& work = clients_[client];
    const double speed = static_cast<double>(now_ - work.begin) / static_cast<double>(work.steps);
    work.step_ns = work.step_ns == 0 ? speed : work.step_ns + spec_.compass.momentum * (speed - work.step_ns);
    if (work.group < 0) return take({client});
    Group& group = groups_[static_cast<std::size_t>(work.group)];
    if (group.is_open) {
      group.there.push_back(client);
      if (group.there.size() == group.members.size()) close_group(static_cast<std::size_t>(work.group));
      return;
    }
    buffer_.push_back({work, version_ - work.version});
    again(client);
  }
  void leave_group(std::size_t client) {
    const auto number = static_cast<std::size_t>(std::exchange(clients_[client].group, -1));
    std::erase(groups_[number].members, client);
    if (groups_[number].is_open && groups_[number].there.size() == groups_[number].members.size()) close_group(number);
  }
  void close_group(std::size_t number) {
    groups_[number].is_open = false;
    std::vector<std::size_t> there = groups_[number].there;
    std::ranges::sort(there, {}, [&](std::size_t c) { return std::pair{clients_[c].step_ns, c}; });
    if (!there.empty()) take(there);
  }
  void take(const std::vector<std::size_t>& batch) {
    for (const std::size_t c : batch) {
      buffer_.push_back({clients_[c], version_ - clients_[c].version});
      clients_[c].works = false;
    }
    make_version();
    for (const std::size_t c : batch) again(c);
  }
  void again(std::size_t client) {
    clients_[client].works = false;
    clients_[client].group = -1;
    if (is_on() && is_there(client, now_)) begin(client, now_, steps_for(client));
  }

  const FederatedSpec& spec_;
  std::vector<PlainWork> clients_;
  std::vector<FederatedRound> rounds_;
  FederatedRound open_;
  Ns now_ = 0, done_ = kNever;
  std::int64_t version_ = 0;
  std::vector<std::size_t> queue_, batch_;
  std::vector<Update> buffer_;
  std::vector<Group> groups_;
};

}  // namespace

std::vector<FederatedRound> plain_federated(const FederatedSpec& spec) {
  return Plain{spec}.run();
}

}  // namespace contend
