#include "scenarios/training/setup_check.hpp"

#include "calibration/calibrated_device.hpp"
#include "calibration/missing_operators.hpp"
#include "models/catalogue/catalogue.hpp"
#include "models/training_profile.hpp"
#include "scenarios/training/trained_model.hpp"
#include "scenarios/yaml/device_sheet.hpp"
#include "sim/check.hpp"
#include "text/words.hpp"
#include "traces/layers/layer_table_csv.hpp"

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

namespace contend {
namespace {

class SetupChecker {
 public:
  SetupChecker(const TrainingSetup& setup, std::string_view prefix, bool compresses)
      : setup_{setup}, prefix_{prefix}, times_kernels_{compresses || !setup.framework.none()} {}

  std::vector<Complaint> complaints() {
    check_model();
    return std::move(complaints_);
  }

 private:
  void check_model() {
    if (const TrainingProfile* const published = published_profile(setup_); published != nullptr)
      return check_published(*published);
    const TrainingSetup usual;
    if (setup_.model && names_layer_table(*setup_.model)) check_table();
    check_sequence();
    check_attention();
    if (setup_.device.calibrated) check_calibration();
    if (setup_.layers && !completes_table(setup_)) {
      if (setup_.type != usual.type) complain("dtype", "has no effect: the file has the times");
      if (setup_.sequence && !setup_.model) complain("sequence", "has no effect without a model");
      if (setup_.attention && !setup_.model) complain("attention", "has no effect without a model");
    } else if (!setup_.layers && !setup_.select.empty()) {
      complain("select", "has no effect without a file", "give layers");
    }
    if (!setup_.layers && !setup_.device.calibrated) {
      check_type();
      check_kernels();
    }
  }

  void check_published(const TrainingProfile& profile) {
    const TrainingSetup usual;
    const std::string measured = fmt::format("has no effect: {} was measured as a whole", *setup_.model);
    const std::string other = "name a network of the catalogue (`contend list networks`)";
    if (setup_.layers) complain("layers", measured, other);
    if (!setup_.layers && !setup_.select.empty()) complain("select", measured, other);
    if (setup_.type != usual.type) complain("dtype", measured, other);
    if (setup_.efficiency) complain("efficiency", measured, other);
    if (setup_.sequence) complain("sequence", measured, other);
    if (setup_.attention) complain("attention", measured, other);
    if (setup_.batch && *setup_.batch != profile.batch)
      complain("batch", fmt::format("{} was measured with {} samples", *setup_.model, profile.batch), other);
  }

  void check_table() {
    const std::string has = fmt::format("can't change layers that {} has as they were captured", *setup_.model);
    if (setup_.sequence) complain("sequence", has);
    if (setup_.attention) complain("attention", has);
  }

  void check_sequence() {
    const CatalogueEntry* model = setup_.model ? find_model(*setup_.model) : nullptr;
    if (!setup_.sequence || model == nullptr) return;
    std::string refusal = sequence_refusal(*model, *setup_.sequence);
    if (!refusal.empty()) complain("sequence", std::move(refusal));
  }

  void check_attention() {
    const CatalogueEntry* model = setup_.model ? find_model(*setup_.model) : nullptr;
    if (!setup_.attention || model == nullptr) return;
    const std::vector<Layer> layers = build_model(*model).layers;
    const auto has = [&](LayerOperation operation) {
      return std::any_of(layers.begin(), layers.end(),
                         [&](const Layer& layer) { return layer.geometry && layer.geometry->operation == operation; });
    };
    const bool steps = has(LayerOperation::attention_scores), fused = has(LayerOperation::fused_attention);
    if (!steps && !fused)
      complain("attention", fmt::format("has no effect: {} has no attention", model->name));
    else if (!*setup_.flash_attention() && !steps)
      complain("attention", fmt::format("the catalogue has {} with attention in one kernel only", model->name),
               "leave it out, or take flash");
  }

