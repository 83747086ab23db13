#pragma once
#include <string>

namespace contend::cuda {

/// Writes a version number with dots: 13020 is `13.2` with `major` = 1000 and `minor` = 10. The remainder below `minor`
/// follows after another dot unless it is 0.
std::string dotted(int version, int major, int minor);
/// The versions of the loaded libraries that are measured: `cuBLASLt 13.0.2, cuDNN 9.19.0, NCCL 2.28.9`.
std::string library_versions();

}  // namespace contend::cuda
