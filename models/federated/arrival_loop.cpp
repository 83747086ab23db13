#include "models/federated/arrival_loop.hpp"

#include "sim/error.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

namespace contend {

ArrivalLoop::ArrivalLoop(FederatedSpec spec) : FederatedLoop{std::move(spec)}, work_(this->spec().clients.size()) {}

Time ArrivalLoop::next() const {
  if (is_over()) return Time::never();
  const Time event = events_.empty() ? Time::never() : std::get<Time>(events_.top());
  return working_ < spec().asked ? std::min(event, roster().comes()) : event;
}

void ArrivalLoop::resume(Time now) {
  if (origin_ == Time::never()) {
    origin_ = now;
    open_round().begin = now;
  }
  fill(now);
}

void ArrivalLoop::lose(Time now) {
  stop(now);
  stop_server(now);
}

void ArrivalLoop::advance(Time now) {
  while (!is_over() && !events_.empty() && std::get<Time>(events_.top()) == now) {
    const auto [at, kind, id] = events_.top();
    events_.pop();
    if (kind == Kind::server) {
      if (id == kDone) {
        finish(now);
        serve_all(now);
      } else {
        if (id == kWindow) window_ = Time::never();
        timer(id, now);
      }
      continue;
    }
    const auto client = static_cast<ClientNumber>(id);
    if (work_[client].visit.arrives()) {
      in_vain_ = 0;
      arrived(client, now);
      continue;
    }
    if (++in_vain_ == kMostInVain)
      throw InputError{{{.key = "clients",
                         .reason = fmt::format("{} clients in a row have left before their work was done", in_vain_),
                         .hint = "longer stays, fewer steps, or a smaller model"}}};
    settle(work_[client].visit, now, false);
    end(client);
    left(client, now);
    fill(now);
  }
  if (!is_over()) fill(now);
}

void ArrivalLoop::fill(Time now) {
  if (is_over() || working_ >= spec().asked) return;
  asked_.clear();
  roster().ask(spec().asked - working_, now, asked_);
  std::ranges::sort(asked_);  // FedCompass gives steps to one after the other
  for (const ClientNumber client : asked_) begin(client, now);
}

void ArrivalLoop::begin(ClientNumber client, Time now) {
  Work& work = work_[client];
  work.steps = steps_for(client, now);
  work.visit = visit(client, work.steps, now);
  work.version = versions();
  work.is_on = true;
  ++working_;
  ++open_round().asked;
  events_.emplace(work.visit.end(), Kind::client, client);
}

void ArrivalLoop::end(ClientNumber client) {
  work_[client].is_on = false;
  --working_;
  roster().release(client);
}

void ArrivalLoop::again(ClientNumber client, Time now) {
  if (is_over() || !roster().is_there(client, now)) return end(client);
  work_[client].is_on = false;
  --working_;
  begin(client, now);
}

void ArrivalLoop::arrived(ClientNumber client, Time now) {
  waiting_.push_back(client);
  if (spec().rule == ClosingRule::buffer) return serve_all(now);
  if (!serves_) wait_for_window();  // others may come at its last instant
}

Time ArrivalLoop::window_end() const {
  const std::int64_t window = spec().window.ns();
  const std::int64_t since = (work_[waiting_.front()].visit.arrival() - origin_).ns();
  return origin_ + Time::nanoseconds((since + window - 1) / window * window);
}

void ArrivalLoop::wait_for_window() {
  if (window_ == Time::never()) set_timer(window_ = window_end(), kWindow);
}

ArrivalLoop::Batch ArrivalLoop::take(Time now) {
  if (waiting_.empty()) return {};
  if (spec().rule == ClosingRule::buffer) {
    const ClientNumber client = waiting_.front();
    waiting_.pop_front();
    return {{client}, buffer_.size() + 1 >= spec().buffer};
  }
  const Time end = window_end();
  if (end > now) {
    wait_for_window();
    return {};
  }
  Batch batch;
  for (; !waiting_.empty() && work_[waiting_.front()].visit.arrival() <= end; waiting_.pop_front())
    batch.clients.push_back(waiting_.front());
  return batch;
}

void ArrivalLoop::serve_all(Time now) {
  while (!serves_ && !is_over()) {
    batch_ = take(now);
    if (batch_.clients.empty()) return;
    std::int64_t stale = 0;
    std::vector<ClientNumber> dropped;
    const auto is_dropped = [&](ClientNumber client) {
      const std::int64_t age = versions() - work_[client].version;
      stale += age > 0 ? 1 : 0;
      if (!spec().stalest || age <= *spec().stalest) return false;
      --stale;
      dropped.push_back(client);
      return true;
    };
    std::erase_if(batch_.clients, is_dropped);
    for (const ClientNumber client : dropped) settle(work_[client].visit, work_[client].visit.arrival(), false);
    if (!dropped.empty()) free_batch(dropped, now);
    if (batch_.clients.empty()) continue;
    const std::int64_t updates = std::ssize(buffer_) + std::ssize(batch_.clients);
    const Time length = spec().stale * stale + (batch_.makes_version ? version_time(updates, spec().up, now) : Time{});
    if (length == Time{}) {
      finish(now);
      continue;
    }
    serves_ = true;
    events_.emplace(serve(now, length), Kind::server, kDone);
  }
}

void ArrivalLoop::keep(ClientNumber client) {
  buffer_.push_back({work_[client].visit, versions() - work_[client].version});
}

void ArrivalLoop::finish(Time now) {
  serves_ = false;
  const std::vector<ClientNumber> clients = std::exchange(batch_.clients, {});
  for (const ClientNumber client : clients) keep(client);
  if (batch_.makes_version) {
    for (const Update& update : std::exchange(buffer_, {})) {
      settle(update.visit, update.visit.arrival(), true);
      count_age(update.age);
    }
    const bool is_last = std::ssize(rounds()) + 1 == spec().rounds;
    if (is_last) {
      for (const ClientNumber client : clients) end(client);
      stop(now);
    }
    close_round(now, true);
    if (is_last) return;
  }
  free_batch(clients, now);
}

void ArrivalLoop::free_batch(const std::vector<ClientNumber>& clients, Time now) {
  for (const ClientNumber client : clients) end(client);
  fill(now);
}

void ArrivalLoop::stop(Time now) {
  for (const Update& update : std::exchange(buffer_, {})) settle(update.visit, update.visit.arrival(), false);
  for (std::size_t c = 0; c < work_.size(); ++c) {
    if (!work_[c].is_on) continue;
    settle(work_[c].visit, std::min(now, work_[c].visit.end()), false);
    end(static_cast<ClientNumber>(c));
  }
  events_ = {};
  waiting_.clear();
  batch_ = {};
  serves_ = false;
  window_ = Time::never();
  forget();
}

}  // namespace contend
