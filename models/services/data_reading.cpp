#include "models/services/data_reading.hpp"

#include <algorithm>
#include <cmath>

namespace contend {
namespace {

/// Nanoseconds in which the storage reads a sample, in reads of the order's size, for one of its readers.
double read_ns(const DataReading& data) {
  if (data.sample == Bytes{}) return 0;
  const double sample = data.sample.to_double();
  const double of_read = data.order == ReadOrder::random ? sample : data.block.to_double();
  const double seeks = data.order == ReadOrder::sequential ? 0 : sample / of_read;
  return (seeks * static_cast<double>(data.seek.ns()) + sample / data.rate.bytes_per_second() * 1e9) * data.readers;
}

double missed_ns(const DataReading& data) {
  return read_ns(data) * (1 - hit_share(data.cache, data.rule, data.order));
}

}  // namespace

double hit_share(double share, CacheRule rule, ReadOrder order) {
  if (share >= 1) return 1;
  if (rule == CacheRule::keep || share <= 0) return std::max(0.0, share);
  return order == ReadOrder::sequential ? 0 : share + (1 - share) * std::log1p(-share);
}

Time fetch_time(const DataReading& data, std::int64_t samples) {
  return Time::ceil_nanoseconds(missed_ns(data) * static_cast<double>(samples));
}

Time prepare_time(const DataReading& data, std::int64_t samples) {
  return Time::ceil_nanoseconds(static_cast<double>(data.prepare.ns()) * static_cast<double>(samples) / data.processes);
}

Time copy_time(const DataReading& data, std::int64_t samples) {
  if (data.copied == Bytes{} || data.copy_rate.bytes_per_second() == 0) return {};
  return Time::ceil_nanoseconds(data.copied.to_double() * static_cast<double>(samples) /
                                data.copy_rate.bytes_per_second() * 1e9);
}

Time loading_time(const DataReading& data, std::int64_t samples) {
  return std::max({fetch_time(data, samples), prepare_time(data, samples), copy_time(data, samples)});
}

Time filling_time(const DataReading& data, std::int64_t samples) {
  return Time::ceil_nanoseconds(missed_ns(data) * data.buffer * static_cast<double>(samples));
}

}  // namespace contend
