#pragma once
// The value of the member `data` of a training entry: what workers read, and from where.

#include "models/services/data_reading.hpp"
#include "scenarios/yaml/codecs.hpp"
#include "scenarios/yaml/map_codec.hpp"
#include "sim/error.hpp"

#include <optional>
#include <string>
#include <vector>

namespace contend {

[[nodiscard]] Codec<std::optional<DataReading>> data_codec();
/// Complaints about members that are missing, or that can't stand together; `key` names the map.
[[nodiscard]] std::vector<Complaint> data_complaints(const DataReading& data, const std::string& key);
/// The members of the map, for the reference.
[[nodiscard]] std::vector<MemberText> data_members();

}  // namespace contend
