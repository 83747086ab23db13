#include "traces/layers/kineto.hpp"

#include "sim/counted.hpp"
#include "traces/layers/kineto_events.hpp"

#include <algorithm>
#include <functional>
#include <map>
#include <numeric>
#include <optional>
#include <utility>

#include <fmt/core.h>

namespace contend {
namespace {

using Range = KinetoRange;

/// The ranges of one thread that are open at an instant; queries must be in order of time.
class OpenRanges {
 public:
  /// `ranges` in order of begin, the longer one first.
  explicit OpenRanges(const std::vector<Range>& ranges) : ranges_{ranges} {}

  void advance(std::int64_t to) {
    for (; next_ < ranges_.size() && ranges_[next_].begin <= to; ++next_) {
      close(ranges_[next_].begin);
      open_.push_back(&ranges_[next_]);
    }
    close(to);
  }
  /// The open ranges, outermost first.
  [[nodiscard]] const std::vector<const Range*>& open() const { return open_; }

 private:
  /// Closes ranges. They should nest, but clocks are rounded, so one may end just after the one around it.
  void close(std::int64_t now) {
    std::erase_if(open_, [now](const Range* range) { return range->end <= now; });
  }

  const std::vector<Range>& ranges_;
  std::vector<const Range*> open_;
  std::size_t next_ = 0;
};

/// The layer and node that are active at an instant.
struct Context {
  std::optional<std::int64_t> layer;     ///< innermost layer, unless a node lies within it
  std::optional<std::int64_t> sequence;  ///< of the innermost node, unless a layer lies within it
  bool backward = false;
};

Context context_of(const std::vector<const Range*>& open) {
  Context context;
  for (const Range* range : open) {
    if (range->kind == Range::Kind::step) continue;
    if (range->kind == Range::Kind::module || range->kind == Range::Kind::annotation) {
      context.layer = range->id;
      context.sequence.reset();
      continue;
    }
    context.backward = true;
    context.layer.reset();
    if (range->kind == Range::Kind::gradient) context.sequence = range->id;
  }
  return context;
}

struct LayerSum {
  std::int64_t forward = 0;                          ///< ns, over all steps
  std::int64_t backward = 0;                         ///< ns, over all steps
  std::int64_t first = INT64_MAX;                    ///< of its launches in the forward pass
  std::vector<std::vector<std::int64_t>> gradients;  ///< shapes in order of arrival, over all steps
};

class Attribution {
 public:
  Attribution(KinetoEvents events, FileComplaints& complaints) : events_{std::move(events)}, complaints_{complaints} {
    require_recordings();
    keep_one_kind_of_layer();
    sort_by_thread();
    steps_ = count_steps();
    map_sequences();
    sums_.resize(events_.names.size());
    attribute();
    add_kernels();
  }

  KinetoProfile profile(const std::string& file) {
    KinetoProfile result;
    result.steps = steps_;
    result.outside = mean(outside_);
    result.communication = mean(communication_);
    std::vector<std::size_t> order;
    for (std::size_t i = 0; i < sums_.size(); ++i)
      if (sums_[i].forward + sums_[i].backward > 0 || !sums_[i].gradients.empty()) order.push_back(i);
    std::stable_sort(order.begin(), order.end(),
                     [&](std::size_t a, std::size_t b) { return sums_[a].first < sums_[b].first; });
    for (const std::size_t i : order) {
      TimedLayer layer;
      layer.name = events_.names[i];
      layer.forward = mean(sums_[i].forward);
      layer.backward = mean(sums_[i].backward);
      layer.tensors = tensors(i);
      layer.origin = fmt::format("{}, mean of {}", file, counted(steps_, "step"));
      result.model.layers.push_back(std::move(layer));
    }
    if (lost_gradients_ > 0)
      complaints_.add({}, "", fmt::format("{} gradients belong to no layer", lost_gradients_),
                      "mark every layer that has parameters");
    complaints_.throw_if_any();
    return result;
  }

 private:
  /// The owner of the kernels of a launch.
  struct Owner {
    std::int64_t correlation = 0;
    std::int64_t layer = -1;  ///< index of a name; -1 outside all layers
    bool backward = false;
    bool within_steps = true;
    std::int64_t at = 0;
  };

  [[nodiscard]] bool has(Range::Kind kind) const {
    return std::any_of(events_.ranges.begin(), events_.ranges.end(), [kind](const Range& r) { return r.kind == kind; });
  }

  void require_recordings() {
    if (!has(Range::Kind::module) && !has(Range::Kind::annotation))
      complaints_.add({}, "", "the profile names no layers",
                      "record with with_stack=True, or mark layers with record_function(\"layer:NAME\")");
    if (events_.kernels.empty())
      complaints_.add({}, "", "the profile has no GPU work", "record with activities=[CPU, CUDA]");
    else if (events_.launches.empty())
      complaints_.add({}, "", "the profile has kernels, but not the calls that launched them",
                      "record with activities=[CPU, CUDA]");
    if (!has(Range::Kind::gradient))
      complaints_.add({}, "", "the profile has no backward pass with sequence numbers",
                      "record a whole training step, not inference");
    if (events_.several_forward_threads)
      complaints_.add({}, "", "the forward pass ran in several threads",
                      "record one process with one GPU, without reentrant checkpointing");
    complaints_.throw_if_any();
  }

