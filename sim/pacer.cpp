#include "sim/pacer.hpp"

#include <algorithm>
#include <utility>

namespace contend {

bool Pacer::takes_part(const Occupant& occupant, const Traffic& traffic) const {
  if (occupant.job != traffic.job) return false;
  const Plan& plan = *state_.jobs[traffic.job.index()].plan;
  const Op& op = plan.ops[traffic.op.index()].op;
  if (traffic.rank < 0) {
    const std::size_t role = occupant.role.index(), first = op.role.index();
    const bool is_joined = role >= first && role < first + static_cast<std::size_t>(op.roles);
    return is_joined || (op.joint && occupant.role == op.peer);
  }
  const int peer = traffic.rank - plan.first_rank[op.role.index()] + plan.first_rank[op.peer.index()];
  return occupant.rank == traffic.rank || occupant.rank == peer;
}

bool Pacer::communicates(const Cell& cell) const {
  return std::any_of(cell.occupants.begin(), cell.occupants.end(), [&](const Occupant& occupant) {
    const auto& transfers = state_.jobs[occupant.job.index()].live->transfers;
    return std::any_of(transfers.begin(), transfers.end(),
                       [&](TransferId id) { return takes_part(occupant, *state_.in_network[id.index()]); });
  });
}

bool Pacer::computes_beside(const Traffic& traffic) const {
  const auto& cells = state_.jobs[traffic.job.index()].live->cells;
  return std::any_of(cells.begin(), cells.end(), [&](CellId id) {
    const Cell& cell = state_.cells[id.index()];
    return cell.busy && std::any_of(cell.occupants.begin(), cell.occupants.end(),
                                    [&](const Occupant& occupant) { return takes_part(occupant, traffic); });
  });
}

void Pacer::settle() {
  affected_.clear();
  for (const CellId id : state_.unpaced) {
    Cell& cell = state_.at(id);
    if (!std::exchange(cell.is_unpaced, false)) continue;
    affected_.insert(affected_.end(), cell.who.begin(), cell.who.end());
    if (!cell.busy) continue;
    const bool slowed = communicates(cell);
    if (slowed == cell.pace.is_slowed()) continue;
    cell.pace.set_slowed(slowed, state_.clock);
    cell.end = cell.pace.end();
    state_.calendar.reschedule(cell.event, cell.end);
  }
  state_.unpaced.clear();
  std::sort(affected_.begin(), affected_.end());
  affected_.erase(std::unique(affected_.begin(), affected_.end()), affected_.end());
  const double slowdown = state_.options.interference.network_slowdown();
  for (const JobId job : affected_) {
    for (const TransferId id : state_.run(job).live->transfers) {
      const double factor = computes_beside(*state_.in_network[id.index()]) ? slowdown : 1.0;
      state_.network->slow_down(id, factor, state_.clock);
    }
  }
}

}  // namespace contend
