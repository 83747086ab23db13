#pragma once
// How far a predicted time of an iteration may be from a measured one. The iteration is made of parts with errors that
// are known by class. Parts of one class are wrong by one factor, and classes are independent of each other. What
// single parts, measured alone, don't tell of a whole iteration is one class more, with a centre: the models leave out
// things that take time. docs/models/prediction-intervals.md

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace contend {

enum class ErrorClass : std::uint8_t { products, attention, memory, host, inside, between, run };
inline constexpr std::size_t kErrorClasses = 7;
/// The name of a class in models/errors.yaml, and a text for people that says what belongs to the class.
[[nodiscard]] std::string_view to_string(ErrorClass of);
[[nodiscard]] std::string_view title_of(ErrorClass of);

/// The standard error of a class, as a share of what its parts take.
struct ClassError {
  std::string source;
  double error = 0;                                    ///< of everything without an entry in `by_name`, >= 0
  std::map<std::string, double, std::less<>> by_name;  ///< of devices, frameworks, generations of servers or networks

  [[nodiscard]] double of(std::string_view name) const;
};

/// What lies between the parts and a whole iteration: the mean and the standard deviation of log(measured / predicted)
/// beyond the errors of the parts. `low` and `high` are the ends of an interval of 90% in standard deviations of both
/// together; of a normal distribution, if nothing else is known.
struct Unmodelled {
  double centre = 0, spread = 0;
  double low = -1.6448536269514722, high = 1.6448536269514722;
};

/// The content of models/errors.yaml.
struct ErrorTable {
  std::array<ClassError, kErrorClasses> classes;
  Unmodelled unmodelled;

  [[nodiscard]] const ClassError& of(ErrorClass which) const { return classes[static_cast<std::size_t>(which)]; }
};

/// What the error of one class does to an iteration.
struct PartError {
  ErrorClass of{};
  double error = 0;  ///< of the class
  double effect =
      0;  ///< log of the factor by which the iteration is longer if all parts of the class are so much longer
};
/// The standard deviation of the logarithm by all classes together.
[[nodiscard]] double sigma_of(std::span<const PartError> parts);

/// Factors on the predicted time.
struct PredictionInterval {
  double low = 1, high = 1;
  [[nodiscard]] bool holds(double ratio) const { return low <= ratio && ratio <= high; }
};
/// The interval that has the measured time with a probability of 90%, where `sigma` is the part of the classes.
[[nodiscard]] PredictionInterval interval_of(double sigma, const Unmodelled& unmodelled);

/// A prediction and its measurement.
struct JudgedPrediction {
  double deviation = 0;  ///< log(measured / predicted)
  double sigma = 0;      ///< sigma_of() its parts
};
/// What these sets show beyond the errors of the parts, each set with the same weight: the mean deviation, the part of
/// the mean squared distance from it that the parts don't explain, and the quantiles of 5% and 95% of the distance over
/// the standard deviation that follows for each prediction.
[[nodiscard]] Unmodelled unmodelled_of(std::span<const std::vector<JudgedPrediction>* const> sets);

}  // namespace contend
