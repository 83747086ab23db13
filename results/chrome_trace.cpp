#include "results/chrome_trace.hpp"

#include "sim/check.hpp"
#include "sim/graph_plan.hpp"
#include "text/atomic_file.hpp"
#include "text/json_writer.hpp"
#include "text/own_files.hpp"

#include <algorithm>
#include <cerrno>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <zlib.h>

namespace contend {
namespace {

constexpr std::size_t kBufferBytes = std::size_t{1} << 20;
/// Thread ids of one interface: its lanes stay together in viewers that sort by id.
constexpr std::size_t kLaneStride = 4096;
/// Rows of a GPU: its compute operations, then jobs with a duration that share it, and from this row on other lanes.
constexpr std::size_t kFirstLaneRow = 1024;

/// A file that zlib compresses or, in mode `T`, writes unchanged.
class Sink {
 public:
  explicit Sink(const std::string& path) : file_{path} {
    errno = 0;
    stream_ = ::gzopen(file_.path().c_str(), path.ends_with(".gz") ? "wb6" : "wbT");
    if (stream_ == nullptr) throw_file_error(path, "can't be written", errno);
  }
  ~Sink() {
    if (stream_ != nullptr) ::gzclose(stream_);
  }
  Sink(const Sink&) = delete;
  Sink& operator=(const Sink&) = delete;

  void write(std::string_view text) {
    errno = 0;
    if (!text.empty() && ::gzwrite(stream_, text.data(), static_cast<unsigned>(text.size())) <= 0)
      throw_file_error(file_.target(), "can't be written", errno);
  }
  void close() {
    errno = 0;
    const int status = ::gzclose(stream_);
    stream_ = nullptr;
    if (status != Z_OK) throw_file_error(file_.target(), "can't be written", errno);
    file_.commit();
  }

 private:
  OwnFile file_;
  gzFile stream_ = nullptr;
};

struct Microseconds {
  std::int64_t ns;
};

}  // namespace
}  // namespace contend

template <>
struct fmt::formatter<contend::Microseconds> {
  constexpr auto parse(format_parse_context& context) { return context.begin(); }
  template <class Context>
  auto format(contend::Microseconds time, Context& context) const {
    return fmt::format_to(context.out(), "{}.{:03}", time.ns / 1000, time.ns % 1000);
  }
};

namespace contend {

class ChromeTrace::Writer {
 public:
  Writer(const std::string& path, const std::vector<std::size_t>& gpus, PassDrawing passes)
      : sink_{path},
        gpus_per_server_{std::ranges::max(gpus)},
        network_pid_{gpus.size() + 1},
        passes_{std::move(passes)},
        lanes_(gpus.size()) {
    buffer_ = "{\"displayTimeUnit\":\"ms\",\"traceEvents\":[";
    for (std::size_t server = 0; server < gpus.size(); ++server) {
      name("process_name", server + 1, 0, fmt::format("server{}", server));
      for (std::size_t gpu = 0; gpu < gpus[server]; ++gpu)
        name("thread_name", server + 1, gpu, fmt::format("GPU {}", server * gpus_per_server_ + gpu));
    }
    name("process_name", network_pid_, 0, "network");
  }

  void begins(JobId job, const Plan& plan) {
    // What an earlier run on other GPUs had left to be sent never will be.
    ended_.erase(job);
    shown_.erase(job);
    if (!plans_.insert(&plan).second) return;
    for (const Plan::PlannedOp& each : plan.ops) {
      if (!each.op.runs_on_lane()) continue;
      for (int lag = 0; lag < 2; ++lag)
        for (const OpId next : each.successors[lag])
          if (const Op& op = plan.ops[next.index()].op; op.is_traffic()) releases_[&each.op].push_back({&op, lag});
    }
  }

