// Holds measurements between instances in pairs of ten AWS regions: the round trip by ping, and the bandwidth of NCCL
// send and receive at the receiver, through a VPN tunnel with 4 sockets of 4 threads. B. Yuan published them in the
// repository tc_cluster_setting (results). The one-way latency is half of the round trip. The window limits long links:
// bandwidth times round trip is nearly constant (50 to 85 Mbit), so more sockets would carry more.

#include "network/topologies/wan.hpp"

namespace contend {

namespace {

constexpr std::size_t kSites = 10;
constexpr const char* kNames[kSites] = {"oregon",    "virginia", "ohio",   "tokyo",     "seoul",
                                        "singapore", "sydney",   "london", "frankfurt", "ireland"};

/// Round trip in ms and bandwidth in Mbit/s, by receiver (row) and sender (column).
struct Measured {
  int rtt_ms;
  int mbps;
};
constexpr Measured kMeasured[kSites][kSites] = {
    // oregon
    {{0, 0}, {67, 790}, {49, 1100}, {96, 523}, {124, 460}, {163, 341}, {139, 360}, {136, 420}, {143, 404}, {124, 482}},
    // virginia
    {{67, 1150},
     {0, 0},
     {11, 1120},
     {143, 524},
     {172, 500},
     {230, 364},
     {197, 383},
     {76, 1160},
     {90, 1020},
     {67, 1050}},
    // ohio
    {{48, 1070}, {11, 1130}, {0, 0}, {130, 694}, {159, 529}, {197, 452}, {185, 484}, {86, 1050}, {99, 799}, {77, 1140}},
    // tokyo
    {{97, 861}, {143, 535}, {130, 696}, {0, 0}, {34, 1100}, {73, 1010}, {100, 761}, {210, 366}, {223, 360}, {199, 465}},
    // seoul
    {{124, 719},
     {172, 511},
     {159, 518},
     {33, 1110},
     {0, 0},
     {74, 1140},
     {148, 580},
     {238, 342},
     {235, 358},
     {228, 335}},
    // singapore
    {{163, 510}, {230, 358}, {197, 447}, {73, 1050}, {74, 1110}, {0, 0}, {92, 816}, {169, 500}, {155, 535}, {179, 492}},
    // sydney
    {{139, 537}, {197, 463}, {186, 490}, {114, 807}, {140, 567}, {94, 990}, {0, 0}, {262, 326}, {265, 328}, {254, 344}},
    // london
    {{134, 698}, {76, 761}, {86, 1020}, {210, 441}, {238, 339}, {169, 506}, {263, 343}, {0, 0}, {14, 1140}, {12, 1090}},
    // frankfurt
    {{147, 339}, {89, 521}, {99, 474}, {223, 212}, {235, 226}, {155, 333}, {265, 204}, {14, 1060}, {0, 0}, {24, 1080}},
    // ireland
    {{122, 726}, {66, 794}, {77, 447}, {199, 460}, {228, 353}, {179, 482}, {255, 339}, {11, 1080}, {25, 1100}, {0, 0}},
};

}  // namespace

WanMatrix aws_regions() {
  WanMatrix matrix;
  matrix.sites.assign(std::begin(kNames), std::end(kNames));
  for (std::size_t from = 0; from < kSites; ++from) {
    for (std::size_t to = 0; to < kSites; ++to) {
      const Measured& measured = kMeasured[to][from];
      matrix.bandwidth.emplace_back(measured.mbps * 1e6 / 8);
      matrix.latency.push_back(Time::microseconds(measured.rtt_ms * 500));
    }
  }
  return matrix;
}

}  // namespace contend
