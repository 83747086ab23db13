#pragma once
// How workers get what they train on: storage with seeks, a rate and a cache, processes that prepare samples, and a
// copy to the GPU. The three go side by side, and beside the training, so that an iteration takes as long as the
// longest of them. Sources: docs/models/services.md.

#include "sim/units.hpp"

#include <cstdint>

namespace contend {

/// The order in which an epoch reads the samples of a data set.
enum class ReadOrder : std::uint8_t {
  random,      ///< each sample by itself, in random order
  blocks,      ///< blocks in random order, of which a buffer is filled and shuffled (CorgiPile)
  sequential,  ///< as they lie
};

/// What a cache that is full does with a sample that it lacks.
enum class CacheRule : std::uint8_t {
  keep,  ///< the cache keeps its samples
  lru,   ///< the sample takes the place of the one that was used longest ago, as in the page cache of an operating
         ///< system
};

struct DataReading {
  Bytes sample{};            ///< of a sample in the storage; 0: nothing is read
  std::int64_t samples = 0;  ///< of the data set, for a buffer
  Time seek{};               ///< before each read: a seek of a disk, a request to an object store
  ByteRate rate{};           ///< of the storage; > 0 if anything is read
  int readers = 1;           ///< workers that share the storage evenly, >= 1
  double cache = 0;          ///< share of the data set that fits into the cache of each reader, 0 to 1
  CacheRule rule = CacheRule::lru;
  ReadOrder order = ReadOrder::random;
  Bytes block{};         ///< of a read in the order `blocks`
  double buffer = 0;     ///< share of the data set that a buffer of blocks holds, with which an epoch begins
  Time prepare{};        ///< of a sample: to decode and augment it, in one process
  int processes = 1;     ///< that prepare samples, >= 1
  Bytes copied{};        ///< of a prepared sample
  ByteRate copy_rate{};  ///< at which prepared samples are copied to the GPU; 0: at once
  bool operator==(const DataReading&) const = default;
};

/// The share of reads of an epoch that a cache for this share of the data answers. In random order, one pass an epoch:
/// a cache that keeps its samples answers `share`, and one that replaces the least recently used f + (1 - f) ln(1 - f).
/// In sequential order the latter answers none, unless all fits.
[[nodiscard]] double hit_share(double share, CacheRule rule, ReadOrder order);

/// The time in which a reader gets so many samples from its storage, on average over an epoch.
[[nodiscard]] Time fetch_time(const DataReading& data, std::int64_t samples);
/// In which they are prepared, and copied.
[[nodiscard]] Time prepare_time(const DataReading& data, std::int64_t samples);
[[nodiscard]] Time copy_time(const DataReading& data, std::int64_t samples);
/// The longest of the three.
[[nodiscard]] Time loading_time(const DataReading& data, std::int64_t samples);
/// What hides behind nothing: the first buffer of each epoch, spread evenly over the samples of the epoch.
[[nodiscard]] Time filling_time(const DataReading& data, std::int64_t samples);

}  // namespace contend
