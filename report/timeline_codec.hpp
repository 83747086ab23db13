#pragma once
// Encodes a timeline as bytes. Training repeats itself, so every number is written as its difference from a prediction,
// and most differences are 0: a million spans take well under a megabyte once compressed.
//
// Five columns of variable-length numbers (report/packing.hpp), all lanes after each other:
//   kind    position of the kind in a list that begins as 0, 1, 2, ... in each lane; a used kind moves to the front
//   gap     exact: start minus the end of the span before, minus the gap before the last span of this kind (signed);
//           summaries: first bin minus the first bin of the summary before
//   length  exact: duration minus that of the last span of this kind (signed); summaries: bins minus 1
//   number  exact: iteration minus that of the last span of this kind (signed); summaries: the count
//   share   summaries only: hundredths of the time
// Predictions without a precedent in the lane are 0. Times are nanoseconds. page/timeline_data.js reads the format.

#include "report/timeline.hpp"

#include <array>
#include <string>

namespace contend {

struct TimelineBytes {
  std::array<std::string, 5> columns;  ///< kind, gap, length, number, share

  [[nodiscard]] std::string joined() const;
};

[[nodiscard]] TimelineBytes encode_spans(const Timeline& timeline);

}  // namespace contend