  /// Figures that the sheet of the device must have, because the setup names them.
  void check_kernels() {
    const Device& device = sheet_of(setup_.device);
    if (setup_.efficiency && setup_.efficiency->sheet && device.product_share(setup_.type) == nullptr)
      complain("efficiency",
               fmt::format("the sheet of {} doesn't say what kernels in {} reach", device.name, to_string(setup_.type)),
               "flat, a number, or a sheet with `kernels`");
    const AttentionKernel kernel = setup_.attention.value_or(AttentionKernel::flash);
    if (kernel < AttentionKernel::flash_1 || device.kernels.of(kernel) != nullptr) return;
    std::vector<std::string> known{"flash", "plain"};
    for (std::size_t i = 0; i < kFlashKernels.size(); ++i)
      if (device.kernels.attention[i].share > 0) known.emplace_back(kFlashKernels[i]);
    complain("attention", fmt::format("the sheet of {} doesn't have this kernel", device.name), join(known, " or "));
  }

  void check_type() {
    const Device& device = sheet_of(setup_.device);
    if (device.supports(setup_.type)) return;
    std::vector<std::string> types;
    for (const DataType type : {DataType::fp32, DataType::tf32, DataType::fp16, DataType::bf16})
      if (device.supports(type)) types.emplace_back(to_string(type));
    complain("dtype", fmt::format("{} has no {}", device.name, to_string(setup_.type)), "it has " + join(types));
  }

  void check_calibration() {
    const CalibratedDevice& device = *setup_.device.calibrated;
    // With layers from a file, the profile only has to time compression kernels.
    const bool layers = setup_.model && (!setup_.layers || completes_table(setup_));
    const DataType type = layers ? setup_.type : DataType::fp32;
    if (layers && !device.faults(type).empty()) return complain_of_missing(device);
    for (const CalibratedDevice::Fault& fault : device.faults(type)) {
      if (fault.about != CalibratedDevice::Fault::memory || !times_kernels_) continue;
      complain("device", fault.text, measuring(device, std::vector{OperatorGroup::memory}));
    }
  }

  /// Reports everything that a profile lacks for the layers, with one command that measures it.
  void complain_of_missing(const CalibratedDevice& device) {
    std::vector<MissingOperator> missing;
    try {
      missing = missing_operators(device.profile(), *network_of(setup_), setup_.batch.value_or(1), setup_.type);
    } catch (const InputError& error) {
      complaints_.insert(complaints_.end(), error.complaints().begin(), error.complaints().end());
      return;
    }
    // Another type helps only if the profile has matrix products in one.
    std::string reason;
    bool other_types = false;
    for (const CalibratedDevice::Fault& fault : device.faults(setup_.type)) {
      reason += fault.text + "; ";
      if (fault.about != CalibratedDevice::Fault::type) continue;
      const std::vector<OperatorTable>& tables = device.profile().tables;
      other_types = std::any_of(tables.begin(), tables.end(),
                                [](const OperatorTable& each) { return each.name == "gemm" && !each.samples.empty(); });
    }
    complain(other_types ? "dtype" : "device",
             fmt::format("{}layers of {} lack {}", reason, *setup_.model, missing_text(missing)),
             measuring(device, missing));
  }

  template <class Wanted>
  [[nodiscard]] std::string measuring(const CalibratedDevice& device, const Wanted& wanted) const {
    const std::string command = measuring_command(device.profile(), *setup_.device.profile, wanted);
    return command.empty() ? "give their times by layers" : fmt::format("`{}` measures them", command);
  }

  void complain(std::string_view member, std::string reason, std::string hint = {}) {
    Complaint complaint;
    complaint.key = fmt::format("{}.{}", prefix_, member);
    complaint.reason = std::move(reason);
    complaint.hint = std::move(hint);
    complaints_.push_back(std::move(complaint));
  }

  const TrainingSetup& setup_;
  std::string_view prefix_;
  bool times_kernels_;  // of compression or of a framework
  std::vector<Complaint> complaints_;
};

}  // namespace

std::vector<Complaint> setup_complaints(const TrainingSetup& setup, std::string_view prefix, bool compresses) {
  return SetupChecker{setup, prefix, compresses}.complaints();
}

}  // namespace contend
