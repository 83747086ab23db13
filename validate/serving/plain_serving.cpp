#include "validate/serving/plain_serving.hpp"

#include <algorithm>
#include <cstddef>

namespace contend {

namespace {

constexpr std::int64_t kNever = INT64_MAX;

struct PlainRequest {
  std::int64_t given = 0, cached = 0, held = 0, now = 0;  // now: tokens of the current step
  std::size_t turn = 0;                                   // of its drafts
  std::int64_t token = 0;                                 // when it got its last one
};

enum class PlainStage { gone, starting, live, draining };

struct PlainReplica {
  std::vector<std::size_t> running, queue;
  std::int64_t ends = kNever;
  std::int64_t computes = 0;  // tokens, in its step
  bool decodes = false;       // only: prefill is elsewhere
  PlainStage stage = PlainStage::gone;
  std::int64_t ready = kNever;  // while it is starting
  [[nodiscard]] bool is_empty() const { return running.empty() && queue.empty(); }
};

struct PlainTransfer {
  std::int64_t ends;
  std::size_t request, from;
};

class PlainSimulator {
 public:
  explicit PlainSimulator(const ServingCase& input) : in_{input}, requests_(input.requests.size()) {
    answer_.first.assign(requests_.size(), -1);
    answer_.end = answer_.first;
    answer_.evictions.assign(requests_.size(), 0);
    pool_ = static_cast<std::size_t>(in_.replicas + 2 * in_.most) + in_.acts.size();
    replicas_.resize(pool_ + static_cast<std::size_t>(in_.decode));
    link_.assign(pool_, 0);
    for (std::size_t r = pool_; r < replicas_.size(); ++r) replicas_[r].decodes = true;
    for (int r = 0; r < in_.replicas; ++r) replicas_[static_cast<std::size_t>(r)].stage = PlainStage::live;
  }

  ServingAnswer run() {
    for (std::int64_t now = next(-1); now != kNever; now = next(now)) {
      for (std::size_t r = 0; r < replicas_.size(); ++r) {
        if (replicas_[r].ends == now) end_step(r, now);
      }
      end_transfers(now);
      send_again(now);
      for (std::size_t i = 0; i < requests_.size(); ++i) {
        if (in_.requests[i][0] == now) arrive(i);
      }
      scale(now);
      for (const auto& [at, stopped, again] : in_.acts) {
        if (at == now) act(now, stopped, again);
      }
      for (std::size_t r = 0; r < replicas_.size(); ++r) {
        if (replicas_[r].ends == kNever) begin_step(r, now);
      }
    }
    return answer_;
  }

 private:
  std::int64_t known(std::size_t i) const { return in_.requests[i][1] + requests_[i].given; }
  bool decoding(std::size_t i) const { return requests_[i].given > 0 && requests_[i].cached == known(i) - 1; }
  std::int64_t blocks(std::int64_t tokens) const { return (tokens + in_.block - 1) / in_.block; }
  std::int64_t outstanding() const {
    std::int64_t count = static_cast<std::int64_t>(transfers_.size() + again_.size() + unrouted_.size());
    for (const PlainReplica& r : replicas_) count += static_cast<std::int64_t>(r.running.size() + r.queue.size());
    return count;
  }
  std::int64_t free_blocks(std::size_t r) const {
    std::int64_t held = 0;
    for (const std::size_t i : replicas_[r].running) held += requests_[i].held;
    for (const PlainTransfer& t : transfers_) held += t.from == r ? requests_[t.request].held : 0;
    return in_.blocks - held;
  }

  std::int64_t next(std::int64_t now) const {
    std::int64_t at = kNever;
    const auto consider = [&](std::int64_t t) { at = t > now ? std::min(at, t) : at; };
    for (const PlainReplica& r : replicas_) consider(r.ends);
    for (const PlainTransfer& t : transfers_) consider(t.ends);
    for (const auto& request : in_.requests) consider(request[0]);
    for (const PlainReplica& r : replicas_) consider(r.ready);
    for (const auto& act : in_.acts) consider(act[0]);
    for (const auto& [when, request] : again_) consider(when);
    const bool may_stop = in_.down > 0 && live() + asked_ > in_.least;
    if (in_.period > 0 && (outstanding() > 0 || may_stop)) consider((now / in_.period + 1) * in_.period);
    return at;
  }

  void end_step(std::size_t r, std::int64_t now) {
    PlainReplica& replica = replicas_[r];
    replica.ends = kNever;
    const std::vector<std::size_t> were = replica.running;
    for (const std::size_t i : were) {
      PlainRequest& request = requests_[i];
      if (request.now == 0) continue;
      std::int64_t given = 0;
      if (decoding(i)) {
        given = 1;
        if (in_.drafts > 0) {
          const std::int64_t taken = in_.accepted[request.turn++ % in_.accepted.size()];
          given = std::min({1 + taken, request.now, in_.requests[i][2] - request.given});
        }
        request.cached += given;
      } else {
        request.cached += request.now;
        if (request.cached == known(i)) given = 1;
      }
      if (given > 0 && request.given == 0) answer_.first[i] = now;
      if (given > 0 && request.given > 0) answer_.gaps.add(Int128{1000} * (now - request.token), 1);
      if (given > 0) request.token = now;
      request.given += given;
      answer_.given += given;
      if (request.given == in_.requests[i][2]) {
        answer_.end[i] = now;
        request.held = 0;
        std::erase(replica.running, i);
      } else if (in_.decode > 0 && !replica.decodes && given > 0) {
        std::erase(replica.running, i);
        link_[r] = std::max(link_[r], now) + in_.latency + in_.per_token * request.cached;
        transfers_.push_back({link_[r], i, r});
      }
    }
  }

