#include "models/overlap/iteration_account.hpp"

#include "sim/check.hpp"

#include <algorithm>
#include <map>
#include <utility>

namespace contend {
namespace {

/// What a GPU may wait for, in the order in which it counts.
struct Pending {
  bool is_timer = false;
  Time start, end;
  OpId op;
};

bool counts_before(const Pending& a, const Pending& b) {
  if (a.is_timer != b.is_timer) return b.is_timer;
  return a.start != b.start ? a.start < b.start : a.op < b.op;
}

class Account {
 public:
  Account(const IterationGraph& graph, std::span<const Span> spans, Time from, Time to) : graph_{graph}, from_{from} {
    for (const Span& each : spans) {
      if (each.end <= from || each.start >= to || each.start == each.end) continue;
      const Op& op = graph.ops()[each.op.index()];
      const OpKind kind = op.kind;
      if (kind == OpKind::compute && op.role == RoleId{0U})
        tasks_.push_back(each);
      else if (kind != OpKind::compute)
        pending_.push_back({kind == OpKind::timer, each.start, each.end, each.op});
    }
    std::ranges::stable_sort(tasks_, {}, &Span::start);
    std::ranges::stable_sort(pending_, {}, &Pending::start);
  }

  void run(Time to, const KindOfTask& kind_of) {
    Time now = from_;
    for (const Span& task : tasks_) {
      CONTEND_CHECK(task.start >= now && task.end <= to, "a GPU does one task after the other");
      wait(now, task.start);
      const Op& op = graph_.ops()[task.op.index()];
      const Time taken = task.end - task.start, planned = std::min(op.duration, taken);
      add(kind_of(op), OpId::none(), planned);
      add(IterationPart::interference, OpId::none(), taken - planned);
      now = task.end;
    }
    wait(now, to);
  }

  [[nodiscard]] std::vector<AccountRow> rows(std::int64_t iterations) const {
    std::vector<AccountRow> all;
    for (const auto& [key, time] : times_) {
      const auto& [part, op] = key;
      all.push_back({part, op.valid() ? graph_.ops()[op.index()].name : std::string{},
                     time.to_seconds() / static_cast<double>(iterations)});
    }
    return all;
  }

 private:
  void add(IterationPart part, OpId op, Time time) {
    if (time > Time{}) times_[{part, op}] += time;
  }

  /// The GPU is idle from `now` to `until`.
  void wait(Time now, Time until) {
    while (now < until) {
      while (first_ < pending_.size() && pending_[first_].end <= now) ++first_;
      const Pending* counts = nullptr;
      Time next = until;
      for (std::size_t i = first_; i < pending_.size() && pending_[i].start < until; ++i) {
        const Pending& each = pending_[i];
        if (each.end <= now) continue;
        if (each.start > now) {
          next = std::min(next, each.start);
          break;
        }
        if (counts == nullptr || counts_before(each, *counts)) counts = &each;
      }
      if (counts == nullptr) {
        add(IterationPart::held, OpId::none(), next - now);
      } else {
        next = std::min(next, counts->end);
        add(counts->is_timer ? IterationPart::timer : IterationPart::exposed, counts->op, next - now);
      }
      now = next;
    }
  }

  const IterationGraph& graph_;
  Time from_;
  std::vector<Span> tasks_;
  std::vector<Pending> pending_;
  std::size_t first_ = 0;  ///< all before it have ended
  std::map<std::pair<IterationPart, OpId>, Time> times_;
};

}  // namespace

std::string_view to_string(IterationPart part) {
  switch (part) {
    case IterationPart::compute:
      return "computing";
    case IterationPart::input:
      return "input";
    case IterationPart::kernels:
      return "kernels of messages";
    case IterationPart::interference:
      return "interference";
    case IterationPart::exposed:
      return "exposed communication";
    case IterationPart::timer:
      return "timer";
    case IterationPart::held:
      return "held back";
  }
  return "?";
}

std::vector<AccountRow> account_of(const IterationGraph& graph, std::span<const Span> spans, Time from, Time to,
                                   std::int64_t iterations, const KindOfTask& kind_of) {
  Account account{graph, spans, from, to};
  account.run(to, kind_of);
  return account.rows(iterations);
}

}  // namespace contend
