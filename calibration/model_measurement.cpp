#include "calibration/model_measurement.hpp"

#include "calibration/device_watch.hpp"
#include "calibration/layer_operators.hpp"
#include "calibration/open_device.hpp"
#include "sim/check.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <tuple>
#include <utility>

#include <fmt/format.h>

namespace contend {

namespace {

/// The time limit of an operation in seconds: its share of the rest of the budget times kModelShares, within these
/// bounds.
constexpr double kModelShares = 2, kModelLeastLimit = 0.02, kModelMostLimit = 5;

using Key = std::tuple<const OperatorInfo*, DataType, OperatorShape>;

/// Work without an operator is measured as a copy of as many bytes, as CalibratedDevice predicts it.
OperatorCall copy_call(const LayerWork& work) {
  const std::int64_t copied = std::max<std::int64_t>(1, std::llround(work.bytes / work.kernels / 2));
  return {"copy", DataType::fp32, {copied}, work.kernels};
}

std::vector<OperatorCall> calls_of(const PassOperators& pass) {
  std::vector<OperatorCall> calls = pass.calls;
  for (const LayerWork& work : pass.rest) calls.push_back(copy_call(work));
  return calls;
}

Key key_of(const OperatorCall& call) {
  return {find_operator(call.name), call.type, call.shape};
}

class ModelMeasurer {
 public:
  ModelMeasurer(const contend_backend& backend, const LayerTable& table, const ModelMeasurementRequest& request,
                const ModelMeasurementHooks& hooks)
      : backend_{backend},
        table_{table},
        request_{request},
        hooks_{hooks},
        begin_{hooks.clock()},
        device_{backend, request.device},
        watch_{backend} {
    for (const Layer& layer : table.layers) operators_.push_back(layer_operators(layer, request.batch, request.type));
  }

  ModelMeasurement run() {
    for (const LayerOperators& layer : operators_) {
      for (const PassOperators* pass : {&layer.forward, &layer.backward})
        for (const OperatorCall& call : calls_of(*pass)) samples_.emplace(key_of(call), std::nullopt);
    }
    find_lacking();
    if (!request_.partial && !lacking_.empty()) return refused();
    measure_all();
    assemble();
    return std::move(result_);
  }

 private:
  /// Tries the least work of each operator and number format, which takes little time. The device may still refuse a
  /// single shape, or lack memory for it; that shows when it is measured.
  void find_lacking() {
    std::map<std::pair<const OperatorInfo*, DataType>, const OperatorShape*> smallest;
    const auto work = [](const OperatorInfo* info, DataType type, const OperatorShape& shape) {
      const OperatorWork least = info->work(shape, type);
      return least.bytes + least.flops;
    };
    for (const auto& [key, sample] : samples_) {
      const auto& [info, type, shape] = key;
      const OperatorShape*& least = smallest.try_emplace({info, type}, &shape).first->second;
      if (work(info, type, shape) < work(info, type, *least)) least = &shape;
    }
    for (const auto& [op, shape] : smallest) {
      std::string reason = unsupported_reason(backend_, *op.first, op.second, *shape);
      if (!reason.empty()) lacking_.emplace(op, std::move(reason));
    }
  }

  ModelMeasurement refused() {
    for (const auto& [op, reason] : lacking_)
      result_.reasons.push_back(fmt::format("{} {}: {}", op.first->name, to_string(op.second), reason));
    for (std::size_t i = 0; i < table_.layers.size(); ++i) {
      const auto lacks = [&](const PassOperators& pass) {
        return std::ranges::any_of(calls_of(pass), [&](const OperatorCall& call) {
          return lacking_.contains({find_operator(call.name), call.type});
        });
      };
      if (lacks(operators_[i].forward) || lacks(operators_[i].backward))
        result_.missing.push_back(table_.layers[i].name);
    }
    result_.refused = true;
    return std::move(result_);
  }

