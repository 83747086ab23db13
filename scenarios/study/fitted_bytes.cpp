#include "scenarios/study/fitted_bytes.hpp"

#include <algorithm>
#include <iterator>
#include <string_view>

#include <fmt/format.h>

namespace contend {
namespace {

/// A size with four digits, because gradients have any number of bytes.
std::string rough_size(Bytes size) {
  constexpr std::string_view kUnits[] = {"B", "KiB", "MiB", "GiB"};
  double value = size.to_double();
  std::size_t unit = 0;
  for (; value >= 1024 && unit + 1 < std::size(kUnits); ++unit) value /= 1024;
  return fmt::format("{:.4g}{}", value, kUnits[unit]);
}

std::string rough_span(Bytes from, Bytes to) {
  return from == to ? rough_size(from) : fmt::format("{} to {}", rough_size(from), rough_size(to));
}

}  // namespace

UnfittedBytes unfitted_bytes(const NetworkSetup& network, std::span<const StudyMessages> jobs) {
  UnfittedBytes out;
  if (!network.fitted_bytes) return out;
  out.fitted = *network.fitted_bytes;
  const auto add = [&out](Bytes size) {
    ++out.collectives;
    const bool small = kFittedBytesAllowance * size.count() < out.fitted.least.count();
    const bool large = size.count() > kFittedBytesAllowance * out.fitted.most.count();
    if (!small && !large) return;
    out.least = out.outside == 0 ? size : std::min(out.least, size);
    out.most = std::max(out.most, size);
    ++out.outside;
  };
  for (const StudyMessages& job : jobs)
    for (const StudyPhase& phase : job.phases)
      for (const StudyMessage& message : phase.messages)
        for (const Bytes size : message.between_servers) add(size);
  return out;
}

std::string UnfittedBytes::note() const {
  if (outside == 0) return {};
  return fmt::format(
      "the network costs were fitted to sizes of {} (network.fitted_bytes); more than a factor of {} outside are {} of "
      "{} collectives, of {}, whose costs are extrapolated",
      rough_span(fitted.least, fitted.most), kFittedBytesAllowance, outside, collectives, rough_span(least, most));
}

}  // namespace contend
