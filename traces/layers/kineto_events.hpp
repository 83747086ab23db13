#pragma once
// Extracts from a PyTorch profile (Kineto, Chrome trace events) the events that determine layer times. A profile of
// gigabytes is read event by event, and most events are dropped at once.

#include "text/byte_source.hpp"
#include "text/file_complaints.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace contend {

struct JsonValue;

/// A time range of one thread: nanoseconds since the origin of the trace, half-open.
struct KinetoRange {
  enum class Kind : std::uint8_t {
    module,      ///< call of an nn.Module; `id` is its name
    annotation,  ///< record_function("layer:..."); `id` is its name
    gradient,    ///< autograd node; `id` is the sequence number of the forward operator that made it
    engine,      ///< the engine around any autograd node, including one that adds up a gradient
    step,        ///< ProfilerStep#N
  };
  Kind kind = Kind::module;
  std::size_t thread = 0;
  std::int64_t begin = 0;
  std::int64_t end = 0;
  std::int64_t id = 0;
};

/// An instant on a thread: a forward operator with its sequence number, or a launch with its correlation number.
struct KinetoMark {
  std::size_t thread = 0;
  std::int64_t at = 0;
  std::int64_t id = 0;
};

/// The arrival of a gradient at its parameter.
struct KinetoGradient {
  std::size_t thread = 0;
  std::int64_t at = 0;
  std::vector<std::int64_t> shape;
};

/// A kernel on the GPU.
struct KinetoKernel {
  std::int64_t correlation = 0;
  std::int64_t duration = 0;
  bool communication = false;  ///< belongs to NCCL
};

struct KinetoEvents {
  std::string device;              ///< name of the GPU, or empty
  std::vector<std::string> names;  ///< of layers
  std::vector<KinetoRange> ranges;
  std::vector<KinetoMark> forward_operators;
  std::vector<KinetoMark> launches;
  std::vector<KinetoGradient> gradients;
  std::vector<KinetoKernel> kernels;
  std::int64_t unshaped_gradients = 0;  ///< gradients whose shape was not recorded
  bool several_forward_threads = false;
};

/// The name of a GPU, from the properties of all GPUs of the machine in a profile; empty if it has none.
[[nodiscard]] std::string kineto_device_name(const JsonValue& document, std::int64_t id);

/// Reads the events. Throws InputError with every event that lacks a field that its kind needs.
[[nodiscard]] KinetoEvents read_kineto_events(ByteSource& source, const std::string& file);

}  // namespace contend
