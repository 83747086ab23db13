#pragma once
// What computing and communicating usually cost each other (sim/interference.hpp), by GPU, library and the way of the
// messages, each figure with its source. A scenario takes them with `network.interference: auto`.

#include "sim/interference.hpp"

#include <cstdint>
#include <span>
#include <string_view>

namespace contend {

/// Where the ranks of a transfer lie.
enum class TransferPath : std::uint8_t {
  inside,   ///< all in one server
  between,  ///< in several
};

/// A row of the table.
struct UsualInterference {
  std::string_view gpu;      ///< what the name of the device contains, such as one of models/devices.hpp
  std::string_view library;  ///< that carries the messages
  TransferPath path = TransferPath::between;
  double compute = 0, network = 0;  ///< as in sim/interference.hpp, as plain factors >= 0
  std::string_view source;
};

[[nodiscard]] std::span<const UsualInterference> usual_interferences();
/// The row of a device; nullptr if no figure is known. Where several names fit, the longest counts.
[[nodiscard]] const UsualInterference* usual_interference(std::string_view device, TransferPath path);

}  // namespace contend
