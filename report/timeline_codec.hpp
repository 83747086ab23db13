#pragma once
// Encodes a timeline as bytes. Training repeats itself, so every number is written as its difference from a prediction,
// and most differences are 0: a million spans take well under a megabyte once compressed.
//
// Five columns of variable-length numbers (report/packing.hpp), all lanes after each other:
//   kind    position of the kind among the kRecentKinds kinds of the lane that were used last, the last one first; for
//           another kind, kRecentKinds plus its number minus the number of the kind before it that was none of these
//           (signed)
//   gap     exact: start minus the end of the span before, minus the gap before the last span of this kind (signed);
//           summaries: first bin minus the first bin of the summary before
//   length  exact: duration minus the duration of the last span of this kind (signed); summaries: bins minus 1
//   number  exact: iteration minus the iteration of the last span of this kind (signed); summaries: the count
//   share   summaries only: hundredths of the time
// Predictions without a precedent in the lane are 0. Times are nanoseconds. page/timeline_data.js reads the format.

#include "report/timeline.hpp"

#include <array>
#include <cstddef>
#include <string>

namespace contend {

/// So few that a lane with a job after the other, and no kind twice, costs the same for each span.
inline constexpr std::size_t kRecentKinds = 64;

struct TimelineBytes {
  std::array<std::string, 5> columns;  ///< kind, gap, length, number, share

  [[nodiscard]] std::string joined() const;
};

[[nodiscard]] TimelineBytes encode_spans(const Timeline& timeline);

}  // namespace contend
