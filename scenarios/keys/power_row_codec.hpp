#pragma once
// The values of the key `power_rows`, a map of names to rows of racks, and of the member `power` of an entry of
// `serving`.

#include "scenarios/scenario.hpp"
#include "scenarios/yaml/codecs.hpp"
#include "scenarios/yaml/map_codec.hpp"

#include <optional>
#include <vector>

namespace contend {

[[nodiscard]] Codec<std::vector<PowerRowEntry>> power_rows_codec();
[[nodiscard]] Codec<std::optional<ServicePower>> service_power_codec();

/// A point of a curve of caps: {limit: 150, watts: 144.6, pace: 0.847}.
[[nodiscard]] Codec<CapPoint> cap_point_codec();

/// Complaints about rows, and about the power of services.
[[nodiscard]] std::vector<Complaint> power_row_complaints(const TrainingSystem& system);

/// The members of a row, and of the power of a service, for the reference.
[[nodiscard]] std::vector<MemberText> power_row_members();
[[nodiscard]] std::vector<MemberText> service_power_members();

}  // namespace contend