  void compute(GpuId gpu, JobId job, const Op& op, std::int64_t iteration, Time start, Time end) {
    note_end(gpu, job, op, iteration, {start, end, gpu.index() % gpus_per_server_});
    const auto draw = [&](std::size_t pid, std::size_t tid, std::string_view category, std::string_view colour) {
      span(pid, tid, job, op, category, start, end);
      if (!colour.empty()) append("\"cname\":\"{}\",", colour);
      append("\"args\":{{\"job\":{},\"iteration\":{}}}}}", job.value(), iteration);
    };
    const std::optional<DrawnPass> pass = passes_ ? passes_(op) : std::nullopt;
    draw(gpu.index() / gpus_per_server_ + 1, gpu.index() % gpus_per_server_, pass ? pass->category : "compute",
         pass ? pass->colour : "");
    if (pass && is_shown(job, op.role, gpu))
      draw(network_pid_ + 1 + job.index(), op.role.index(), pass->category, pass->colour);
    flush_if_full();
  }

  void task(GpuId gpu, JobId job, const Op& op, std::int64_t iteration, Time start, Time end) {
    const std::size_t row = row_of(gpu, job, op.lane);
    note_end(gpu, job, op, iteration, {start, end, row});
    span(gpu.index() / gpus_per_server_ + 1, row, job, op, name_of(op.lane), start, end);
    append("\"args\":{{\"job\":{},\"iteration\":{}}}}}", job.value(), iteration);
    flush_if_full();
  }

  void shared(GpuId gpu, JobId job, std::span<const JobId> beside, const Op& op, std::int64_t attempt, Time start,
              Time end) {
    span(gpu.index() / gpus_per_server_ + 1, lane_of(gpu, start, end), job, op, "compute", start, end);
    append("\"args\":{{\"job\":{},\"iteration\":{},\"beside\":[", job.value(), attempt);
    for (std::size_t i = 0; i < beside.size(); ++i) append("{}{}", i > 0 ? "," : "", beside[i].value());
    buffer_ += "]}}";
    flush_if_full();
  }

  void transfer(const TransferRequest& request, const Op& op, std::int64_t iteration, Time start, Time end) {
    const std::map<ServerId, Task> last = last_tasks(request, op, iteration);
    for (const ServerId server : request.servers) {
      const std::size_t lane = lane_for(server, start, end);
      if (const auto task = last.find(server); task != last.end()) flow(task->second, lane, start);
      span(network_pid_, lane, request.job, op, "transfer", start, end);
      append("\"args\":{{\"job\":{},\"iteration\":{},\"bytes\":{},\"ranks\":{},\"servers\":{}}}}}", request.job.value(),
             iteration, request.all_bytes().count(), request.ranks, request.servers.size());
    }
    flush_if_full();
  }

  void close() {
    buffer_ += "\n]}\n";
    sink_.write(buffer_);
    sink_.close();
  }

 private:
  struct Release {
    const Op* op;  ///< a transfer that waits for the end of a task
    int lag;
  };
  struct Span {
    Time start, end;
    std::size_t row;  ///< of its server
  };
  struct Task {
    GpuId gpu;
    Span span;
  };

  /// A task or compute operation has ended, for which transfers may wait.
  void note_end(GpuId gpu, JobId job, const Op& op, std::int64_t iteration, const Span& span) {
    if (const auto released = releases_.find(&op); released != releases_.end())
      for (const Release& each : released->second)
        ended_[job][{each.op, iteration + each.lag}].insert_or_assign(gpu, span);
  }

  /// The row of a lane of a job's rank. The first time it names the row.
  std::size_t row_of(GpuId gpu, JobId job, Lane lane) {
    std::map<std::pair<JobId, Lane>, std::size_t>& rows = lane_rows_[gpu];
    const std::size_t next = gpu.index() % gpus_per_server_ + (kFirstLaneRow + rows.size()) * gpus_per_server_;
    const auto [row, is_new] = rows.try_emplace({job, lane}, next);
    if (is_new)
      name("thread_name", gpu.index() / gpus_per_server_ + 1, next,
           fmt::format("GPU {} {} of job {}", gpu.index(), name_of(lane), job.value()));
    return row->second;
  }