  void keep_one_kind_of_layer() {
    if (has(Range::Kind::annotation))
      std::erase_if(events_.ranges, [](const Range& range) { return range.kind == Range::Kind::module; });
  }

  void sort_by_thread() {
    for (const Range& range : events_.ranges) ranges_[range.thread].push_back(range);
    for (auto& [thread, ranges] : ranges_)
      std::stable_sort(ranges.begin(), ranges.end(), [](const Range& a, const Range& b) {
        return a.begin != b.begin ? a.begin < b.begin : a.end > b.end;
      });
    const auto by_thread_and_time = [](const auto& a, const auto& b) {
      return a.thread != b.thread ? a.thread < b.thread : a.at < b.at;
    };
    std::stable_sort(events_.forward_operators.begin(), events_.forward_operators.end(), by_thread_and_time);
    std::stable_sort(events_.launches.begin(), events_.launches.end(), by_thread_and_time);
    std::stable_sort(events_.gradients.begin(), events_.gradients.end(), by_thread_and_time);
  }

  /// The number of recorded steps; without step marks, the greatest common divisor of the call counts of all layers.
  std::int64_t count_steps() {
    std::map<std::int64_t, std::int64_t> calls;
    for (const Range& range : events_.ranges) {
      if (range.kind == Range::Kind::step) step_ranges_.emplace_back(range.begin, range.end);
      if (range.kind == Range::Kind::module || range.kind == Range::Kind::annotation) ++calls[range.id];
    }
    std::sort(step_ranges_.begin(), step_ranges_.end());
    if (!step_ranges_.empty()) return static_cast<std::int64_t>(step_ranges_.size());
    std::int64_t common = 0;
    for (const auto& [id, count] : calls) common = std::gcd(common, count);
    return common;
  }

  [[nodiscard]] bool within_steps(std::int64_t at) const {
    if (step_ranges_.empty()) return true;
    const auto after = std::upper_bound(step_ranges_.begin(), step_ranges_.end(), std::pair{at, INT64_MAX});
    return after != step_ranges_.begin() && at < std::prev(after)->second;
  }

  /// Calls `visit(mark, open ranges)` for marks in order of thread and time.
  template <class Mark, class Visit>
  void sweep(const std::vector<Mark>& marks, Visit visit) {
    static const std::vector<Range> none;
    for (std::size_t i = 0; i < marks.size();) {
      const std::size_t thread = marks[i].thread;
      const auto found = ranges_.find(thread);
      OpenRanges open{found == ranges_.end() ? none : found->second};
      for (; i < marks.size() && marks[i].thread == thread; ++i) {
        open.advance(marks[i].at);
        visit(marks[i], open.open());
      }
    }
  }

  /// Maps sequence numbers to layers by the forward operators of the threads that run layers. Of operators with equal
  /// numbers, the one that starts last made the node or is nearest to the one that did.
  void map_sequences() {
    std::map<std::size_t, bool> runs_layers;
    sweep(events_.forward_operators, [&](const KinetoMark& op, const std::vector<const Range*>& open) {
      const Context context = context_of(open);
      if (context.layer && !context.backward) runs_layers[op.thread] = true;
    });
    sweep(events_.forward_operators, [&](const KinetoMark& op, const std::vector<const Range*>& open) {
      const Context context = context_of(open);
      if (runs_layers.contains(op.thread) && !context.backward) layer_of_[op.id] = context.layer.value_or(-1);
    });
  }

  [[nodiscard]] std::int64_t layer_of(std::int64_t sequence) const {
    const auto found = layer_of_.find(sequence);
    return found == layer_of_.end() ? -1 : found->second;
  }

  /// The layer whose node ran last on a thread, kept up to date while marks are visited in order of time.
  class LastNode {
   public:
    std::int64_t at(const Attribution& all, std::size_t thread, std::int64_t time) {
      if (!started_ || thread != thread_) {
        thread_ = thread;
        started_ = true;
        next_ = 0;
        layer_ = -1;
      }
      const auto found = all.ranges_.find(thread);
      if (found == all.ranges_.end()) return -1;
      for (; next_ < found->second.size() && found->second[next_].begin <= time; ++next_)
        if (found->second[next_].kind == Range::Kind::gradient) layer_ = all.layer_of(found->second[next_].id);
      return layer_;
    }

   private:
    bool started_ = false;
    std::size_t thread_ = 0;
    std::size_t next_ = 0;
    std::int64_t layer_ = -1;
  };

