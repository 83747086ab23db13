#include "report/span_recorder.hpp"

#include "report/span_bins.hpp"
#include "sim/check.hpp"

#include <algorithm>
#include <tuple>

#include <fmt/format.h>

namespace contend {
namespace {

constexpr std::size_t kBusyBins = 1024;
constexpr Time kFirstWidth = Time::milliseconds(1);

/// Distributes the overlapping spans of one interface, or of one GPU that jobs share, over as few lanes as necessary:
/// each goes to the first free lane.
std::vector<TimelineLane> untangle(TimelineLane lane) {
  std::ranges::sort(lane.spans, {}, [](const TimelineSpan& s) { return std::tuple{s.start, s.end, s.kind, s.number}; });
  std::vector<TimelineLane> lanes;
  for (const TimelineSpan& span : lane.spans) {
    auto free = std::ranges::find_if(lanes, [&](const auto& each) { return each.spans.back().end <= span.start; });
    if (free == lanes.end()) {
      TimelineLane next = {.name = lane.name, .group = lane.group, .server = lane.server, .bin = {}, .spans = {}};
      if (!lanes.empty()) next.name += fmt::format(" #{}", lanes.size() + 1);
      free = lanes.insert(lanes.end(), std::move(next));
    }
    free->spans.push_back(span);
  }
  lane.spans.clear();
  if (lanes.empty()) lanes.push_back(std::move(lane));
  return lanes;
}

}  // namespace

/// The spans by lane: one lane for each GPU, then for each interface, then for transfers inside a server.
class SpanRecorder::Store {
 public:
  Store(std::size_t lanes, const SpanLimits& limits) : exact_(lanes), limits_{limits} {}

  void add(std::size_t lane, const TimelineSpan& span, JobId job, bool transfer) {
    if (span.end < limits_.from || span.start > limits_.to) return;
    ++recorded_;
    last_ = std::max(last_, span.end);
    if (!bins_) {
      exact_[lane].push_back(span);
      if (recorded_ > limits_.exact) summarise();
    } else {
      bins_->add(lane, {.job = job, .transfer = transfer}, span.start, span.end);
    }
  }
  /// The kinds of the spans, which identify their jobs.
  const std::vector<SpanKind>* kinds = nullptr;

  [[nodiscard]] std::uint64_t recorded() const { return recorded_; }
  [[nodiscard]] SpanBins* bins() { return bins_ ? &*bins_ : nullptr; }
  [[nodiscard]] std::vector<TimelineSpan>& exact(std::size_t lane) { return exact_[lane]; }

 private:
  void summarise() {
    bins_.emplace(exact_.size(), limits_.summaries, last_);
    for (std::size_t lane = 0; lane < exact_.size(); ++lane) {
      for (const TimelineSpan& span : exact_[lane]) {
        const SpanKind& kind = (*kinds)[span.kind];
        bins_->add(lane, {.job = kind.job, .transfer = kind.transfer}, span.start, span.end);
      }
      exact_[lane] = {};
    }
  }

