#include "models/federated/round_loop.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace contend {

RoundLoop::RoundLoop(FederatedSpec spec)
    : FederatedLoop{std::move(spec)},
      anchors_{this->spec().seed, this->spec().stream + "/anchors"},
      whole_{this->spec().seed, this->spec().stream + "/whole"},
      busy_(this->spec().devices.size()) {}

std::int64_t RoundLoop::steps_of(ClientNumber client) {
  const AnchorRule& rule = spec().anchors;
  const bool is_anchor = rule.share > 0 && anchors_.uniform() < rule.share;
  return is_anchor ? rule.steps : spec().clients[client].steps;
}

Time RoundLoop::next() const {
  if (is_over()) return Time::never();
  if (parts_.empty()) return roster().comes();
  return until_ == Time::never() ? close_ : until_;
}

void RoundLoop::resume(Time now) {
  begin_round(now);
}

void RoundLoop::begin_round(Time now) {
  asked_.clear();
  parts_.clear();
  roster().ask(spec().asked, now, asked_);
  open_round().begin = now;
  open_round().asked += std::ssize(asked_);
  if (asked_.empty()) return;
  if (spec().devices.empty())
    for (const ClientNumber client : asked_)
      parts_.push_back({.visit = visit(client, steps_of(client), now), .number = client});
  else
    pack(now);
  if (spec().whole > 0 && whole_.uniform() < spec().whole)
    send_whole();
  else if (spec().by_link)
    set_ratios();
  find_close(now);
}

void RoundLoop::pack(Time now) {
  std::ranges::sort(asked_);
  std::vector<std::int64_t> steps;
  for (const ClientNumber client : asked_) steps.push_back(spec().clients[client].steps);
  const PackedClients packing = pack_clients(steps, spec().devices);
  std::vector<std::int64_t> clients(busy_.size());
  for (const std::size_t device : packing.device_of) ++clients[device];
  for (std::size_t d = 0; d < busy_.size(); ++d) {
    if (clients[d] == 0) continue;
    parts_.push_back({.visit = {.begin = now,
                                .down = transfer_time(spec().down, spec().device_rate),
                                .compute = packing.busy[d],
                                .up = transfer_time(spec().up, spec().device_rate),
                                .down_bytes = spec().down,
                                .up_bytes = spec().up},
                      .number = static_cast<std::uint32_t>(d),
                      .clients = clients[d]});
  }
}

void RoundLoop::set_ratios() {
  if (spec().up == Bytes{}) return;
  const auto rate_of = [&](const Part& part) { return spec().clients[part.number].up.bytes_per_second(); };
  double least = rate_of(parts_.front());
  for (const Part& part : parts_) least = std::min(least, rate_of(part));
  for (Part& part : parts_) {
    const double ratio = std::min(1.0, *spec().by_link * rate_of(part) / least);
    constexpr double kValuesAndIndices = 2;
    part.visit.up_bytes = Bytes{std::llround(kValuesAndIndices * ratio * spec().up.to_double())};
    part.visit.up = transfer_time(part.visit.up_bytes, spec().clients[part.number].up);
  }
}

void RoundLoop::send_whole() {
  for (Part& part : parts_) {
    const Client& client = spec().clients[part.number];
    part.visit.down_bytes = part.visit.up_bytes = spec().whole_bytes;
    part.visit.down = transfer_time(spec().whole_bytes, client.down);
    part.visit.up = transfer_time(spec().whole_bytes, client.up);
  }
}

void RoundLoop::find_close(Time now) {
  Time all;
  arrivals_.clear();
  for (const Part& part : parts_) {
    all = std::max(all, part.visit.end());
    if (spec().first > 0 && part.visit.arrives()) arrivals_.emplace_back(part.visit.arrival(), part.number);
  }
  close_ = all;
  last_.reset();
  until_ = Time::never();
  if (spec().first > 0 && arrivals_.size() >= spec().first) {
    const auto last = arrivals_.begin() + static_cast<std::ptrdiff_t>(spec().first - 1);
    std::ranges::nth_element(arrivals_, last);
    last_ = *last;
    close_ = last->first;
  }
  if (spec().deadline) close_ = std::min(close_, now + *spec().deadline);
}

bool RoundLoop::is_in(const Part& part) const {
  if (!part.visit.arrives() || part.visit.arrival() > close_) return false;
  return !last_ || std::pair{part.visit.arrival(), part.number} <= *last_;
}

void RoundLoop::advance(Time now) {
  if (parts_.empty()) return begin_round(now);
  if (until_ == Time::never()) {
    std::int64_t updates = 0, payloads = 0;
    Bytes sent{};
    for (const Part& part : parts_) {
      if (!is_in(part)) continue;
      sent = std::max(sent, part.visit.up_bytes);
      updates += part.clients;
      ++payloads;
    }
    has_version_ = updates >= static_cast<std::int64_t>(spec().least);
    until_ = has_version_ ? serve(now, version_time(payloads, sent, now)) : now;
    if (until_ > now) return;
  }
  end_work(close_, has_version_);
  close_round(now, has_version_);
  parts_.clear();
  if (!is_over()) begin_round(now);
}

Time RoundLoop::computed(const Part& part, Time now) const {
  const Time since = std::min(now, close_) - part.visit.begin - part.visit.down;
  return std::clamp(since, Time{}, part.visit.compute);
}

void RoundLoop::end_work(Time now, bool is_version) {
  for (const Part& part : parts_) {
    const bool is_update = is_version && is_in(part);
    settle(part.visit, std::min(part.visit.end(), now), is_update, part.clients);
    if (!busy_.empty()) busy_[part.number] += computed(part, now);
  }
  for (const ClientNumber client : asked_) roster().release(client);
}

void RoundLoop::lose(Time now) {
  end_work(std::min(now, close_), false);
  parts_.clear();
  stop_server(now);
}

Time RoundLoop::busy(std::size_t device, Time now) const {
  Time busy = FederatedLoop::busy(device, now);
  if (device < busy_.size()) busy += busy_[device];
  if (busy_.empty()) return busy;
  for (const Part& part : parts_)
    if (part.number == device) busy += computed(part, now);
  return busy;
}

}  // namespace contend
