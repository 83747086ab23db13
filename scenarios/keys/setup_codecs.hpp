#pragma once
// How the values are read and printed that say how one worker trains and exchanges gradients (TrainingSetup).

#include "scenarios/scenario.hpp"
#include "scenarios/yaml/codecs.hpp"

#include <initializer_list>
#include <optional>
#include <vector>

namespace contend {

[[nodiscard]] Codec<DataType> data_type_codec(std::initializer_list<DataType> also = {});
[[nodiscard]] Codec<MessageRoute> route_codec();
/// A number from 0 to `most` that holds at all times, or a list by hour.
[[nodiscard]] Codec<std::vector<double>> hourly_codec(double most);
/// none, selective, operators, full, or a list of kRecomputedModules; `selective` is the list of core_attn.
[[nodiscard]] Codec<Recomputation> recompute_codec();
[[nodiscard]] Codec<ExchangeKind> exchange_codec();
/// auto, flash, one of kFlashKernels, or plain.
[[nodiscard]] Codec<std::optional<AttentionKernel>> attention_codec();
/// auto, sheet, flat, or a share of the peak.
[[nodiscard]] Codec<std::optional<Efficiency>> efficiency_codec();
/// A name of frameworks(), or a map of the members of FrameworkCosts.
[[nodiscard]] Codec<FrameworkCosts> framework_codec();
/// A number of stragglers, or a map with the code and its parameters. Both say which workers a step may leave behind.
[[nodiscard]] Codec<CodedSteps> coded_steps_codec();

}  // namespace contend