  /// By server, of the tasks for which this transfer waited the one that ended last; forgets them.
  std::map<ServerId, Task> last_tasks(const TransferRequest& request, const Op& op, std::int64_t iteration) {
    std::map<ServerId, Task> last;
    auto& of_job = ended_[request.job];
    const auto found = of_job.find({&op, iteration});
    if (found == of_job.end()) return last;
    for (const GpuId gpu : request.gpus) {
      const auto task = found->second.find(gpu);
      if (task == found->second.end()) continue;
      const auto [known, is_first] =
          last.try_emplace(ServerId{gpu.index() / gpus_per_server_}, Task{gpu, task->second});
      if (!is_first && known->second.span.end < task->second.end) known->second = {gpu, task->second};
      found->second.erase(task);
    }
    if (found->second.empty()) of_job.erase(found);
    return last;
  }

  /// True for the GPU that stands for a pipeline rank of a job. The first time it names the lane.
  bool is_shown(JobId job, RoleId rank, GpuId gpu) {
    const std::size_t pid = network_pid_ + 1 + job.index();
    if (!pipelines_.contains(job)) name("process_name", pid, 0, fmt::format("job {} pipeline", job.value()));
    const auto [shown, is_first] = shown_[job].try_emplace(rank, gpu);
    if (pipelines_[job].insert(rank).second)
      name("thread_name", pid, rank.index(), fmt::format("pipeline rank {}", rank.value()));
    return is_first || shown->second == gpu;
  }

  void flow(const Task& task, std::size_t lane, Time at) {
    // Viewers bind the beginning to the span around it, which doesn't include its end.
    const Time from = std::max(task.span.start, task.span.end - Time::nanoseconds(1));
    ++flows_;
    next_event();
    append("{{\"ph\":\"s\",\"pid\":{},\"tid\":{},\"ts\":{},\"id\":{},\"cat\":\"release\",\"name\":\"releases\"}}",
           task.gpu.index() / gpus_per_server_ + 1, task.span.row, Microseconds{from.ns()}, flows_);
    next_event();
    append(
        "{{\"ph\":\"f\",\"bp\":\"e\",\"pid\":{},\"tid\":{},\"ts\":{},\"id\":{},\"cat\":\"release\",\"name\":"
        "\"releases\"}}",
        network_pid_, lane, Microseconds{at.ns()}, flows_);
  }

  template <class... Arguments>
  void append(fmt::format_string<Arguments...> format, Arguments&&... arguments) {
    fmt::format_to(std::back_inserter(buffer_), format, std::forward<Arguments>(arguments)...);
  }

  void next_event() {
    buffer_ += first_ ? "\n" : ",\n";
    first_ = false;
  }

  void name(std::string_view what, std::size_t pid, std::size_t tid, std::string_view text) {
    next_event();
    append("{{\"ph\":\"M\",\"name\":\"{}\",\"pid\":{},\"tid\":{},\"args\":{{\"name\":\"{}\"}}}}", what, pid, tid, text);
    next_event();
    const std::string_view sort = what == "process_name" ? "process_sort_index" : "thread_sort_index";
    append("{{\"ph\":\"M\",\"name\":\"{}\",\"pid\":{},\"tid\":{},\"args\":{{\"sort_index\":{}}}}}", sort, pid, tid,
           what == "process_name" ? pid : tid);
    flush_if_full();
  }

  /// The common part of a complete event, up to its arguments.
  void span(std::size_t pid, std::size_t tid, JobId job, const Op& op, std::string_view category, Time start,
            Time end) {
    CONTEND_DCHECK(Time{} <= start && start <= end, "a span ends after its start");
    next_event();
    append("{{\"ph\":\"X\",\"pid\":{},\"tid\":{},\"ts\":{},\"dur\":{},\"cat\":\"{}\",\"name\":", pid, tid,
           Microseconds{start.ns()}, Microseconds{(end - start).ns()}, category);
    // The job comes first: viewers colour by name, and neighbouring jobs should differ in colour.
    append_json_string(buffer_, fmt::format("job {} {}", job.value(), op.name));
    buffer_ += ',';
  }