  void end_transfers(std::int64_t now) {
    for (std::size_t i = 0; i < requests_.size(); ++i) {
      const auto sent = std::find_if(transfers_.begin(), transfers_.end(),
                                     [&](const PlainTransfer& t) { return t.request == i && t.ends == now; });
      if (sent == transfers_.end()) continue;
      transfers_.erase(sent);
      requests_[i].held = 0;
      replicas_[fewest(pool_, replicas_.size())].queue.push_back(i);
    }
  }

  std::size_t fewest(std::size_t first, std::size_t end) const {
    const auto size = [&](std::size_t r) { return replicas_[r].running.size() + replicas_[r].queue.size(); };
    std::size_t best = first;
    for (std::size_t r = first; r < end; ++r) best = size(r) < size(best) ? r : best;
    return best;
  }

  void arrive(std::size_t i) {
    requests_[i].cached = std::min(in_.requests[i][4], in_.requests[i][1] - 1);
    route(i);
  }

  void route(std::size_t i) {
    std::vector<std::size_t> takers;
    for (std::size_t r = 0; r < pool_; ++r) {
      if (replicas_[r].stage == PlainStage::live) takers.push_back(r);
    }
    if (takers.empty()) {
      unrouted_.push_back(i);
      return;
    }
    std::size_t r = takers.front();
    if (in_.route == 0) {
      for (const std::size_t taker : takers) {
        if (static_cast<std::int64_t>(taker) <= turn_) continue;
        r = taker;
        break;
      }
      turn_ = static_cast<std::int64_t>(r);
    } else if (in_.route == 2) {
      r = takers[static_cast<std::size_t>(in_.requests[i][3]) % takers.size()];
    } else {
      const auto size = [&](std::size_t t) { return replicas_[t].running.size() + replicas_[t].queue.size(); };
      for (const std::size_t taker : takers) r = size(taker) < size(r) ? taker : r;
    }
    replicas_[r].queue.push_back(i);
  }

  void send_again(std::int64_t now) {
    std::vector<std::size_t> due;
    for (const auto& [when, request] : again_) {
      if (when <= now) due.push_back(request);
    }
    std::erase_if(again_, [now](const auto& each) { return each.first <= now; });
    for (const std::size_t i : due) route(i);
  }

  int count(PlainStage stage) const {
    int count = 0;
    for (std::size_t r = 0; r < pool_; ++r) count += replicas_[r].stage == stage ? 1 : 0;
    return count;
  }
  int live() const { return count(PlainStage::live); }

  void scale(std::int64_t now) {
    for (PlainReplica& r : replicas_) {
      if (r.ready != now) continue;
      r.ready = kNever;
      r.stage = PlainStage::live;
      answer_.scaled.emplace_back(now, live());
    }
    if (live() > 0) {
      const std::vector<std::size_t> were = unrouted_;
      unrouted_.clear();
      for (const std::size_t i : were) route(i);
    }
    if (in_.period == 0 || now == 0 || now % in_.period != 0) return;
    const auto load = static_cast<double>(outstanding());
    const int coming = live() + count(PlainStage::starting) + asked_;
    if (load > in_.up * coming && coming < in_.most) {
      one_more(now);
    } else if (load < in_.down * live() && count(PlainStage::starting) == 0 && coming > in_.least) {
      if (asked_ > 0) {
        --asked_;
        return;
      }
      std::size_t last = pool_ - 1;
      while (replicas_[last].stage != PlainStage::live) --last;
      replicas_[last].stage = PlainStage::draining;
      answer_.scaled.emplace_back(now, live());
    }
  }

  bool called_back(std::int64_t now) {
    for (std::size_t r = 0; r < pool_; ++r) {
      if (replicas_[r].stage != PlainStage::draining || (replicas_[r].is_empty() && !in_.by_owner)) continue;
      replicas_[r].stage = PlainStage::live;
      answer_.scaled.emplace_back(now, live());
      return true;
    }
    return false;
  }

  void one_more(std::int64_t now) {
    if (called_back(now)) return;
    ++asked_;
    if (!in_.by_owner) start(now);
  }

  void start(std::int64_t now) {
    if (asked_ > 0) --asked_;
    for (std::size_t r = 0; r < pool_; ++r) {
      PlainReplica& replica = replicas_[r];
      const bool is_left = replica.stage == PlainStage::draining && replica.is_empty() && !in_.by_owner;
      if (replica.stage != PlainStage::gone && !is_left) continue;
      replica.stage = PlainStage::starting;
      replica.ready = now + in_.cold;
      return;
    }
  }

