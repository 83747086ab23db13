// The columns of the files about links of a topology.

#include "results/result_columns.hpp"

#include <cstdint>

namespace contend {
namespace {

constexpr Column<FabricLinkResult> kFabricColumns[] = {
    {"link", "text", [](const FabricLinkResult& l) { return Cell{l.name}; }},
    {"bandwidth_Bps", "number", [](const FabricLinkResult& l) { return Cell{l.bandwidth}; }},
    {"bytes", "number", [](const FabricLinkResult& l) { return Cell{l.bytes}; }},
    {"utilisation", "number", [](const FabricLinkResult& l) { return Cell{l.utilisation}; }},
    {"busy_s", "seconds", [](const FabricLinkResult& l) { return Cell{l.busy}; }},
    {"jobs", "integer", [](const FabricLinkResult& l) { return Cell{static_cast<std::int64_t>(l.users.size())}; }},
    {"down_s", "seconds", [](const FabricLinkResult& l) { return Cell{l.down}; }},
    {"reduced_s", "seconds", [](const FabricLinkResult& l) { return Cell{l.reduced}; }},
};

constexpr Column<LinkUse> kLinkUseColumns[] = {
    {"link", "text", [](const LinkUse& u) { return Cell{u.link}; }},
    {"job_id", "text", [](const LinkUse& u) { return Cell{u.job}; }},
    {"bytes", "number", [](const LinkUse& u) { return Cell{u.bytes}; }},
};

constexpr Column<DelayedBy> kDelayColumns[] = {
    {"job_id", "text", [](const DelayedBy& d) { return Cell{d.job}; }},
    {"by_job", "text", [](const DelayedBy& d) { return Cell{d.by}; }},
    {"link", "text", [](const DelayedBy& d) { return Cell{d.link}; }},
    {"lost_s", "seconds", [](const DelayedBy& d) { return Cell{d.lost}; }},
};

constexpr Column<LinkUtilisation> kLinkUtilisationColumns[] = {
    {"link", "text", [](const LinkUtilisation& u) { return Cell{u.link}; }},
    {"start_s", "seconds", [](const LinkUtilisation& u) { return Cell{u.start}; }},
    {"utilisation", "number", [](const LinkUtilisation& u) { return Cell{u.utilisation}; }},
};

}  // namespace

std::span<const Column<FabricLinkResult>> fabric_columns() {
  return kFabricColumns;
}
std::span<const Column<LinkUse>> link_use_columns() {
  return kLinkUseColumns;
}
std::span<const Column<DelayedBy>> delay_columns() {
  return kDelayColumns;
}
std::span<const Column<LinkUtilisation>> link_utilisation_columns() {
  return kLinkUtilisationColumns;
}

}  // namespace contend