  void measure_all() {
    watch_.look("the start");
    std::size_t done = 0;
    for (auto& [key, sample] : samples_) {
      const auto& [info, type, shape] = key;
      if (hooks_.cancelled && hooks_.cancelled()) {
        result_.cancelled = true;
        break;
      }
      const double left = request_.budget_seconds - (hooks_.clock() - begin_);
      if (hooks_.progress)
        hooks_.progress({.op = info->name,
                         .type = type,
                         .done = done,
                         .total = samples_.size(),
                         .seconds_left = std::max(0.0, left)});
      const std::string what = fmt::format("{} {} [{}]", info->name, to_string(type), fmt::join(shape, ", "));
      if (const auto lacking = lacking_.find({info, type}); lacking != lacking_.end()) {
        result_.reasons.push_back(fmt::format("{}: {}", what, lacking->second));
      } else if (!measure_one(key, sample, what, kModelShares * left / static_cast<double>(samples_.size() - done))) {
        break;
      }
      ++done;
    }
    watch_.look("the end");
    result_.warnings = watch_.warnings();
    if (drifted_ > 0)
      result_.warnings.push_back(fmt::format("{} operations still moved when their time was over", drifted_));
  }

  /// Returns false if the device is lost.
  bool measure_one(const Key& key, std::optional<OperatorSample>& sample, const std::string& what, double limit) {
    const auto& [info, type, shape] = key;
    if (limit < kModelLeastLimit) {
      result_.reasons.push_back(fmt::format("{}: no time left of {:g} s", what, request_.budget_seconds));
      return true;
    }
    RepetitionRules rules;
    rules.limit_seconds = std::min(limit, kModelMostLimit);
    const MeasuredOperation found = measure(backend_, *info, type, shape, rules, hooks_.clock);
    sample = found.sample;
    if (found.drifted) ++drifted_;
    if (found.sample) return true;
    result_.reasons.push_back(fmt::format("{}: {}", what, found.reason));
    if (found.status != CONTEND_BROKEN && found.status != CONTEND_NO_DEVICE) return true;
    result_.reasons.push_back("the device is lost: " + found.reason);
    return false;
  }

  struct Sum {
    double seconds = 0, error_seconds = 0;
    bool whole = true;
  };
  [[nodiscard]] Sum time_of(const PassOperators& pass) const {
    Sum sum;
    for (const OperatorCall& call : calls_of(pass)) {
      const std::optional<OperatorSample>& sample = samples_.at(key_of(call));
      sum.whole = sum.whole && sample;
      if (!sample) continue;
      const double seconds = sample->seconds * static_cast<double>(call.count);
      sum.seconds += seconds;
      sum.error_seconds += seconds * sample->half_width;
    }
    return sum;
  }

  void assemble() {
    TimedModel& model = result_.model;
    model.name = table_.name;
    model.device = device_.info().name;
    model.batch = request_.batch;
    model.gradient_element_bytes = activation_bytes(request_.type);
    for (std::size_t i = 0; i < table_.layers.size(); ++i) {
      const Layer& layer = table_.layers[i];
      const Sum forward = time_of(operators_[i].forward), backward = time_of(operators_[i].backward);
      if (!forward.whole || !backward.whole) {
        result_.missing.push_back(layer.name);
        continue;
      }
      TimedLayer timed;
      timed.name = layer.name;
      timed.tensors = layer.parameters;
      timed.forward = Time::ceil_nanoseconds(forward.seconds * 1e9);
      timed.backward = Time::ceil_nanoseconds(backward.seconds * 1e9);
      const double seconds = forward.seconds + backward.seconds;
      const double error = seconds > 0 ? (forward.error_seconds + backward.error_seconds) / seconds : 0;
      timed.basis = TimeBasis{PredictionBasis::measured, error};
      timed.origin =
          fmt::format("measured in {} within {:.1f}%, {}", to_string(request_.type), 100 * error, request_.note);
      model.layers.push_back(std::move(timed));
    }
  }

  const contend_backend& backend_;
  const LayerTable& table_;
  const ModelMeasurementRequest& request_;
  const ModelMeasurementHooks& hooks_;
  double begin_;
  OpenDevice device_;
  DeviceWatch watch_;
  std::vector<LayerOperators> operators_;  ///< of each layer
  std::map<Key, std::optional<OperatorSample>> samples_;
  int drifted_ = 0;
  std::map<std::pair<const OperatorInfo*, DataType>, std::string> lacking_;  ///< what the back end lacks, and why
  ModelMeasurement result_;
};

}  // namespace

ModelMeasurement measure_model(const contend_backend& backend, const LayerTable& table,
                               const ModelMeasurementRequest& request, const ModelMeasurementHooks& hooks) {
  CONTEND_CHECK(request.batch >= 1 && request.budget_seconds > 0 && hooks.clock, "a batch, time and a clock");
  validate(table);
  return ModelMeasurer{backend, table, request, hooks}.run();
}

}  // namespace contend
