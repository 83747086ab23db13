#include "models/training_profile.hpp"

#include <algorithm>
#include <array>

namespace contend {

namespace {

constexpr std::string_view kSource =
    "authors' simulator of arXiv 2002.10105 (HKBU-HPML/dl-scheduling, commit d5398bd), one 32 GB V100";

// The source gives sizes in MB of 2^20 bytes with one decimal; a tenth of a MiB is 104857.6 bytes.
constexpr Bytes tenths_of_mebibyte(std::int64_t tenths) {
  return Bytes{(tenths * 1'048'576 + 5) / 10};
}

constexpr std::array kProfiles = {
    TrainingProfile{"inception-v3", 16, Time::milliseconds(35), Time::milliseconds(52), tenths_of_mebibyte(1030),
                    Bytes::mebibytes(3291), kSource},
    TrainingProfile{"lstm", 64, Time::milliseconds(32), Time::milliseconds(47), tenths_of_mebibyte(2518),
                    Bytes::mebibytes(2751), kSource},
    TrainingProfile{"resnet50", 16, Time::milliseconds(25), Time::milliseconds(37), tenths_of_mebibyte(992),
                    Bytes::mebibytes(3213), kSource},
    TrainingProfile{"vgg16", 16, Time::milliseconds(36), Time::milliseconds(54), tenths_of_mebibyte(5264),
                    Bytes::mebibytes(4527), kSource},
};

}  // namespace

std::span<const TrainingProfile> training_profiles() {
  return kProfiles;
}

const TrainingProfile* find_training_profile(std::string_view name) {
  const auto* found = std::find_if(kProfiles.begin(), kProfiles.end(),
                                   [&](const TrainingProfile& profile) { return profile.name == name; });
  return found == kProfiles.end() ? nullptr : found;
}

const TrainingProfile* find_published_profile(std::string_view name) {
  return name.starts_with(kPublished) ? find_training_profile(name.substr(kPublished.size())) : nullptr;
}

IterationGraph data_parallel_graph(const TrainingProfile& profile, int workers) {
  IterationGraph graph;
  const RoleId worker = graph.add_role("worker", workers);
  const OpId forward = graph.add_compute("forward", worker, profile.forward);
  const OpId backward = graph.add_compute("backward", worker, profile.backward);
  const OpId reduce = graph.add_collective("all-reduce", CollectiveKind::all_reduce, worker, profile.gradient);
  graph.add_dependency(forward, backward);
  graph.add_dependency(backward, reduce);
  graph.add_dependency(reduce, forward, 1);
  return graph;
}

}  // namespace contend
