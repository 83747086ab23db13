#pragma once
// A network for tests of the engine: every transfer takes bytes x ns_per_byte, whatever other transfers there are. It
// uses linear searches instead of a calendar, so that only the rule itself can be wrong.

#include "sim/ports.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace contend::test {

class FixedNetwork final : public NetworkModel, public LeapableNetwork {
 public:
  FixedNetwork(std::int64_t ns_per_byte, std::size_t servers, std::size_t jobs)
      : ns_per_byte_{ns_per_byte}, servers_(servers), jobs_(jobs) {}

  [[nodiscard]] LeapableNetwork* leaping() override { return this; }

  [[nodiscard]] std::size_t active_count(ServerId server) const override { return servers_[server.index()].active; }
  void active(ServerId server, std::vector<ActiveTransfer>& transfers) const override {
    for (const std::size_t i : active_) {
      const Transfer& transfer = transfers_[i];
      if (!touches(transfer, server)) continue;
      const Time left = transfer.end - now_;
      transfers.push_back({transfer.job, static_cast<double>(left.ns()) / static_cast<double>(ns_per_byte_)});
    }
  }

  [[nodiscard]] Time solo_time(const TransferRequest& request) const override {
    return Time::nanoseconds(request.all_bytes().count() * ns_per_byte_);
  }
  TransferId start(const TransferRequest& request, Time now) override {
    Transfer transfer{request.job, {request.servers.begin(), request.servers.end()}, now + solo_time(request)};
    jobs_[request.job.index()].begin(request.bytes, now);
    for (const ServerId server : transfer.servers) servers_[server.index()].begin(request.bytes, now);
    active_.push_back(transfers_.size());
    transfers_.push_back(std::move(transfer));
    return TransferId{transfers_.size() - 1};
  }
  [[nodiscard]] Time next_end() const override {
    Time next = Time::never();
    for (const std::size_t i : active_) next = std::min(next, transfers_[i].end);
    return next;
  }
  void set_now(Time now) override { now_ = now; }
  void finish_due(Time now, std::vector<TransferId>& ended) override {
    const std::vector<std::size_t> before = active_;
    for (const std::size_t i : before) {
      if (transfers_[i].end > now) continue;
      ended.emplace_back(i);
      cancel(TransferId{i}, now);
    }
  }
  void cancel(TransferId id, Time now) override {
    Transfer& transfer = transfers_[id.index()];
    std::erase(active_, id.index());
    jobs_[transfer.job.index()].end(now);
    for (const ServerId server : transfer.servers) servers_[server.index()].end(now);
  }

  [[nodiscard]] Usage server_usage(ServerId server, Time now) const override {
    return servers_[server.index()].at(now);
  }
  /// No transfer slows another one down here, so a job is never contended.
  [[nodiscard]] Usage job_usage(JobId job, Time now) const override {
    Usage usage = jobs_[job.index()].at(now);
    usage.contended = Time{};
    return usage;
  }

  void save_state(TransferId id, Time now, std::vector<std::uint64_t>& words) const override {
    words.push_back(static_cast<std::uint64_t>((transfers_[id.index()].end - now).ns()));
  }
  void shift(TransferId id, Time by) override { transfers_[id.index()].end += by; }
  void leap_usage(JobId job, const Usage& period, std::int64_t times, Time by) override {
    jobs_[job.index()].leap(period, times, by);
  }
  void leap_usage(ServerId server, const Usage& period, std::int64_t times, Time by) override {
    servers_[server.index()].leap(period, times, by);
  }

 private:
  struct Transfer {
    JobId job;
    std::vector<ServerId> servers;
    Time end;
  };

  struct Meter {
    Usage usage;
    Time since;
    std::size_t active = 0;

    [[nodiscard]] Usage at(Time now) const {
      Usage result = usage;
      if (active >= 1) result.active += now - since;
      if (active >= 2) result.contended += now - since;
      return result;
    }
    void set(std::size_t count, Time now) {
      usage = at(now);
      since = now;
      active = count;
    }
    void begin(Bytes bytes, Time now) {
      set(active + 1, now);
      ++usage.transfers;
      usage.bytes += bytes;
    }
    void end(Time now) { set(active - 1, now); }
    void leap(const Usage& period, std::int64_t times, Time by) {
      usage.active += period.active * times;
      usage.contended += period.contended * times;
      usage.transfers += period.transfers * times;
      usage.bytes += period.bytes * times;
      since += by;
    }
  };

  static bool touches(const Transfer& transfer, ServerId server) {
    return std::find(transfer.servers.begin(), transfer.servers.end(), server) != transfer.servers.end();
  }

  std::int64_t ns_per_byte_;
  Time now_;
  std::vector<Transfer> transfers_;
  std::vector<std::size_t> active_;  // ascending indices of those that have not ended
  std::vector<Meter> servers_, jobs_;
};

}  // namespace contend::test
