#pragma once
// The rows of the key table for `overlap.*`.

#include "scenarios/keys/keys.hpp"

#include <optional>
#include <vector>

namespace contend {

[[nodiscard]] std::vector<ScenarioKey> study_keys();
[[nodiscard]] Codec<DataType> data_type_codec(std::optional<DataType> also = {});
[[nodiscard]] Codec<MessageRoute> route_codec();
[[nodiscard]] Codec<ExchangeKind> exchange_codec();
/// auto, flash, or plain.
[[nodiscard]] Codec<std::optional<bool>> attention_codec();
/// A name of frameworks(), or a map of the members of FrameworkCosts.
[[nodiscard]] Codec<FrameworkCosts> framework_codec();
/// The fusion policies that a study compares by default.
[[nodiscard]] std::vector<PolicyChoice> default_fusion();

}  // namespace contend
