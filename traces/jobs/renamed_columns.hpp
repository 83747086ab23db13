#pragma once
// A table whose columns get other names on the way, so that a trace with own names is read as one of a known format.

#include "text/byte_source.hpp"

#include <cstddef>
#include <map>
#include <string>
#include <string_view>

namespace contend {

class RenamedColumns final : public ByteSource {
 public:
  /// `names` has the new name of a column and its name in the header, the first line that is no comment (#). `rest`
  /// must outlive this source. Throws InputError, which names `file`, for a name that the header lacks and for a new
  /// name that another column has.
  RenamedColumns(ByteSource& rest, const std::map<std::string, std::string>& names, const std::string& file);
  [[nodiscard]] std::size_t read(char* buffer, std::size_t size) override;

 private:
  PeekedSource rest_;
  std::string begin_;  ///< with the header
  std::size_t at_ = 0;
};

/// Where the header of a table is in its beginning: after a byte order mark and comments (#), without the end of line.
[[nodiscard]] std::string_view header_of(std::string_view head);

}  // namespace contend
