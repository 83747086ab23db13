#include "models/serving/fleet.hpp"

#include "sim/check.hpp"
#include "sim/error.hpp"

#include <algorithm>
#include <string>

namespace contend {

namespace {

void check_kind(const ReplicaSpec& kind) {
  constexpr std::int64_t kMostBlock = 1 << 20;
  kind.law.check();
  for (const StepClock& clock : kind.clocks) {
    clock.prompts.check();
    clock.decodes.check();
  }
  if (kind.tokens < 1 || kind.batch < 1)
    throw InputError("a step computes no token: its tokens or its batch are below 1");
  if (kind.block < 1 || kind.block > kMostBlock || kind.blocks < 1 || kind.blocks > ReplicaSpec::kUnlimited) {
    throw InputError("a replica has no block of KV memory, or one of more than 2^20 tokens, or more than 2^40 of them");
  }
}

void check_scaling(const ScalingRule& rule, int replicas) {
  if (rule.period < Time{} || rule.cold < Time{}) throw InputError("a time of the scaling rule is negative");
  if (rule.period == Time{}) return;
  if (rule.least < 1 || rule.least > replicas || rule.most < replicas) {
    throw InputError("the scaling rule's least and most replicas don't enclose those at first");
  }
  if (!(rule.up >= 0 && rule.down >= 0 && rule.down <= rule.up)) {
    throw InputError("the scaling rule stops replicas at a load at which it starts them");
  }
}

void check_speculation(const Speculation& speculation) {
  const auto accepts = [&](std::int64_t count) { return count >= 0 && count <= speculation.drafts; };
  if (speculation.drafts < 0 || !(speculation.acceptance >= 0 && speculation.acceptance <= 1) ||
      !std::all_of(speculation.accepted.begin(), speculation.accepted.end(), accepts)) {
    throw InputError(
        "drafts are negative, or their acceptance isn't between 0 and 1, or more are accepted than drafted");
  }
}

void check_request(const ServedRequest& request, Time now) {
  if (request.prompt < 1 || request.answer < 1 || request.prompt > INT32_MAX || request.answer > INT32_MAX) {
    throw InputError("a request has a prompt or an answer of no token, or of more than 2^31");
  }
  if (request.hits < 0) throw InputError("a request has a negative number of hits");
  if (request.arrival < now)
    throw InputError("a request arrives before the requests of earlier instants have been served");
}

}  // namespace

Fleet::Fleet(FleetSpec spec) : spec_{std::move(spec)} {
  if (spec_.replicas < 1) throw InputError("a fleet has no replica");
  if (spec_.replicas >= kDecoders || spec_.decode.replicas < 0 || spec_.decode.replicas >= kDecoders) {
    throw InputError("a fleet has a negative number of replicas, or more than 2^24");
  }
  check_kind(spec_.replica);
  check_scaling(spec_.scaling, spec_.replicas);
  check_speculation(spec_.speculation);
  if (spec_.decode.latency < Time{} || spec_.decode.per_token < Time{}) {
    throw InputError("a cache is sent in a negative time");
  }
  now_ = last_check_ = spec_.begin;
  grow(spec_.replicas);
  for (std::size_t r = 0; r < replicas_.size(); ++r) set_stage(r, Stage::live);
  for (int d = 0; d < spec_.decode.replicas; ++d) {
    decoders_.emplace_back(spec_.replica, spec_.speculation, records_, false);
  }
}

int Fleet::index_of(int replica) const {
  const int prefill = static_cast<int>(replicas_.size());
  return replica < prefill ? replica : kDecoders + replica - prefill;
}

ServingReplica& Fleet::at(int index) {
  return index < kDecoders ? replicas_[static_cast<std::size_t>(index)]
                           : decoders_[static_cast<std::size_t>(index - kDecoders)];
}

const ServingReplica& Fleet::part(int replica) const {
  const auto i = static_cast<std::size_t>(replica);
  return i < replicas_.size() ? replicas_[i] : decoders_[i - replicas_.size()];
}

void Fleet::grow(int replicas) {
  for (std::size_t i = replicas_.size(); i < static_cast<std::size_t>(replicas); ++i) {
    replicas_.emplace_back(spec_.replica, spec_.speculation, records_, spec_.decode.replicas > 0);
    replicas_.back().set_clock(clock_);
    link_free_.emplace_back();
    loads_.push_back(0);
    stages_.push_back(Stage::gone);
  }
}

void Fleet::set_stage(std::size_t replica, Stage stage) {
  stages_[replica] = stage;
  const int number = static_cast<int>(replica);
  const auto at = std::ranges::lower_bound(takers_, number);
  const bool takes = at != takers_.end() && *at == number;
  if (takes && stage != Stage::live) takers_.erase(at);
  if (!takes && stage == Stage::live) takers_.insert(at, number);
}

void Fleet::check(const ServedRequest& request) const {
  check_request(request, now_);
  // Its last token is never computed.
  const std::int64_t cached = request.prompt + request.answer - 1 + spec_.speculation.drafts;
  const std::int64_t most = spec_.replica.blocks * spec_.replica.block;
  if (cached > most) {
    throw InputError("a request of " + std::to_string(request.prompt) + " + " + std::to_string(request.answer) +
                     " tokens doesn't fit into the KV memory of a replica, which holds " + std::to_string(most));
  }
  if (!spec_.replica.chunked && request.prompt > spec_.replica.tokens) {
    throw InputError("a prompt of " + std::to_string(request.prompt) +
                     " tokens doesn't fit into a step, which computes " + std::to_string(spec_.replica.tokens) +
                     ", and prompts aren't chunked");
  }
}

RequestNumber Fleet::submit(const ServedRequest& request) {
  check(request);
  const auto number = static_cast<RequestNumber>(records_.size());
  RequestResult record;
  record.arrival = request.arrival;
  record.prompt = request.prompt;
  record.answer = request.answer;
  records_.push_back(record);
  const auto later = [](Time arrival, const auto& other) { return arrival < other.second.arrival; };
  const auto waiting = arrivals_.begin() + static_cast<std::ptrdiff_t>(next_arrival_);
  arrivals_.insert(std::upper_bound(waiting, arrivals_.end(), request.arrival, later), {number, request});
  return number;
}

Time Fleet::next_check() const {
  const ScalingRule& rule = spec_.scaling;
  const bool may_stop = rule.down > 0 && starting_.empty() && live() + asked_ > rule.least;
  if (rule.period == Time{} || (outstanding_ == 0 && !may_stop)) return Time::never();
  const std::int64_t period = rule.period.ns();
  const std::int64_t after = std::max(last_check_ + Time::nanoseconds(1), now_).ns() - spec_.begin.ns();
  return spec_.begin + rule.period * std::max<std::int64_t>((after + period - 1) / period, 1);
}

void Fleet::drop_stale() {
  while (!step_ends_.empty() && at(step_ends_.top().second).step_end() != step_ends_.top().first) step_ends_.pop();
  while (!transfer_ends_.empty()) {
    const auto transfer = transfers_.find(transfer_ends_.top().second);
    if (transfer != transfers_.end() && transfer->second.end == transfer_ends_.top().first) break;
    transfer_ends_.pop();
  }
}

Time Fleet::next() {
  drop_stale();
  Time next = next_check();
  if (!step_ends_.empty()) next = std::min(next, step_ends_.top().first);
  if (!transfer_ends_.empty()) next = std::min(next, transfer_ends_.top().first);
  if (next_arrival_ < arrivals_.size()) next = std::min(next, arrivals_[next_arrival_].second.arrival);
  if (!starting_.empty()) next = std::min(next, starting_.begin()->first);
  if (!again_.empty()) next = std::min(next, again_.begin()->first);
  return next;
}

void Fleet::advance(Time now) {
  CONTEND_DCHECK(now >= now_ && now <= next(), "a fleet is taken past an instant at which it acts");
  now_ = now;
  ended_.clear();
  end_steps();
  while (!transfer_ends_.empty() && transfer_ends_.top().first == now_) {
    const auto transfer = transfers_.find(transfer_ends_.top().second);
    const Transfer sent = transfer->second;
    transfers_.erase(transfer);
    deliver(sent);
    drop_stale();
  }
  send_again();
  arrive();
  end_steps();  // leaps that the arrivals have cut at this instant, which end no request
  check_scale();
}

void Fleet::end_steps() {
  for (drop_stale(); !step_ends_.empty() && step_ends_.top().first == now_; drop_stale()) {
    const int index = step_ends_.top().second;
    step_ends_.pop();
    gone_.clear();
    at(index).finish(gone_);
    touched_.push_back(index);
    if (index < kDecoders) loads_[static_cast<std::size_t>(index)] -= static_cast<std::int64_t>(gone_.size());
    for (const ServedSequence& sequence : gone_) {
      if (sequence.given == sequence.answer) {
        ended_.push_back(sequence.request);
        --outstanding_;
      } else {
        send(sequence, index);
      }
    }
  }
}

void Fleet::send(const ServedSequence& sequence, int from) {
  Time& link = link_free_[static_cast<std::size_t>(from)];
  link = std::max(link, now_) + spec_.decode.latency + spec_.decode.per_token * sequence.computed;
  transfer_ends_.emplace(link, sequence.request);
  transfers_.emplace(sequence.request, Transfer{sequence, from, link});
}

void Fleet::deliver(const Transfer& transfer) {
  at(transfer.from).free_blocks(transfer.sequence.blocks);
  touched_.push_back(transfer.from);
  const auto fewer = [](const ServingReplica& a, const ServingReplica& b) { return a.outstanding() < b.outstanding(); };
  const auto decoder =
      static_cast<int>(std::min_element(decoders_.begin(), decoders_.end(), fewer) - decoders_.begin());
  ServedSequence sequence = transfer.sequence;
  sequence.blocks = sequence.step = 0;
  records_[sequence.request].replica = static_cast<int>(replicas_.size()) + decoder;
  put(kDecoders + decoder, sequence);
}

void Fleet::put(int index, ServedSequence sequence) {
  if (at(index).queue(sequence, now_)) step_ends_.emplace(at(index).step_end(), index);
  touched_.push_back(index);
}

int Fleet::route(std::int64_t prefix) {
  if (spec_.routing == RequestRouting::round_robin) {
    const auto next = std::ranges::upper_bound(takers_, last_routed_);
    last_routed_ = next == takers_.end() ? takers_.front() : *next;
    return last_routed_;
  }
  if (spec_.routing == RequestRouting::affinity && prefix >= 0)
    return takers_[static_cast<std::size_t>(prefix % live())];
  return *std::ranges::min_element(takers_, {}, [this](int r) { return loads_[static_cast<std::size_t>(r)]; });
}

void Fleet::put_routed(const ServedSequence& sequence) {
  if (takers_.empty()) {
    unrouted_.push_back(sequence);
    return;
  }
  const int index = route(sequence.prefix);
  records_[sequence.request].replica = index;
  ++loads_[static_cast<std::size_t>(index)];
  put(index, sequence);
}

void Fleet::send_again() {
  while (!again_.empty() && again_.begin()->first <= now_) {
    const ServedSequence sequence = again_.begin()->second;
    again_.erase(again_.begin());
    put_routed(sequence);
  }
}

void Fleet::arrive() {
  for (; next_arrival_ < arrivals_.size() && arrivals_[next_arrival_].second.arrival == now_; ++next_arrival_) {
    const auto& [number, request] = arrivals_[next_arrival_];
    ServedSequence sequence;
    sequence.request = number;
    sequence.prompt = request.prompt;
    sequence.answer = request.answer;
    sequence.prefix = request.prefix;
    sequence.computed = std::min(request.hits, request.prompt - 1);
    ++outstanding_;
    put_routed(sequence);
  }
  constexpr std::size_t kKept = 1024;
  if (next_arrival_ > kKept && next_arrival_ > arrivals_.size() / 2) {
    arrivals_.erase(arrivals_.begin(), arrivals_.begin() + static_cast<std::ptrdiff_t>(next_arrival_));
    next_arrival_ = 0;
  }
}

void Fleet::check_scale() {
  const ScalingRule& rule = spec_.scaling;
  end_starts();
  if (next_check() != now_) return;
  last_check_ = now_;
  const auto load = static_cast<double>(outstanding_);
  const int coming = live() + static_cast<int>(starting_.size()) + asked_;
  if (load > rule.up * coming && coming < rule.most) {
    start_more();
  } else if (load < rule.down * live() && starting_.empty() && coming > rule.least) {
    if (asked_ > 0)
      --asked_;
    else
      stop_last();
  }
}

/// Replicas that are ready take requests.
void Fleet::end_starts() {
  for (; !starting_.empty() && starting_.begin()->first == now_; starting_.erase(starting_.begin())) {
    set_stage(starting_.begin()->second, Stage::live);
    scaled_.emplace_back(now_, live());
  }
  while (!takers_.empty() && !unrouted_.empty()) {
    const ServedSequence sequence = unrouted_.front();
    unrouted_.pop_front();
    put_routed(sequence);
  }
}

bool Fleet::revive() {
  for (std::size_t r = 0; r < replicas_.size(); ++r) {
    if (stages_[r] != Stage::draining || is_vacant(r)) continue;
    set_stage(r, Stage::live);  // its weights are still there
    scaled_.emplace_back(now_, live());
    return true;
  }
  return false;
}

void Fleet::start_more() {
  if (revive()) return;
  ++asked_;
  if (!spec_.scaling.by_owner) start(now_, now_ + spec_.scaling.cold);
}

void Fleet::stop_last() {
  set_stage(static_cast<std::size_t>(takers_.back()), Stage::draining);
  scaled_.emplace_back(now_, live());
}

bool Fleet::is_vacant(std::size_t replica) const {
  if (stages_[replica] == Stage::gone) return true;
  return !spec_.scaling.by_owner && drained(static_cast<int>(replica));
}

int Fleet::vacant() const {
  std::size_t replica = 0;
  while (replica < replicas_.size() && !is_vacant(replica)) ++replica;
  return static_cast<int>(replica);
}

void Fleet::start(Time now, Time ready) {
  now_ = now;
  const int replica = vacant();
  grow(replica + 1);
  asked_ = std::max(0, asked_ - 1);
  set_stage(static_cast<std::size_t>(replica), Stage::starting);
  starting_.emplace(ready, static_cast<std::size_t>(replica));
  if (ready == now) end_starts();
}

void Fleet::stop(Time now, int replica, Time again) {
  CONTEND_DCHECK(decoders_.empty(), "replicas of prefill and decode stay");
  now_ = now;
  end_steps();
  const auto r = static_cast<std::size_t>(replica);
  const bool took_requests = stages_[r] == Stage::live || stages_[r] == Stage::starting;
  set_stage(r, Stage::gone);
  if (took_requests && !revive()) ++asked_;
  std::erase_if(starting_, [r](const auto& each) { return each.second == r; });
  for (const ServedSequence& sequence : replicas_[r].give_up(now)) again_.emplace(again, sequence);
  loads_[r] = 0;
  send_again();
  end_steps();  // leaps that these requests have cut at this instant
}

void Fleet::restart(Time now) {
  lose(now);
  for (int r = 0; r < spec_.replicas; ++r) set_stage(static_cast<std::size_t>(r), Stage::live);
  for (int r = spec_.replicas; r < static_cast<int>(replicas_.size()); ++r) stop(now, r, now);
  starting_.clear();
  asked_ = 0;
  end_starts();
}

void Fleet::begin_steps() {
  if (held_) return;
  std::sort(touched_.begin(), touched_.end());
  touched_.erase(std::unique(touched_.begin(), touched_.end()), touched_.end());
  for (const int index : touched_) {
    if (at(index).begin(now_)) step_ends_.emplace(at(index).step_end(), index);
  }
  touched_.clear();
}

void Fleet::hold() {
  held_ = true;
  cut_leaps();
}

void Fleet::cut_leaps() {
  for (int i = 0; i < replicas(); ++i) {
    const int index = index_of(i);
    at(index).cut(now_);
    if (at(index).in_step()) step_ends_.emplace(at(index).step_end(), index);
  }
  end_steps();
}

void Fleet::set_clock(std::size_t clock) {
  CONTEND_DCHECK(clock < spec_.replica.clocks.size(), "a fleet has this clock");
  clock_ = clock;
  cut_leaps();
  for (int i = 0; i < replicas(); ++i) at(index_of(i)).set_clock(clock);
}

bool Fleet::stands() const {
  const auto idle = [](const ServingReplica& replica) { return !replica.in_step(); };
  return std::all_of(replicas_.begin(), replicas_.end(), idle) && std::all_of(decoders_.begin(), decoders_.end(), idle);
}

void Fleet::release(bool recompute) {
  held_ = false;
  if (recompute) lose(now_);
}

void Fleet::lose(Time now) {
  for (int i = 0; i < replicas(); ++i) lose(now, i);
}

void Fleet::lose(Time now, int replica) {
  now_ = now;
  end_steps();
  const int index = index_of(replica);
  at(index).drop_caches(now);
  touched_.push_back(index);
  if (index >= kDecoders) return;
  for (auto transfer = transfers_.end(); transfer != transfers_.begin();) {
    --transfer;
    if (transfer->second.from != index) continue;
    at(index).take_back(transfer->second.sequence);
    ++loads_[static_cast<std::size_t>(index)];
    transfer = transfers_.erase(transfer);
  }
  link_free_[static_cast<std::size_t>(index)] = now;
}

Time Fleet::busy(int replica, Time now) const {
  const ServingReplica& its = part(replica);
  const Time ended = Time::nanoseconds(static_cast<std::int64_t>(its.totals().busy_ns));
  return its.in_step() ? ended + (now - its.step_begin()) : ended;
}

Int128 Fleet::drawn(int replica, Time now) const {
  const ServingReplica& its = part(replica);
  const Int128 ended = its.totals().drawn;
  return its.in_step() ? ended + Int128{(now - its.step_begin()).ns()} * its.power() : ended;
}

ServingTotals Fleet::totals() const {
  ServingTotals sum;
  for (const ServingReplica& replica : replicas_) sum += replica.totals();
  for (const ServingReplica& replica : decoders_) sum += replica.totals();
  return sum;
}

}  // namespace contend