  std::vector<std::vector<TimelineSpan>> exact_;
  std::optional<SpanBins> bins_;
  SpanLimits limits_;
  std::uint64_t recorded_ = 0;
  Time last_;
};

SpanRecorder::SpanRecorder(std::vector<std::size_t> gpus, const SpanLimits& limits)
    : gpus_of_server_{std::move(gpus)},
      servers_{gpus_of_server_.size()},
      gpus_per_server_{std::ranges::max(gpus_of_server_)},
      limits_{limits},
      gpu_busy_{servers_, kBusyBins, kFirstWidth},
      nic_busy_{servers_, kBusyBins, kFirstWidth},
      nic_covered_(servers_),
      store_{std::make_unique<Store>(servers_ * (gpus_per_server_ + 2), limits)} {
  store_->kinds = &kinds_;
}
SpanRecorder::~SpanRecorder() = default;

std::uint32_t SpanRecorder::kind_of(JobId job, const Op& op, const TransferRequest* request) {
  if (job.index() >= kinds_of_job_.size()) kinds_of_job_.resize(job.index() + 1);
  const SpanKind kind = {.job = job,
                         .op = op.name,
                         .transfer = request != nullptr,
                         .bytes = request != nullptr ? request->all_bytes() : Bytes{},
                         .ranks = request != nullptr ? request->ranks : 0,
                         .servers = request != nullptr ? static_cast<int>(request->servers.size()) : 0};
  for (const std::uint32_t known : kinds_of_job_[job.index()]) {
    const SpanKind& other = kinds_[known];
    if (other.servers == kind.servers && other.bytes == kind.bytes && other.op == kind.op) return known;
  }
  kinds_of_job_[job.index()].push_back(static_cast<std::uint32_t>(kinds_.size()));
  kinds_.push_back(kind);
  return kinds_of_job_[job.index()].back();
}

void SpanRecorder::compute(GpuId gpu, JobId job, const Op& op, std::int64_t iteration, Time start, Time end) {
  end_ = std::max(end_, end);
  gpu_busy_.add(gpu.index() / gpus_per_server_, start, end);
  store_->add(gpu.index(), {.start = start, .end = end, .kind = kind_of(job, op, nullptr), .number = iteration}, job,
              false);
}

void SpanRecorder::transfer(const TransferRequest& request, const Op& op, std::int64_t iteration, Time start,
                            Time end) {
  end_ = std::max(end_, end);
  const TimelineSpan span = {
      .start = start, .end = end, .kind = kind_of(request.job, op, &request), .number = iteration};
  const std::size_t gpus = servers_ * gpus_per_server_;
  for (const ServerId server : request.servers) {
    fresh_.clear();
    nic_covered_[server.index()].add(start, end, fresh_);
    for (const auto& part : fresh_) nic_busy_.add(server.index(), part.start, part.end);
    store_->add(gpus + server.index(), span, request.job, true);
  }
  if (request.servers.empty() && !request.gpus.empty())
    store_->add(gpus + servers_ + request.gpus.front().index() / gpus_per_server_, span, request.job, true);
}

void SpanRecorder::shared(GpuId gpu, JobId job, std::span<const JobId>, const Op& op, std::int64_t attempt, Time start,
                          Time end) {
  fresh_.clear();
  gpu_covered_[gpu].add(start, end, fresh_);
  for (const auto& part : fresh_) gpu_busy_.add(gpu.index() / gpus_per_server_, part.start, part.end);
  store_->add(gpu.index(), {.start = start, .end = end, .kind = kind_of(job, op, nullptr), .number = attempt}, job,
              false);
}

Timeline SpanRecorder::take() {
  Timeline timeline;
  timeline.recorded = store_->recorded();
  timeline.kinds = std::move(kinds_);
  SpanBins* const bins = store_->bins();
  if (bins != nullptr) {
    timeline.kinds.clear();
    bins->finish();
  }
  const std::size_t gpus = servers_ * gpus_per_server_;
  const auto append = [&](std::size_t index, TimelineLane lane) {
    if (bins != nullptr) {
      lane.bin = bins->width();
      lane.spans = bins->take(index, timeline.kinds);
    } else {
      lane.spans = std::move(store_->exact(index));
    }
    const bool optional = lane.group == TimelineLane::Group::inside;
    if (optional && lane.spans.empty()) return;
    const bool is_shared = index < gpus && gpu_covered_.contains(GpuId{index});
    if (bins != nullptr || (lane.group == TimelineLane::Group::gpu && !is_shared)) {
      timeline.lanes.push_back(std::move(lane));
    } else {
      for (TimelineLane& each : untangle(std::move(lane))) timeline.lanes.push_back(std::move(each));
    }
  };
  for (std::size_t server = 0; server < servers_; ++server) {
    const std::size_t first = server * gpus_per_server_;
    for (std::size_t i = first; i < first + gpus_of_server_[server]; ++i)
      append(i, {.name = fmt::format("GPU {}", i),
                 .group = TimelineLane::Group::gpu,
                 .server = server,
                 .bin = {},
                 .spans = {}});
    append(gpus + server, {.name = fmt::format("server{}/nic", server),
                           .group = TimelineLane::Group::nic,
                           .server = server,
                           .bin = {},
                           .spans = {}});
    append(gpus + servers_ + server, {.name = fmt::format("server{}/inside", server),
                                      .group = TimelineLane::Group::inside,
                                      .server = server,
                                      .bin = {},
                                      .spans = {}});
  }
  return timeline;
}

}  // namespace contend
