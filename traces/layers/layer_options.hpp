#pragma once
// Options with which a user completes a file of layer times, and their check: an option that the file leaves no room
// for is an error, so none is ignored.

#include "models/layers.hpp"
#include "text/file_complaints.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace contend {

struct LayerReadOptions {
  /// The name of a format of layer_formats(); if empty, it is recognised from the content.
  std::string format{};
  /// The model to read from a file with several: `resnet50` (espresso), `A6000/resnet50` (dreamddp), `8node`
  /// (bcaffe-csv). May be empty if the file holds one.
  std::string select{};
  /// Forward time of a layer divided by its backward time, > 0, for a format without forward times. The default is 0.5,
  /// which the authors of MG-WFBP assume (B-Caffe, scripts/gmwfbp.py). Each layer's origin states it.
  std::optional<double> forward_ratio = std::nullopt;
  /// Samples per worker and iteration, >= 1, for a format without a batch size; 1 by default.
  std::optional<int> batch = std::nullopt;
  /// The source of parameter counts, by layer name, if the file has none (dreamddp, a profile without shapes).
  const LayerTable* sizes = nullptr;
};

inline constexpr double kForwardRatio = 0.5;

/// The options that a format accepts.
struct LayerReadNeeds {
  bool select = false;
  bool forward_ratio = false;
  bool batch = false;
  bool sizes = false;
};

/// Reports each option that is out of range or that `format` does not accept.
void check_options(const LayerReadOptions& options, const LayerReadNeeds& needs, std::string_view format,
                   FileComplaints& complaints);

/// `ratio` times a backward time, rounded to nanoseconds.
[[nodiscard]] Time forward_from(Time backward, const LayerReadOptions& options);
/// `, forward = 0.5 backward`, the note in the origin of such a layer.
[[nodiscard]] std::string forward_note(const LayerReadOptions& options);

/// The index of the entry that `wanted` names, or of the only entry if `wanted` is empty. Throws InputError that lists
/// all entries.
[[nodiscard]] std::size_t choose(const std::string& wanted, const std::vector<std::string>& available,
                                 FileComplaints& complaints);

/// Copies the tensors of the equally named layers of `sizes`. Reports layers of the table that have parameters but are
/// missing in the model; a layer that only the model has (a ReLU) gets none.
void take_sizes(TimedModel& model, const LayerTable& sizes, FileComplaints& complaints);

/// Applies validate() of models/layers.hpp and prefixes each complaint with the file name; the limits of complaints.hpp
/// apply.
void validate_read(const TimedModel& model, const std::string& file);
void validate_read(const LayerTable& table, const std::string& file);

/// The last part of a path without its extensions, which names a trace.
[[nodiscard]] std::string stem_of(const std::string& path);

}  // namespace contend
