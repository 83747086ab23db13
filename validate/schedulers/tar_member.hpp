#pragma once

#include <string>
#include <string_view>

namespace contend {

class ByteSource;

/// Reads a member of a tar archive (POSIX ustar). Throws InputError, which names `file`, if the member is missing or
/// the archive damaged.
[[nodiscard]] std::string read_tar_member(ByteSource& archive, std::string_view file, std::string_view member);

}  // namespace contend
