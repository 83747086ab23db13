#pragma once
// What a user may say about a file of layer times that the file does not say itself, and how the readers hold the
// user to it: nothing is ignored, so an option that a file leaves no room for is an error.

#include "models/layers.hpp"
#include "text/file_complaints.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace contend {

struct LayerReadOptions {
  /// A name of layer_formats(); empty: recognised by what the file contains.
  std::string format{};
  /// Which of several models in one file: `resnet50` (espresso), `A6000/resnet50` (dreamddp), `8node` (bcaffe-csv).
  /// May be empty if the file holds one.
  std::string select{};
  /// Forward time of a layer divided by its backward time, > 0, for a format that has no forward times; 0.5 if not
  /// given, as the authors of MG-WFBP assume (B-Caffe, scripts/gmwfbp.py). Each layer's origin says so.
  std::optional<double> forward_ratio = std::nullopt;
  /// Samples a worker and iteration, >= 1, for a format that doesn't say; 1 if not given.
  std::optional<int> batch = std::nullopt;
  /// Where the parameters come from, by name of the layer, if the file has none (dreamddp, a profile without shapes).
  const LayerTable* sizes = nullptr;
};

inline constexpr double kForwardRatio = 0.5;

/// What a format leaves for the user to say.
struct LayerReadNeeds {
  bool select = false;
  bool forward_ratio = false;
  bool batch = false;
  bool sizes = false;
};

/// Throws InputError for each option that is out of range or that `format` has no use for.
void check_options(const LayerReadOptions& options, const LayerReadNeeds& needs, std::string_view format,
                   FileComplaints& complaints);

/// `ratio` times a backward time, rounded to the nanosecond.
[[nodiscard]] Time forward_from(Time backward, const LayerReadOptions& options);
/// `, forward = 0.5 backward`, for the origin of such a layer.
[[nodiscard]] std::string forward_note(const LayerReadOptions& options);

/// The one entry that `wanted` names, or the only one if it is empty. Throws InputError with all there are.
[[nodiscard]] std::size_t choose(const std::string& wanted, const std::vector<std::string>& available,
                                 FileComplaints& complaints);

/// Gives the layers the tensors of the equally named layers of `sizes`. Complains about layers of the table with
/// parameters that the model does not have; a layer that only the model has (a ReLU) gets none.
void take_sizes(TimedModel& model, const LayerTable& sizes, FileComplaints& complaints);

/// models/layers.hpp validate(), with the name of the file before each complaint; and the limits of complaints.hpp.
void validate_read(const TimedModel& model, const std::string& file);

/// The last part of a path without its endings: the name of a trace.
[[nodiscard]] std::string stem_of(const std::string& path);

}  // namespace contend
