#pragma once
#include <string>

namespace contend::cuda {

/// Writes a version number with dots: 13020 is `13.2` with `major` = 1000 and `minor` = 10. The remainder below `minor`
/// follows after another dot unless it is 0.
std::string dotted(int version, int major, int minor);
/// The versions of the loaded libraries that are measured: `cuBLASLt 13.0.2, cuDNN 9.19.0, NCCL 2.28.9`.
std::string library_versions();
/// Why there is no cuDNN or no NCCL: it is missing on this machine, or was missing when the program was built; empty if
/// it is there. Ask before the first call of a function of the library: whoever calls one that isn't there ends the
/// program.
const std::string& why_no_cudnn();
const std::string& why_no_nccl();

}  // namespace contend::cuda