  /// The lane of the interface that became free last before `start`, or a new lane if none is free. Transfers are
  /// reported in the order of their ends, so this choice opens no more lanes than transfers overlap.
  std::size_t lane_for(ServerId server, Time start, Time end) {
    std::vector<Time>& busy_until = lanes_.at(server.index());
    std::optional<std::size_t> best;
    for (std::size_t lane = 0; lane < busy_until.size(); ++lane)
      if (busy_until[lane] <= start && (!best || busy_until[lane] > busy_until[*best])) best = lane;
    const std::size_t tid_base = server.index() * kLaneStride;
    if (!best) {
      best = busy_until.size();
      CONTEND_CHECK(*best < kLaneStride, "the lanes of an interface have a range of ids of their own");
      busy_until.emplace_back();
      const std::string number = *best == 0 ? "" : fmt::format(" #{}", *best + 1);
      name("thread_name", network_pid_, tid_base + *best, fmt::format("server{}/nic{}", server.value(), number));
    }
    busy_until[*best] = end;
    return tid_base + *best;
  }

  /// The first lane of a GPU that jobs share which is free at `start`.
  std::size_t lane_of(GpuId gpu, Time start, Time end) {
    std::vector<Time>& busy_until = gpu_lanes_[gpu];
    std::size_t lane = 0;
    while (lane < busy_until.size() && busy_until[lane] > start) ++lane;
    const std::size_t in_server = gpu.index() % gpus_per_server_;
    if (lane == busy_until.size()) {
      busy_until.emplace_back();
      if (lane > 0)
        name("thread_name", gpu.index() / gpus_per_server_ + 1, in_server + lane * gpus_per_server_,
             fmt::format("GPU {} #{}", gpu.index(), lane + 1));
    }
    busy_until[lane] = end;
    return in_server + lane * gpus_per_server_;
  }

  void flush_if_full() {
    if (buffer_.size() < kBufferBytes) return;
    sink_.write(buffer_);
    buffer_.clear();
  }

  Sink sink_;
  std::string buffer_;
  std::size_t gpus_per_server_;
  std::size_t network_pid_;
  PassDrawing passes_;
  std::map<JobId, std::map<RoleId, GpuId>> shown_;  ///< the GPU that stands for each pipeline rank
  std::map<JobId, std::set<RoleId>> pipelines_;     ///< the lanes that have names
  std::map<GpuId, std::vector<Time>> gpu_lanes_;    ///< of GPUs that jobs share: when each lane becomes free
  std::map<GpuId, std::map<std::pair<JobId, Lane>, std::size_t>> lane_rows_;
  std::vector<std::vector<Time>> lanes_;  ///< per server: when each lane of its interface becomes free
  bool first_ = true;
  // For flows: the plans seen, the transfers that each task releases, and the tasks that have ended by what they
  // release.
  std::set<const Plan*> plans_;
  std::unordered_map<const Op*, std::vector<Release>> releases_;
  std::map<JobId, std::map<std::pair<const Op*, std::int64_t>, std::map<GpuId, Span>>> ended_;
  std::uint64_t flows_ = 0;
};

ChromeTrace::ChromeTrace(const std::string& path, const std::vector<std::size_t>& gpus, PassDrawing passes)
    : writer_{std::make_unique<Writer>(path, gpus, std::move(passes))} {}
ChromeTrace::~ChromeTrace() = default;

void ChromeTrace::begins(JobId job, const Plan& plan) {
  writer_->begins(job, plan);
}

void ChromeTrace::compute(GpuId gpu, JobId job, const Op& op, std::int64_t iteration, Time start, Time end) {
  writer_->compute(gpu, job, op, iteration, start, end);
}

void ChromeTrace::task(GpuId gpu, JobId job, const Op& op, std::int64_t iteration, Time start, Time end) {
  writer_->task(gpu, job, op, iteration, start, end);
}

void ChromeTrace::shared(GpuId gpu, JobId job, std::span<const JobId> beside, const Op& op, std::int64_t attempt,
                         Time start, Time end) {
  writer_->shared(gpu, job, beside, op, attempt, start, end);
}

void ChromeTrace::transfer(const TransferRequest& request, const Op& op, std::int64_t iteration, Time start, Time end) {
  writer_->transfer(request, op, iteration, start, end);
}

void ChromeTrace::close() {
  writer_->close();
}

}  // namespace contend
