#include "results/chrome_trace.hpp"

#include "sim/check.hpp"
#include "text/atomic_file.hpp"
#include "text/json_writer.hpp"

#include <cerrno>
#include <iterator>
#include <optional>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <zlib.h>

namespace contend {
namespace {

constexpr std::size_t kBufferBytes = std::size_t{1} << 20;
/// Thread ids of one interface: its lanes stay together in viewers that sort by id.
constexpr std::size_t kLaneStride = 4096;

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
  AtomicFile file_;
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
  Writer(const std::string& path, std::size_t servers, std::size_t gpus_per_server)
      : sink_{path}, gpus_per_server_{gpus_per_server}, network_pid_{servers + 1}, lanes_(servers) {
    buffer_ = "{\"displayTimeUnit\":\"ms\",\"traceEvents\":[";
    for (std::size_t server = 0; server < servers; ++server) {
      name("process_name", server + 1, 0, fmt::format("server{}", server));
      for (std::size_t gpu = 0; gpu < gpus_per_server; ++gpu)
        name("thread_name", server + 1, gpu, fmt::format("GPU {}", server * gpus_per_server + gpu));
    }
    name("process_name", network_pid_, 0, "network");
  }

  void compute(GpuId gpu, JobId job, const Op& op, std::int64_t iteration, Time start, Time end) {
    span(gpu.index() / gpus_per_server_ + 1, gpu.index() % gpus_per_server_, job, op, "compute", start, end);
    append("\"args\":{{\"job\":{},\"iteration\":{}}}}}", job.value(), iteration);
    flush_if_full();
  }

  void transfer(const TransferRequest& request, const Op& op, std::int64_t iteration, Time start, Time end) {
    for (const ServerId server : request.servers) {
      span(network_pid_, lane_for(server, start, end), request.job, op, "transfer", start, end);
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

  void flush_if_full() {
    if (buffer_.size() < kBufferBytes) return;
    sink_.write(buffer_);
    buffer_.clear();
  }

  Sink sink_;
  std::string buffer_;
  std::size_t gpus_per_server_;
  std::size_t network_pid_;
  std::vector<std::vector<Time>> lanes_;  ///< per server: when each lane of its interface becomes free
  bool first_ = true;
};

ChromeTrace::ChromeTrace(const std::string& path, std::size_t servers, std::size_t gpus_per_server)
    : writer_{std::make_unique<Writer>(path, servers, gpus_per_server)} {}
ChromeTrace::~ChromeTrace() = default;

void ChromeTrace::compute(GpuId gpu, JobId job, const Op& op, std::int64_t iteration, Time start, Time end) {
  writer_->compute(gpu, job, op, iteration, start, end);
}

void ChromeTrace::transfer(const TransferRequest& request, const Op& op, std::int64_t iteration, Time start, Time end) {
  writer_->transfer(request, op, iteration, start, end);
}

void ChromeTrace::close() {
  writer_->close();
}

}  // namespace contend
