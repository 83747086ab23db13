#include "sim/courier.hpp"

#include <algorithm>
#include <functional>
#include <utility>

namespace contend {

namespace {
constexpr int kLinesOfWaiting = 2;  ///< that asking needs of a waiting message
}

Courier::Courier(EngineState& state)
    : state_{state},
      per_iteration_{state.policies.communication->decides_per_iteration()},
      refused_by_(state.servers()),
      forecast_{dynamic_cast<TransferForecast*>(state.network.get())} {}

Time Courier::solo_time(const Traffic& traffic) const {
  return state_.network->solo_time(request_of(traffic));
}

const Op& Courier::op_of(const Traffic& traffic) const {
  return state_.run(traffic.job).plan->ops[traffic.op.index()].op;
}

TransferRequest Courier::request_of(const Traffic& traffic) const {
  const JobRun& run = state_.run(traffic.job);
  const Plan::PlannedOp& planned = run.plan->ops[traffic.op.index()];
  const auto gpus_of = [&](RoleId role) {
    return std::span<const GpuId>{run.gpus}.subspan(static_cast<std::size_t>(run.plan->first_rank[role.index()]),
                                                    static_cast<std::size_t>(planned.ranks));
  };
  const Op& op = planned.op;
  return {.job = traffic.job,
          .kind = op.kind,
          .collective = op.collective,
          .scope = op.scope,
          .groups = op.scope == CollectiveScope::groups ? op.groups : RankGroups{},
          .bytes = op.bytes,
          .times = op.times,
          .ranks = planned.per_rank ? 2 : planned.ranks,
          .later = {},
          .servers = traffic.servers(),
          .interfaces = traffic.interfaces(),
          .same_ranks = traffic.among != nullptr ? traffic.among->number : 0,
          .gpus = planned.per_rank ? std::span<const GpuId>{traffic.ends} : gpus_of(op.role),
          .peers = op.joint ? gpus_of(op.peer) : std::span<const GpuId>{}};
}

void Courier::enter(JobId job, std::span<const Traffic> traffic, std::span<const double> times) {
  std::vector<TransferRequest> requests;
  requests.reserve(traffic.size());
  for (const Traffic& each : traffic) requests.push_back(request_of(each));
  const JobRun& run = state_.run(job);
  const std::int64_t left = std::max<std::int64_t>(1, run.iterations - run.completed);
  const GpuTime work = GpuTime::nanoseconds(run.plan->compute_left(run.completed, run.iterations).ns() / left);
  state_.network->enter({job, work, requests, times, run.width}, state_.clock);
}

void Courier::hold(const Traffic& traffic) {
  JobRun& run = state_.run(traffic.job);
  std::size_t index = waiting_.size();
  if (free_waiting_.empty()) {
    waiting_.emplace_back();
  } else {
    index = free_waiting_.back();
    free_waiting_.pop_back();
  }
  const Op& op = op_of(traffic);
  const OpId id = traffic.op;
  const JobId job = traffic.job;
  const Slot slot = traffic.slot;
  waiting_[index].traffic = traffic;
  fetch_lines<1>(&run.live->transfers);  // for start()
  if (!op.channel.valid()) {
    became_ready_.push_back(index);
    let_ask(index);
    return;
  }
  auto& ready = run.live->channels[op.channel.index()].ready;
  ready.push_back({run.iteration_of(slot), op.priority, id, slot, index});
  std::push_heap(ready.begin(), ready.end(), std::greater<>{});
  moved_.emplace_back(job, op.channel);
}

void Courier::let_ask(std::size_t index) {
  waiting_[index].asking = true;
  JobRun& run = state_.run(waiting_[index].traffic.job);
  if (run.live->waiting++ == 0) run.live->waiting_since = state_.clock;
}

void Courier::advance(JobId job, ChannelId id) {
  JobRun& run = state_.run(job);
  if (!run.live || !run.live->begun) return;  // it has ended or left its GPUs since
  ChannelQueue& queue = run.live->channels[id.index()];
  const Channel& channel = run.plan->channels[id.index()];
  const auto has_room = [&] {
    return queue.bytes < channel.window || queue.committed.size() + static_cast<std::size_t>(queue.in_network) <
                                               static_cast<std::size_t>(channel.messages);
  };
  while (!queue.ready.empty() && has_room()) {
    std::pop_heap(queue.ready.begin(), queue.ready.end(), std::greater<>{});
    queue.committed.push_back(queue.ready.back());
    queue.ready.pop_back();
    queue.bytes += run.plan->ops[queue.committed.back().op.index()].op.all_bytes();
  }
  if (queue.committed.empty() || queue.in_network >= channel.messages) return;
  const std::size_t first = queue.committed.front().message;
  if (waiting_[first].asking) return;
  let_ask(first);
  to_ask_.push_back(first);
}

void Courier::stop_watching(std::size_t index) {
  ServerId& server = waiting_[index].refused_by;
  if (server.valid()) std::erase(refused_by_[server.index()], index);
  server = ServerId::none();
}

void Courier::forget_waiting(std::size_t index) {
  JobRun& run = state_.run(waiting_[index].traffic.job);
  if (waiting_[index].asking && --run.live->waiting == 0)
    run.totals.communication_wait += state_.clock - run.live->waiting_since;
  stop_watching(index);
  std::erase(became_ready_, index);
  waiting_[index] = Waiting{};
  free_waiting_.push_back(index);
}

TransferRequest Courier::entering(const Traffic& traffic) const {
  TransferRequest request = request_of(traffic);
  if (op_of(traffic).sends()) request.later = state_.run(traffic.job).live->unsent[traffic.slot] - request.all_bytes();
  return request;
}

bool Courier::holds_admission(const Traffic& traffic) const {
  return per_iteration_ && state_.run(traffic.job).live->admitted[traffic.slot];
}

/// Asks about the messages that were refused before another one of their iteration was admitted.
void Courier::admit_rest(JobId job, Slot slot) {
  for (const ServerId server : state_.run(job).live->servers) {
    const std::vector<std::size_t> refused = refused_by_[server.index()];
    for (const std::size_t index : refused) {
      const bool is_willing = std::ranges::any_of(willing_, [&](const Asked& each) { return each.index == index; });
      if (waiting_[index].traffic.job == job && waiting_[index].traffic.slot == slot && !is_willing) ask(index);
    }
  }
}

/// True if every server accepts the message; otherwise remembers the first server that refuses it.
bool Courier::may_start(std::size_t index) {
  Waiting& waiting = waiting_[index];
  if (holds_admission(waiting.traffic)) return true;
  const TransferRequest request = entering(waiting.traffic);
  for (const ServerId server : waiting.traffic.interfaces()) {
    const bool accepts = state_.policies.ask_communication(
        [&](CommunicationPolicy& policy) { return policy.may_start(request, server, *state_.network); });
    if (accepts) continue;
    if (waiting.refused_by != server) {
      stop_watching(index);
      waiting.refused_by = server;
      refused_by_[server.index()].push_back(index);
    }
    return false;
  }
  return true;
}

void Courier::ask(std::size_t index) {
  if (!may_start(index)) return;
  const Traffic& traffic = waiting_[index].traffic;
  const JobRun& run = state_.run(traffic.job);
  const PolicyKey key = state_.policies.ask_communication(
      [&](CommunicationPolicy& policy) { return policy.key(state_.view_for_key(traffic.job)); });
  willing_.push_back({key, run.start, traffic.job, run.place_of(traffic.slot), op_of(traffic).priority, traffic.op,
                      traffic.rank, index});
  std::push_heap(willing_.begin(), willing_.end(), std::greater<>{});
}

void Courier::admit() {
  if (became_ready_.empty() && relieved_.empty() && moved_.empty()) return;
  state_.network->set_now(state_.clock);
  to_ask_.swap(became_ready_);
  became_ready_.clear();
  // The entries of one transfer are in order already.
  if (!std::is_sorted(relieved_.begin(), relieved_.end())) std::sort(relieved_.begin(), relieved_.end());
  relieved_.erase(std::unique(relieved_.begin(), relieved_.end()), relieved_.end());
  for (const ServerId server : relieved_) {
    const auto& refused = refused_by_[server.index()];
    to_ask_.insert(to_ask_.end(), refused.begin(), refused.end());
  }
  relieved_.clear();
  std::sort(moved_.begin(), moved_.end());
  moved_.erase(std::unique(moved_.begin(), moved_.end()), moved_.end());
  for (const auto& [job, channel] : moved_) advance(job, channel);
  moved_.clear();
  for (const std::size_t index : to_ask_) {
    fetch_lines<JobRun::kLines>(&state_.run(waiting_[index].traffic.job));
    fetch_lines<1>(waiting_[index].traffic.interfaces().data());
  }
  for (const std::size_t index : to_ask_) fetch_lines<1>(&state_.run(waiting_[index].traffic.job).live->transfers);
  for (const std::size_t index : to_ask_) ask(index);
  to_ask_.clear();
  for (bool first = true; !willing_.empty(); first = false) {
    std::pop_heap(willing_.begin(), willing_.end(), std::greater<>{});
    const Asked asked = willing_.back();
    willing_.pop_back();
    // Messages that started before it may have changed the answer.
    if (!first && !may_start(asked.index)) continue;
    const Traffic& traffic = waiting_[asked.index].traffic;
    const ChannelId channel = op_of(traffic).channel;
    const Slot slot = traffic.slot;
    const bool is_first = per_iteration_ && !holds_admission(traffic) && !traffic.servers().empty();
    start(asked.index);
    if (is_first) admit_rest(asked.job, slot);
    if (!channel.valid()) continue;
    advance(asked.job, channel);
    for (const std::size_t next : to_ask_) ask(next);
    to_ask_.clear();
  }
}

void Courier::start(std::size_t index) {
  Traffic traffic = waiting_[index].traffic;
  forget_waiting(index);
  traffic.since = state_.clock;
  const TransferId id = state_.network->start(entering(traffic), state_.clock);
  if (!state_.server_slowness.empty()) state_.network->slow_down(id, state_.slowness_of(traffic), state_.clock);
  JobRun& run = state_.run(traffic.job);
  if (const Op& op = op_of(traffic); op.sends()) run.live->unsent[traffic.slot] -= op.all_bytes();
  if (!traffic.servers().empty()) run.live->admitted[traffic.slot] = true;
  if (const ChannelId channel = op_of(traffic).channel; channel.valid()) {
    run.live->channels[channel.index()].committed.pop_front();
    ++run.live->channels[channel.index()].in_network;
  }
  run.live->transfers.push_back(id);
  for (const CellId cell : run.live->cells) state_.mark_pace(cell);
  run.server_transfers += static_cast<std::int64_t>(traffic.servers().size());
  if (id.index() >= state_.in_network.size()) state_.in_network.resize(id.index() + 1);
  state_.in_network[id.index()] = traffic;
}

void Courier::end_due(std::vector<Traffic>& ended) {
  ended_ids_.clear();
  state_.network->finish_due(state_.clock, ended_ids_);
  for (const TransferId id : ended_ids_) {
    const Traffic& traffic = *state_.in_network[id.index()];
    state_.fetch_cells_of(traffic.job);  // for those who ask for the ended transfers
    for (const ServerId server : traffic.interfaces()) fetch_lines<1>(&refused_by_[server.index()]);
  }
  for (const TransferId id : ended_ids_) {
    const Traffic traffic = *std::exchange(state_.in_network[id.index()], std::nullopt);
    JobRun& run = state_.run(traffic.job);
    run.live->transfers.erase(std::find(run.live->transfers.begin(), run.live->transfers.end(), id));
    for (const CellId cell : run.live->cells) state_.mark_pace(cell);
    relieved_.insert(relieved_.end(), traffic.interfaces().begin(), traffic.interfaces().end());
    if (const Op& op = op_of(traffic); op.channel.valid()) {
      ChannelQueue& queue = run.live->channels[op.channel.index()];
      --queue.in_network;
      queue.bytes -= op.all_bytes();
      moved_.emplace_back(traffic.job, op.channel);
    }
    ++state_.events;
    state_.fingerprint.add(static_cast<std::uint64_t>(state_.clock.ns()));
    state_.fingerprint.add((std::uint64_t{UINT32_MAX} << 32) ^ (std::uint64_t{traffic.job.value()} << 8) ^
                           traffic.op.value());
    if (state_.options.observer != nullptr) {
      state_.options.observer->transfer(request_of(traffic), run.plan->ops[traffic.op.index()].op,
                                        run.iteration_of(traffic.slot), traffic.since, state_.clock);
    }
    ended.push_back(traffic);
  }
}

// Each step reads what the step before has fetched.
void Courier::foresee() {
  constexpr std::size_t kCellsInStep = 2;
  const TransferId next = forecast_ == nullptr ? TransferId::none() : forecast_->foresee();
  if (!next.valid()) return;
  if (std::exchange(foreseen_, next) != next) foreseen_steps_ = 0;
  const std::size_t step = foreseen_steps_++;
  if (step == 0) return fetch_lines<1>(&state_.in_network[next.index()]);
  const Traffic& traffic = *state_.in_network[next.index()];
  const JobRun& run = state_.run(traffic.job);
  if (step == 1) return fetch_lines<JobRun::kLines>(&run);
  const JobExecution& live = *run.live;
  if (step == 2) {
    fetch_lines<JobExecution::kLines>(&live);
    fetch_lines<1>(&live.transfers);
    fetch_lines<JobExecution::kLinesOfEnd>(&live.iterated);
    for (const ServerId server : traffic.interfaces()) fetch_lines<1>(&refused_by_[server.index()]);
    return;
  }
  if (step == 3) {
    fetch_lines<1>(live.cells.data());
    for (const ServerId server : traffic.interfaces()) fetch_lines<1>(refused_by_[server.index()].data());
    return;
  }
  for (std::size_t i = (step - 4) * kCellsInStep; i < (step - 3) * kCellsInStep && i < live.cells.size(); ++i)
    fetch_lines<Cell::kLinesOfTask>(&state_.at(live.cells[i]));
  if (step == 4) return;
  for (std::size_t i = (step - 5) * kCellsInStep; i < (step - 4) * kCellsInStep && i < live.cells.size(); ++i)
    state_.fetch_occupant(live.cells[i]);
}

void Courier::fetch_refused() const {
  for (const ServerId server : relieved_) {
    for (const std::size_t index : refused_by_[server.index()]) fetch_lines<kLinesOfWaiting>(&waiting_[index]);
  }
}

void Courier::abandon(JobId job) {
  JobRun& run = state_.run(job);
  state_.stop_timers(run);
  for (const TransferId id : run.live->transfers) {
    auto& traffic = state_.in_network[id.index()];
    relieved_.insert(relieved_.end(), traffic->interfaces().begin(), traffic->interfaces().end());
    state_.network->cancel(id, state_.clock);
    traffic.reset();
  }
  run.live->transfers.clear();
  for (const CellId cell : run.live->cells) state_.mark_pace(cell);
  for (std::size_t i = 0; i < waiting_.size(); ++i) {
    if (waiting_[i].traffic.job == job) forget_waiting(i);
  }
  run.live->channels.assign(run.live->channels.size(), {});
  std::erase_if(moved_, [job](const auto& moved) { return moved.first == job; });  // its next graph may have others
}

}  // namespace contend
