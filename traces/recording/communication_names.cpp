#include "traces/recording/communication_names.hpp"

#include <algorithm>
#include <cctype>
#include <iterator>
#include <string>
#include <utility>

namespace contend {
namespace {

using Kind = RecordedCollective;

/// Beginnings of names without underscores, in lower case; a longer beginning stands before a shorter one.
constexpr std::pair<std::string_view, Kind> kBeginnings[] = {
    {"allreduce", Kind::all_reduce},
    {"allgather", Kind::all_gather},
    {"alltoall", Kind::all_to_all},
    {"reducescatter", Kind::reduce_scatter},
    {"reduce", Kind::reduce},
    {"broadcast", Kind::broadcast},
    {"gather", Kind::gather},
    {"scatter", Kind::scatter},
    {"barrier", Kind::barrier},
    {"sendrecv", Kind::send_receive},
    {"send", Kind::send},
    {"recv", Kind::receive},
    {"coalesced", Kind::generic},
};

/// Parts of the names of kernels that aren't NCCL's: all-reduces of vLLM, SGLang and PyTorch's symmetric memory, the
/// all-to-alls of DeepEP's experts, and what uses NVSHMEM.
constexpr std::pair<std::string_view, Kind> kParts[] = {
    {"cross_device_reduce", Kind::all_reduce}, {"one_shot_all_reduce", Kind::all_reduce},
    {"two_shot_all_reduce", Kind::all_reduce}, {"multimem_all_reduce", Kind::all_reduce},
    {"deep_ep::", Kind::all_to_all},           {"nvshmem", Kind::generic},
};

std::string without_underscores(std::string_view name) {
  std::string plain;
  for (const char c : name)
    if (c != '_') plain += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return plain;
}

std::optional<Kind> kind_at_beginning(std::string_view name) {
  const std::string plain = without_underscores(name);
  for (const auto& [beginning, kind] : kBeginnings)
    if (plain.starts_with(beginning)) return kind;
  return std::nullopt;
}

std::string_view without_type(std::string_view name) {
  if (name.starts_with("void ")) name.remove_prefix(5);
  return name;
}

bool of_a_library(std::string_view name) {
  const std::string head = without_underscores(without_type(name).substr(0, 8));
  return head.starts_with("nccl") || head.starts_with("rccl") || head.starts_with("msccl");
}

}  // namespace

bool is_communication_kernel(std::string_view name) {
  return of_a_library(name) ||
         std::ranges::any_of(kParts, [&](const auto& part) { return name.find(part.first) != std::string_view::npos; });
}

RecordedCollective collective_of_kernel(std::string_view name) {
  if (of_a_library(name)) {
    constexpr std::string_view kKernel = "Kernel_";
    const std::size_t at = name.find(kKernel);
    return at == std::string_view::npos ? Kind::generic
                                        : kind_at_beginning(name.substr(at + kKernel.size())).value_or(Kind::generic);
  }
  const auto* const part =
      std::ranges::find_if(kParts, [&](const auto& each) { return name.find(each.first) != std::string_view::npos; });
  return part == std::end(kParts) ? Kind::generic : part->second;
}

std::optional<RecordedCollective> collective_named(std::string_view name) {
  if (name.starts_with("nccl:")) name.remove_prefix(5);
  return kind_at_beginning(name);
}

std::optional<std::int64_t> bytes_of_type(std::string_view type) {
  constexpr std::pair<std::string_view, std::int64_t> kTypes[] = {
      {"Float", 4},  {"Double", 8},      {"Half", 2},         {"BFloat16", 2},       {"Long", 8},   {"Int", 4},
      {"Short", 2},  {"Char", 1},        {"Byte", 1},         {"Bool", 1},           {"UInt16", 2}, {"UInt32", 4},
      {"UInt64", 8}, {"ComplexHalf", 4}, {"ComplexFloat", 8}, {"ComplexDouble", 16},
  };
  if (type.starts_with("Float8_")) return 1;
  const auto* const found = std::ranges::find(kTypes, type, [](const auto& each) { return each.first; });
  return found == std::end(kTypes) ? std::nullopt : std::optional{found->second};
}

std::string_view to_string(RecordedKind kind) {
  constexpr std::string_view kNames[] = {"host",       "launch", "compute", "copy", "fill",
                                         "collective", "send",   "receive", "load", "store"};
  return kNames[static_cast<std::size_t>(kind)];
}

std::string_view to_string(RecordedCollective kind) {
  constexpr std::string_view kNames[] = {"all-reduce", "reduce",       "all-gather",     "gather",  "scatter",
                                         "broadcast",  "all-to-all",   "reduce-scatter", "barrier", "send",
                                         "receive",    "send/receive", "generic"};
  return kNames[static_cast<std::size_t>(kind)];
}

}  // namespace contend