  void attribute() {
    LastNode last;
    sweep(events_.launches, [&](const KinetoMark& launch, const std::vector<const Range*>& open) {
      const std::int64_t before = last.at(*this, launch.thread, launch.at);
      const Context context = context_of(open);
      Owner owner{.correlation = launch.id, .backward = context.backward, .at = launch.at};
      owner.within_steps = within_steps(launch.at);
      if (context.layer)
        owner.layer = *context.layer;
      else if (context.backward)
        owner.layer = context.sequence ? layer_of(*context.sequence) : before;
      owners_.push_back(owner);
    });
    std::stable_sort(owners_.begin(), owners_.end(),
                     [](const Owner& a, const Owner& b) { return a.correlation < b.correlation; });
    LastNode last_of_gradient;
    sweep(events_.gradients, [&](const KinetoGradient& gradient, const std::vector<const Range*>&) {
      const std::int64_t layer = last_of_gradient.at(*this, gradient.thread, gradient.at);
      if (!within_steps(gradient.at)) return;
      if (layer < 0)
        ++lost_gradients_;
      else
        sums_[static_cast<std::size_t>(layer)].gradients.push_back(gradient.shape);
    });
  }

  void add_kernels() {
    for (const KinetoKernel& kernel : events_.kernels) {
      const auto owner = std::lower_bound(owners_.begin(), owners_.end(), kernel.correlation,
                                          [](const Owner& o, std::int64_t c) { return o.correlation < c; });
      const bool found = owner != owners_.end() && owner->correlation == kernel.correlation;
      if (found && !owner->within_steps) continue;
      if (kernel.communication) {
        communication_ += kernel.duration;
      } else if (!found || owner->layer < 0) {
        outside_ += kernel.duration;
      } else {
        LayerSum& sum = sums_[static_cast<std::size_t>(owner->layer)];
        (owner->backward ? sum.backward : sum.forward) += kernel.duration;
        if (!owner->backward) sum.first = std::min(sum.first, owner->at);
      }
    }
  }

  [[nodiscard]] Time mean(std::int64_t sum) const { return Time::nanoseconds((sum + steps_ / 2) / steps_); }

  /// The gradients of one step in order of declaration, which is the reverse of their arrival.
  std::vector<ParameterTensor> tensors(std::size_t layer) {
    const std::vector<std::vector<std::int64_t>>& shapes = sums_[layer].gradients;
    const std::size_t each = shapes.size() / static_cast<std::size_t>(steps_);
    if (each * static_cast<std::size_t>(steps_) != shapes.size())
      complaints_.add({}, events_.names[layer], fmt::format("{} gradients in {} steps", shapes.size(), steps_),
                      "record whole steps, with prof.step() after each");
    std::vector<ParameterTensor> tensors;
    for (std::size_t i = each; i-- > 0;) {
      ParameterTensor tensor;
      tensor.name = fmt::format("parameter{}", tensors.size());
      tensor.shape = shapes[i];
      tensor.elements =
          std::accumulate(shapes[i].begin(), shapes[i].end(), std::int64_t{1}, std::multiplies<std::int64_t>{});
      tensors.push_back(std::move(tensor));
    }
    return tensors;
  }

  KinetoEvents events_;
  FileComplaints& complaints_;
  std::map<std::size_t, std::vector<Range>> ranges_;  ///< by thread
  std::vector<std::pair<std::int64_t, std::int64_t>> step_ranges_;
  std::int64_t steps_ = 0;
  std::map<std::int64_t, std::int64_t> layer_of_;  ///< by sequence number
  std::vector<Owner> owners_;                      ///< by correlation number
  std::vector<LayerSum> sums_;                     ///< by name
  std::int64_t outside_ = 0;
  std::int64_t communication_ = 0;
  std::int64_t lost_gradients_ = 0;
};

}  // namespace

KinetoProfile parse_kineto(ByteSource& source, const std::string& file, const LayerReadOptions& options) {
  FileComplaints complaints{file};
  KinetoEvents events = read_kineto_events(source, file);
  const bool shaped = !events.gradients.empty();
  if (shaped && events.unshaped_gradients > 0)
    complaints.add({}, "", fmt::format("{} gradients have no shape, others have", events.unshaped_gradients));
  check_options(options, {.batch = true, .sizes = !shaped}, "kineto", complaints);
  const std::string device = events.device;
  KinetoProfile profile = Attribution{std::move(events), complaints}.profile(file);
  profile.model.name = stem_of(file);
  profile.model.device = device.empty() ? stem_of(file) : device;
  profile.model.batch = options.batch.value_or(1);
  if (options.sizes != nullptr) take_sizes(profile.model, *options.sizes, complaints);
  if (!shaped && options.sizes == nullptr)
    complaints.fail({}, "", "the profile has no shapes of gradients", "record with record_shapes=True");
  validate_read(profile.model, file);
  return profile;
}

}  // namespace contend
