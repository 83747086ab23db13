#include "traces/recording/wire_reader.hpp"

namespace contend {

std::optional<std::uint64_t> WireReader::varint() {
  constexpr unsigned kBits = 7, kWidth = 64;
  std::uint64_t value = 0;
  std::size_t at = at_;
  for (unsigned shift = 0; at < message_.size(); shift += kBits) {
    const auto byte = static_cast<std::uint8_t>(message_[at++]);
    if (shift >= kWidth || (shift == kWidth - 1 && (byte & 0x7eU) != 0)) {
      damage_ = "a number of more than 64 bits";
      return std::nullopt;
    }
    value |= std::uint64_t{byte & 0x7fU} << shift;
    if ((byte & 0x80U) == 0) {
      at_ = at;
      return value;
    }
  }
  if (at != at_) damage_ = "a number that is cut";
  return std::nullopt;
}

std::optional<std::uint64_t> WireReader::fixed(std::size_t size) {
  if (message_.size() - at_ < size) {
    damage_ = "a number that is cut";
    return std::nullopt;
  }
  std::uint64_t value = 0;
  for (std::size_t i = size; i-- > 0;) value = value << 8U | static_cast<std::uint8_t>(message_[at_ + i]);
  at_ += size;
  return value;
}

std::optional<WireField> WireReader::next() {
  const std::size_t begin = at_;
  const std::optional<std::uint64_t> key = varint();
  if (!key) return std::nullopt;
  WireField field{static_cast<std::uint32_t>(*key >> 3U), static_cast<WireField::Type>(*key & 7U), 0, {}};
  std::optional<std::uint64_t> value;
  switch (field.type) {
    case WireField::Type::varint:
      value = varint();
      break;
    case WireField::Type::fixed64:
      value = fixed(8);
      break;
    case WireField::Type::fixed32:
      value = fixed(4);
      break;
    case WireField::Type::bytes:
      value = varint();
      if (value && *value > message_.size() - at_) {
        damage_ = "a field longer than its message";
        value.reset();
      } else if (value) {
        field.bytes = message_.substr(at_, *value);
        at_ += *value;
      }
      break;
    default:
      damage_ = "a field of an unknown type";
  }
  if (value && field.number == 0) damage_ = "a field with the number 0";
  if (!value && damage_.empty()) damage_ = "a field without a value";
  if (!damage_.empty()) {
    at_ = begin;
    return std::nullopt;
  }
  field.value = *value;
  return field;
}

}  // namespace contend
