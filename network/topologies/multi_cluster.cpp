// Builds clusters at several sites, each with one switch. Every two sites are joined in each direction by a link with a
// bandwidth and latency of its own. Traffic between sites takes the direct link, as on a wide-area network whose
// routing its users do not control.

#include "network/topologies/assembly.hpp"
#include "network/topologies/wan.hpp"

#include <algorithm>
#include <cmath>
#include <set>

#include <fmt/core.h>

namespace contend {

namespace {

WanMatrix matrix_of(const FabricSpec& fabric) {
  return fabric.wan.sites.empty() ? aws_regions() : fabric.wan;
}

/// The rows of the matrix that the fabric uses.
std::vector<std::size_t> chosen_sites(const FabricSpec& fabric, const WanMatrix& wan) {
  std::vector<std::size_t> chosen;
  for (const std::string& name : fabric.sites.empty() ? wan.sites : fabric.sites) {
    const auto found = std::find(wan.sites.begin(), wan.sites.end(), name);
    if (found != wan.sites.end()) chosen.push_back(static_cast<std::size_t>(found - wan.sites.begin()));
  }
  return chosen;
}

void check_names(const std::string& key, const std::vector<std::string>& names, Complaints& complaints) {
  std::set<std::string> seen;
  for (const std::string& name : names) {
    if (name.empty()) complaints.add(key, "a site without a name");
    if (!seen.insert(name).second) complaints.add(key, fmt::format("`{}` is named twice", name));
  }
}

/// True if the matrix has an entry for every pair; otherwise adds complaints.
bool check_shape(const WanMatrix& wan, Complaints& complaints) {
  const std::size_t wanted = wan.sites.size() * wan.sites.size();
  for (const auto& [name, entries] :
       {std::pair{"fabric.wan.bandwidth", wan.bandwidth.size()}, std::pair{"fabric.wan.latency", wan.latency.size()}}) {
    if (entries == wanted) continue;
    complaints.add(name, fmt::format("{} entries for {} sites", entries, wan.sites.size()),
                   fmt::format("{} are needed, row by row", wanted));
  }
  return wan.bandwidth.size() == wanted && wan.latency.size() == wanted;
}

void check_multi_cluster(const TopologySpec& spec, const Size& size, Complaints& complaints) {
  const WanMatrix wan = matrix_of(spec.fabric);
  check_names("fabric.wan.sites", wan.sites, complaints);
  check_names("fabric.sites", spec.fabric.sites, complaints);
  for (const std::string& name : spec.fabric.sites) {
    if (std::find(wan.sites.begin(), wan.sites.end(), name) != wan.sites.end()) continue;
    const std::string near = nearest_name(name, wan.sites);
    complaints.add("fabric.sites", fmt::format("the matrix has no site `{}`", name),
                   near.empty() ? "" : fmt::format("did you mean \"{}\"?", near));
  }
  const std::vector<std::size_t> sites = chosen_sites(spec.fabric, wan);
  if (size.servers < sites.size()) {
    complaints.add("servers", fmt::format("{} servers for {} sites", size.servers, sites.size()),
                   "each site needs at least one");
  }
  if (!check_shape(wan, complaints)) return;
  for (const std::size_t from : sites) {
    for (const std::size_t to : sites) {
      if (from == to) continue;
      const double bandwidth = wan.bandwidth[from * wan.sites.size() + to].bytes_per_second();
      const Time latency = wan.latency[from * wan.sites.size() + to];
      const std::string pair = fmt::format("{} -> {}", wan.sites[from], wan.sites[to]);
      if (!(bandwidth > 0) || !std::isfinite(bandwidth)) {
        complaints.add("fabric.wan.bandwidth", fmt::format("{}: {} bytes per second", pair, bandwidth),
                       "it must be > 0");
      }
      if (latency < Time{})
        complaints.add("fabric.wan.latency", fmt::format("{}: {} ns", pair, latency.ns()), "it must be >= 0");
    }
  }
}

void build_multi_cluster(Assembly& assembly) {
  const WanMatrix wan = matrix_of(assembly.spec.fabric);
  const std::vector<std::size_t> sites = chosen_sites(assembly.spec.fabric, wan);
  std::vector<NodeId> switches;
  for (const std::size_t site : sites) switches.push_back(assembly.add_switch(wan.sites[site]));
  // If the servers can't be distributed evenly, the first sites have one more.
  for (std::size_t i = 0, server = 0; i < sites.size(); ++i) {
    const std::size_t last = server + assembly.size.servers / sites.size() + (i < assembly.size.servers % sites.size());
    for (; server < last; ++server) assembly.attach_server(server, switches[i]);
  }
  for (std::size_t i = 0; i < sites.size(); ++i) {
    for (std::size_t j = 0; j < sites.size(); ++j) {
      if (i == j) continue;
      const std::size_t entry = sites[i] * wan.sites.size() + sites[j];
      assembly.topology.add_link(switches[i], switches[j], wan.bandwidth[entry], wan.latency[entry]);
    }
  }
}

}  // namespace

FabricBuilder multi_cluster_fabric() {
  return {
      {"multi-cluster",
       "a switch at each of several sites, and a wide-area link of its own for each pair and direction",
       "matrix of AWS regions: B. Yuan, tc_cluster_setting",
       {{"sites", &FabricSpec::sites, 0, 0,
         "sites of the matrix among which the servers are divided equally; empty: all"},
        {"wan", &FabricSpec::wan, 0, 0,
         "bandwidth and latency between sites; aws: those measured between ten AWS regions"},
        {"link_latency", &FabricSpec::link_latency, 0, 0, "latency of a cable from a NIC to the switch of its site"}}},
      check_multi_cluster,
      build_multi_cluster};
}

}  // namespace contend
