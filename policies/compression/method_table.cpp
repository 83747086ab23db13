#include "policies/registry.hpp"

#include "policies/factories.hpp"

#include <cstdint>

namespace contend {

namespace {

constexpr ParameterInfo density(double usual) {
  return {"density", usual, 1e-6, 1, "share of the values that is sent"};
}
constexpr ParameterInfo rank(std::int64_t usual) {
  return {"rank", usual, 1, 4096, "of the factors, at most that of the matrix"};
}

constexpr ParameterInfo kTopK[] = {
    density(0.001),
    {"gamma_ps", 0.0, 0, 1e6,
     "selection takes gamma x d log2(d), in picoseconds; 0: radix select by the roofline of the device"}};
constexpr ParameterInfo kLags[] = {
    {"min_density", 0.001, 1e-6, 1, "of a layer whose all-gather nothing hides"},
    {"slack_density", 0.05, 1e-6, 1, "of a layer all of whose values and indices could be hidden"},
    kTopK[1]};
constexpr ParameterInfo kRandomK[] = {density(0.01)};
constexpr ParameterInfo kSaps[] = {
    density(0.01),
    {"matched", true, 0, 0, "pairs over fast links of overlap.links; false: at random"},
    {"threshold_mbps", 0.0, 0, 1e9, "slower direction of links that pairs may use unless forced, in Mbit/s"},
    {"within", std::int64_t{10}, 1, 10'000, "the links of any so many rounds in a row connect all workers"},
    {"random_weights", false, 0, 0, "any pairs over the threshold, as the authors' code, not the fastest"}};
constexpr ParameterInfo kGaussianK[] = {
    density(0.001), {"refinements", std::int64_t{3}, 0, 100, "counts by which the threshold is corrected"}};
constexpr ParameterInfo kMsTopK[] = {
    density(0.001), {"samples", std::int64_t{30}, 1, 1000, "thresholds that are tried, a count each; assumption"}};
constexpr ParameterInfo kDgc[] = {density(0.001),
                                  {"sample", 0.01, 1e-6, 1, "share of the values that the threshold is taken from"}};
constexpr ParameterInfo kQsgd[] = {{"bits", std::int64_t{8}, 2, 16, "of a value, sign included"},
                                   {"bucket", std::int64_t{512}, 1, 1e12, "values that share a norm of 4 bytes"}};
constexpr ParameterInfo kInServers{"hierarchical", false, 0, 0,
                                   "full precision inside each server, and one of its workers for all of them"};
constexpr ParameterInfo kByteGrad[] = {kInServers};
constexpr ParameterInfo kWarmUp{"warm_up", 0.15, 0, 1, "share of the iterations in full precision"};
constexpr ParameterInfo kOneBitAdam[] = {kWarmUp, kInServers};
constexpr ParameterInfo kApmSqueeze[] = {
    {"warm_up", 0.15, 0, 1, "share of the iterations in full precision; assumption: that of onebit-adam"}, kInServers};
constexpr ParameterInfo kLossless[] = {
    {"ratio", 1.2, 1, 100, "dense over compressed size; assumption: 1.2 for 32-bit values, 1.5 for bf16"},
    {"compress_gb_per_s", 250.0, 1e-3, 1e6, "dense GB/s (10^9 bytes) of the compressing kernel"},
    {"decompress_gb_per_s", 250.0, 1e-3, 1e6, "dense GB/s of the decompressing kernel"}};
constexpr ParameterInfo kLowRank[] = {rank(4)};
constexpr ParameterInfo kHierarchical[] = {
    {"leaders", false, 0, 0, "one worker of each server does it for all, instead of a share each"}};
constexpr ParameterInfo kDecentralized[] = {{"all", false, 0, 0, "averaged over all workers, not two"}, kInServers};
constexpr ParameterInfo kLowPrecision[] = {{"bits", std::int64_t{8}, 1, 16, "of a change of a weight"}, kInServers};
constexpr ParameterInfo kLocalSgd[] = {
    {"period", std::int64_t{8}, 1, 1e9, "iterations from one averaging to the next; assumption"}};

std::unique_ptr<CompressionMethod> make_none(const Parameters&, const PolicyContext&) {
  return nullptr;
}

constexpr PolicyRow<CompressionMethod> kCompression[] = {
    {"none", "gradients as they are", "textbook", {}, make_none},
    {"fp16", "cast to half precision and all-reduced", "Micikevicius et al., ICLR 2018", {}, make_fp16},
    {"top-k", "the largest values, exactly; all-gathered with their indices", "Aji, Heafield, EMNLP 2017", kTopK,
     make_top_k},
    {"gtop-k", "the largest values of the sum, merged up a tree", "Shi et al., ICDCS 2019", kTopK, make_gtop_k},
    {"gaussian-k", "values above a threshold from a normal fit", "Shi et al., arXiv 1911.08772", kGaussianK,
     make_gaussian_k},
    {"ms-top-k", "values above the best of many sampled thresholds", "Shi et al., MLSys 2021", kMsTopK, make_ms_top_k},
    {"dgc", "values above a threshold from a sample, with momentum correction", "Lin et al., ICLR 2018", kDgc,
     make_dgc},
    {"lags", "the largest values, each layer as dense as the rest of the backward pass hides", "Shi et al., ECAI 2020",
     kLags, make_lags},
    {"random-k", "the same random values on every worker, all-reduced without indices", "Stich et al., NeurIPS 2018",
     kRandomK, make_random_k},
    {"saps", "the same random weights on every worker, averaged with one other over fast links",
     "Tang et al., ICDCS 2020 (SAPS-PSGD)", kSaps, make_saps},
    {"d-psgd",
     "all weights averaged with two neighbours on a ring, while computing",
     "Lian et al., NeurIPS 2017",
     {},
     make_d_psgd},
    {"qsgd", "random rounding to a few levels; all-gathered", "Alistarh et al., NeurIPS 2017", kQsgd, make_qsgd},
    {"terngrad", "-1, 0 or 1 and a scale; all-gathered", "Wen et al., NeurIPS 2017", {}, make_terngrad},
    {"sign-sgd", "signs, all-gathered, and a majority vote", "Bernstein et al., ICLR 2019", {}, make_sign_sgd},
    {"ef-sign-sgd",
     "signs and a scale, all-gathered, with error feedback",
     "Karimireddy et al., ICML 2019",
     {},
     make_ef_sign_sgd},
    {"byte-grad", "8 bits in an all-to-all and an all-gather", "Gan et al., VLDB 2022 (BAGUA)", kByteGrad,
     make_byte_grad},
    {"onebit-adam", "after a warm-up signs in an all-to-all and an all-gather", "Tang et al., ICML 2021", kOneBitAdam,
     make_one_bit_adam},
    {"apm-squeeze", "as onebit-adam, with momentum preconditioned by the warm-up", "Tang et al., arXiv 2008.11343",
     kApmSqueeze, make_one_bit_adam},
    {"lossless", "exponents coded shorter, in each half of the all-reduce where that is faster",
     "Fan et al., arXiv 2604.27844 (ZipCCL)", kLossless, make_lossless},
    {"power-sgd", "two factors of low rank, all-reduced one after the other", "Vogels et al., NeurIPS 2019", kLowRank,
     make_power_sgd},
    {"acp-sgd", "one of two factors of low rank in turn", "Zhang et al., ICDCS 2023", kLowRank, make_acp_sgd},
    {"hierarchical", "dense, all-reduced inside servers and between them", "Cho et al., MLSys 2019 (BlueConnect)",
     kHierarchical, make_hierarchical},
    {"hitopk", "sums of each server, of which sampled thresholds select; all-gathered between servers",
     "Shi et al., MLSys 2021 (HiTopKComm)", kMsTopK, make_hitopk},
    {"q-adam", "after a warm-up the momentum in 8 bits, as byte-grad", "Gan et al., VLDB 2022 (BAGUA)", kOneBitAdam,
     make_q_adam},
    {"decentralized", "weights averaged with another worker, while computing", "Gan et al., VLDB 2022 (BAGUA)",
     kDecentralized, make_decentralized},
    {"dcd-psgd", "quantised changes of the weights, to two neighbours that keep copies", "Tang et al., NeurIPS 2018",
     kLowPrecision, make_dcd_psgd},
    {"ecd-psgd", "quantised extrapolations of the weights, to two neighbours that keep estimates",
     "Tang et al., NeurIPS 2018", kLowPrecision, make_ecd_psgd},
    {"async-average",
     "weights averaged all the time beside training, which doesn't wait",
     "Gan et al., VLDB 2022 (BAGUA)",
     {},
     make_async_average},
    {"local-sgd", "weights averaged after every so many updates", "Stich, ICLR 2019; Lin et al., ICLR 2020", kLocalSgd,
     make_local_sgd},
};

}  // namespace

std::span<const PolicyRow<CompressionMethod>> compression_policies() {
  return kCompression;
}

}  // namespace contend
