#include "scenarios/keys/data_codec.hpp"

#include "scenarios/keys/key_rows.hpp"

#include <cstdint>
#include <span>
#include <utility>

#include <fmt/format.h>

namespace contend {
namespace {

using key_rows::kDay;

constexpr ByteRate kLeastStoreRate{1}, kMostStoreRate{1e15};

std::vector<MapMember<DataReading>> storage_rows() {
  using D = DataReading;
  const Codec<Bytes> size = quantity_codec(Bytes{}, Bytes{std::int64_t{1} << 50});
  constexpr std::int64_t kMostSamples = 1'000'000'000'000;
  constexpr int kMostReaders = 1'000'000;
  return {
      map_member<D>("sample", &D::sample, size),
      map_member<D>("samples", &D::samples, integer_codec<std::int64_t>(0, kMostSamples)),
      map_member<D>("seek", &D::seek, quantity_codec(Time{}, kDay)),
      map_member<D>("rate", &D::rate, quantity_codec(kLeastStoreRate, kMostStoreRate)),
      map_member<D>("readers", &D::readers, integer_codec<int>(1, kMostReaders)),
      map_member<D>("cache", &D::cache, number_codec(0, 1)),
      map_member<D>("evict", &D::rule, choice_codec<CacheRule>({{"lru", CacheRule::lru}, {"never", CacheRule::keep}})),
      map_member<D>(
          "order", &D::order,
          choice_codec<ReadOrder>(
              {{"random", ReadOrder::random}, {"blocks", ReadOrder::blocks}, {"sequential", ReadOrder::sequential}})),
      map_member<D>("block", &D::block, size),
      map_member<D>("buffer", &D::buffer, number_codec(0, 1)),
  };
}

std::vector<MapMember<DataReading>> preparation_rows() {
  using D = DataReading;
  constexpr int kMostProcesses = 100'000;
  return {
      map_member<D>("prepare", &D::prepare, quantity_codec(Time{}, kDay)),
      map_member<D>("processes", &D::processes, integer_codec<int>(1, kMostProcesses)),
      map_member<D>("copied", &D::copied, quantity_codec(Bytes{}, Bytes{std::int64_t{1} << 50})),
      map_member<D>("copy_rate", &D::copy_rate, quantity_codec(kLeastStoreRate, kMostStoreRate)),
  };
}

std::span<const MapMember<DataReading>> data_rows() {
  static const auto all =
      key_rows::with_texts("training.*.data", table_of<MapMember<DataReading>>({storage_rows, preparation_rows}));
  return all;
}

}  // namespace

Codec<std::optional<DataReading>> data_codec() {
  return key_rows::maybe_map(data_rows(), "{sample: 110KB, seek: 7ms, rate: 150MB/s}");
}

std::vector<Complaint> data_complaints(const DataReading& data, const std::string& key) {
  std::vector<Complaint> found;
  const auto add = [&](std::string reason, std::string hint) {
    found.push_back({.key = key, .reason = std::move(reason), .hint = std::move(hint)});
  };
  if (data.sample > Bytes{} && data.rate == ByteRate{})
    add("rate is missing: the rate at which the storage reads samples", "such as rate: 150MB/s");
  if (data.sample == Bytes{} && (data.seek > Time{} || data.cache > 0 || data.rate != ByteRate{}))
    add("sample is missing: without the size of a sample nothing is read", "such as sample: 110KB");
  if (data.copied > Bytes{} && data.copy_rate == ByteRate{})
    add("copy_rate is missing: the rate at which samples are copied to the GPU", "such as copy_rate: 12GB/s");
  const bool by_blocks = data.order == ReadOrder::blocks;
  if (by_blocks && data.block < data.sample) add("a block is smaller than a sample", "such as block: 10MB");
  const double buffer = data.buffer * data.sample.to_double() * static_cast<double>(data.samples);
  if (by_blocks && data.samples > 0 && data.buffer > 0 && buffer < data.block.to_double())
    add(fmt::format("the buffer, {:g} of {} samples, has no room for a block of {}", data.buffer, data.samples,
                    print_quantity(data.block)),
        "a larger buffer, or smaller blocks");
  if (!by_blocks && (data.block > Bytes{} || data.buffer > 0))
    add("block and buffer are for order: blocks, in which blocks are read in random order", "order: blocks");
  return found;
}

std::vector<MemberText> data_members() {
  return member_texts(data_rows(), DataReading{});
}

}  // namespace contend