  void act(std::int64_t now, std::int64_t stopped, std::int64_t again) {
    if (stopped >= 0) stop(static_cast<std::size_t>(stopped), now, again);
    for (std::size_t r = 0; r < pool_; ++r) {
      const bool has_left = replicas_[r].stage == PlainStage::draining && replicas_[r].is_empty();
      if (has_left && in_.by_owner) replicas_[r].stage = PlainStage::gone;
    }
    while (asked_ > 0) start(now);
  }

  void stop(std::size_t r, std::int64_t now, std::int64_t again) {
    PlainReplica& replica = replicas_[r];
    const bool took = replica.stage == PlainStage::live || replica.stage == PlainStage::starting;
    replica.stage = PlainStage::gone;
    if (took && !called_back(now)) ++asked_;
    replica.ready = kNever;
    if (replica.ends != kNever) {  // the step is as if it had never begun
      --answer_.steps;
      answer_.computed -= replica.computes;
    }
    replica.ends = kNever;
    for (const auto* const list : {&replica.running, &replica.queue}) {
      for (const std::size_t i : *list) {
        answer_.recomputed += requests_[i].cached;
        requests_[i].cached = requests_[i].held = requests_[i].now = 0;
        again_.emplace_back(again, i);
      }
    }
    replica.running.clear();
    replica.queue.clear();
    send_again(now);
  }

  void evict_last(std::size_t r) {
    PlainReplica& replica = replicas_[r];
    const std::size_t i = replica.running.back();
    replica.running.pop_back();
    answer_.recomputed += requests_[i].cached;
    ++answer_.evictions[i];
    requests_[i].cached = requests_[i].held = requests_[i].now = 0;
    replica.queue.insert(replica.queue.begin(), i);
  }

  /// Of those who run; says whether one was evicted.
  bool continue_running(std::size_t r, std::int64_t& budget) {
    bool evicted = false;
    std::vector<std::size_t>& running = replicas_[r].running;
    for (const std::size_t i : running) requests_[i].now = 0;
    for (std::size_t place = 0; place < running.size(); ++place) {
      const std::size_t i = running[place];
      const std::int64_t wanted = known(i) - requests_[i].cached + (decoding(i) ? in_.drafts : 0);
      const std::int64_t tokens = std::min(wanted, budget);
      if (tokens == 0) break;
      while (place < running.size()) {
        const std::int64_t more = std::max<std::int64_t>(0, blocks(requests_[i].cached + tokens) - requests_[i].held);
        if (more <= free_blocks(r)) {
          requests_[i].held += more;
          requests_[i].now = tokens;
          budget -= tokens;
          break;
        }
        evict_last(r);
        evicted = true;
      }
    }
    return evicted;
  }

  void admit(std::size_t r, std::int64_t& budget) {
    PlainReplica& replica = replicas_[r];
    while (!replica.queue.empty() && budget > 0 && static_cast<std::int64_t>(replica.running.size()) < in_.batch) {
      const std::size_t i = replica.queue.front();
      const std::int64_t wanted = known(i) - requests_[i].cached;
      // Not chunked: only more tokens than a whole step computes, prompt and answer of an evicted one, are divided.
      if (!in_.chunked && wanted > budget && budget < in_.tokens) return;
      const std::int64_t tokens = std::min(wanted, budget);
      if (blocks(requests_[i].cached + tokens) > free_blocks(r)) return;
      requests_[i].held = blocks(requests_[i].cached + tokens);
      requests_[i].now = tokens;
      budget -= tokens;
      replica.running.push_back(i);
      replica.queue.erase(replica.queue.begin());
    }
  }

  void begin_step(std::size_t r, std::int64_t now) {
    std::int64_t budget = in_.tokens;
    for (bool evicted = true; evicted && budget == in_.tokens;) {
      evicted = continue_running(r, budget);
      if (!evicted) admit(r, budget);
    }
    if (budget == in_.tokens) return;
    std::int64_t tokens = 0, cached = 0;
    for (const std::size_t i : replicas_[r].running) {
      tokens += requests_[i].now;
      if (requests_[i].now > 0) cached += requests_[i].cached + requests_[i].now;
    }
    ++answer_.steps;
    answer_.computed += tokens;
    replicas_[r].computes = tokens;
    replicas_[r].ends = now + in_.overhead + std::max(in_.weights, in_.token * tokens) + in_.cache * cached;
  }

  const ServingCase& in_;
  std::vector<PlainRequest> requests_;
  std::vector<PlainReplica> replicas_;
  std::vector<PlainTransfer> transfers_;
  std::vector<std::int64_t> link_;
  std::vector<std::pair<std::int64_t, std::size_t>> again_;  // when a request is sent again
  std::vector<std::size_t> unrouted_;                        // while no replica takes requests
  ServingAnswer answer_;
  std::size_t pool_ = 0;
  std::int64_t turn_ = -1;
  int asked_ = 0;
};

}  // namespace

ServingAnswer serve_plainly(const ServingCase& input) {
  return PlainSimulator{input}.run();
}

}  // namespace contend
