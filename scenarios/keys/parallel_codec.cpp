#include "scenarios/keys/parallel_codec.hpp"

#include "models/parallel/transformer_catalogue.hpp"
#include "scenarios/keys/key_rows.hpp"
#include "scenarios/keys/policy_codec.hpp"
#include "scenarios/yaml/device_sheet.hpp"
#include "scenarios/yaml/map_codec.hpp"

#include <cstdint>
#include <span>
#include <string>
#include <utility>

namespace contend {
namespace {

using ParallelRow = MapMember<ParallelSetup>;

constexpr int kMostRanks = 1'000'000;
constexpr int kMostExpertPieces = 64;

const ParallelSetup& usual_setup() {
  static const ParallelSetup usual = [] {
    ParallelSetup setup;
    setup.schedule = default_policy(policy_kind("pipeline"), "1f1b");
    return setup;
  }();
  return usual;
}

Codec<ExpertLoad> expert_load_codec() {
  constexpr double kMost = kMostRanks, kSteepest = 10;
  return map_codec<ExpertLoad>({field("ratio", &ExpertLoad::ratio, optional_codec(number_codec(1, kMost), "")),
                                field("zipf", &ExpertLoad::zipf, optional_codec(number_codec(0, kSteepest), "")),
                                field("capacity", &ExpertLoad::capacity, optional_codec(number_codec(1, kMost), "")),
                                field("counts", &ExpertLoad::counts, optional_codec(path_codec(), "")),
                                field("swapped", &ExpertLoad::swapped, bool_codec())},
                               "{ratio: 1.3}");
}

Codec<DocumentSource> documents_codec() {
  constexpr double kLongest = 1e9, kWidest = 10;
  return map_codec<DocumentSource>(
      {field("median", &DocumentSource::median, optional_codec(number_codec(1, kLongest), "")),
       field("sigma", &DocumentSource::sigma, optional_codec(number_codec(0, kWidest), "")),
       field("file", &DocumentSource::file, optional_codec(path_codec(), ""))},
      "{median: 1000, sigma: 1.2}");
}

Codec<OffloadSetup> offload_codec() {
  const auto rate = optional_codec(quantity_codec(ByteRate{125}, ByteRate{1.25e14}), "");
  return map_codec<OffloadSetup>(
      {field("optimizer", &OffloadSetup::optimizer,
             choice_codec<StatePlace>(
                 {{"gpu", StatePlace::gpu}, {"host", StatePlace::host}, {"nvme", StatePlace::nvme}})),
       field("weights", &OffloadSetup::weights,
             choice_codec<StatePlace>(
                 {{"gpu", StatePlace::gpu}, {"host", StatePlace::host}, {"nvme", StatePlace::nvme}})),
       field("activations", &OffloadSetup::activations, bool_codec()), field("link", &OffloadSetup::link, rate),
       field("memory", &OffloadSetup::memory, rate), field("nvme", &OffloadSetup::nvme, rate)},
      "{optimizer: host, link: 25GB/s, memory: 20GB/s}");
}

Codec<ActivationCompression> activation_compression_codec() {
  constexpr double kMost = 1e6;
  return map_codec<ActivationCompression>(
      {field("ratio", &ActivationCompression::ratio, optional_codec(number_codec(1, kMost), "")),
       field("adaptive", &ActivationCompression::adaptive, bool_codec())},
      "{ratio: 20, adaptive: true}");
}

using P = ParallelSetup;

Codec<int> degree_codec() {
  return integer_codec<int>(1, kMostRanks);
}

std::vector<ParallelRow> pipeline_rows() {
  return {
      map_member<P>("tensor", &P::tensor, degree_codec()),
      map_member<P>("sequence_parallel", &P::sequence_parallel, bool_codec()),
      map_member<P>("tensor_overlap", &P::tensor_overlap, bool_codec()),
      map_member<P>("across_servers", &P::across_servers, bool_codec()),
      map_member<P>("pipeline", &P::pipeline, degree_codec()),
      map_member<P>("layers", &P::layers, list_codec(integer_codec<int>(0, 10'000), "numbers")),
      map_member<P>("partition", &P::partition,
                    choice_codec<LayerPartition>({{"even", LayerPartition::even},
                                                  {"uneven", LayerPartition::uneven},
                                                  {"balanced", LayerPartition::balanced}})),
      map_member<P>("activation_compression", &P::activation_compression, activation_compression_codec()),
      map_member<P>("virtual", &P::virtual_stages, integer_codec<int>(0, 1000)),
      map_member<P>("schedule", &P::schedule, policy_codec(policy_kind("pipeline"))),
      map_member<P>("order", &P::order, optional_codec(path_codec(), "")),
  };
}

std::vector<ParallelRow> context_rows() {
  return {
      map_member<P>("context", &P::context, degree_codec()),
      map_member<P>("context_exchange", &P::context_exchange,
                    choice_codec<ContextExchange>({{"ring", ContextExchange::ring},
                                                   {"token-ring", ContextExchange::token_ring},
                                                   {"all-gather", ContextExchange::all_gather},
                                                   {"all-to-all", ContextExchange::all_to_all},
                                                   {"gathered-ring", ContextExchange::gathered_ring}})),
      map_member<P>("documents", &P::documents, documents_codec()),
      map_member<P>(
          "packing", &P::packing,
          choice_codec<Packing>(
              {{"padded", Packing::padded}, {"in-order", Packing::in_order}, {"balanced", Packing::balanced}})),
      map_member<P>("context_degree", &P::context_degree,
                    choice_codec<ContextDegree>({{"whole", ContextDegree::whole},
                                                 {"by-length", ContextDegree::by_length},
                                                 {"by-zone", ContextDegree::by_zone}})),
      map_member<P>("devices", &P::devices, list_codec(name_codec(device_names()), "devices")),
      map_member<P>("offload", &P::offload, offload_codec()),
  };
}

std::vector<ParallelRow> exchange_rows() {
  return {
      map_member<P>("expert", &P::expert, degree_codec()),
      map_member<P>("expert_tensor", &P::expert_tensor, degree_codec()),
      map_member<P>("expert_load", &P::expert_load, expert_load_codec()),
      map_member<P>("expert_exchange", &P::expert_exchange,
                    choice_codec<ExpertExchange>({{"direct", ExpertExchange::direct},
                                                  {"by-server", ExpertExchange::by_server},
                                                  {"by-gpu", ExpertExchange::by_gpu},
                                                  {"joint", ExpertExchange::joint}})),
      map_member<P>("expert_pieces", &P::expert_pieces, integer_codec<int>(0, kMostExpertPieces)),
      map_member<P>("zero", &P::zero, integer_codec<int>(0, 3)),
      map_member<P>("shards", &P::shards, integer_codec<int>(0, kMostRanks)),
      map_member<P>("gradient_bytes", &P::gradient_bytes, integer_codec<int>(1, 8)),
      map_member<P>("post_validation", &P::post_validation, bool_codec()),
      map_member<P>("reshard", &P::reshard, bool_codec()),
      map_member<P>("bucket", &P::bucket, integer_codec<std::int64_t>(0, std::int64_t{1} << 50)),
  };
}

std::span<const ParallelRow> parallel_rows() {
  static const std::vector<ParallelRow> all =
      key_rows::with_texts("training.*.parallel", table_of<ParallelRow>({pipeline_rows, context_rows, exchange_rows}));
  return all;
}

}  // namespace

Codec<TransformerSizes> transformer_codec() {
  constexpr std::int64_t kMost = std::int64_t{1} << 32;
  const auto size = integer_codec<std::int64_t>(0, kMost);
  // A later layer replaces single members, so that they can be swept.
  return map_codec<TransformerSizes>(
      {field("like", &TransformerSizes::like, name_codec(transformer_names(), "names of `contend list transformers`")),
       field("layers", &TransformerSizes::layers, size), field("hidden", &TransformerSizes::hidden, size),
       field("heads", &TransformerSizes::heads, size), field("feed_forward", &TransformerSizes::feed_forward, size),
       field("vocabulary", &TransformerSizes::vocabulary, size),
       field("key_value_heads", &TransformerSizes::key_value_heads, size),
       field("head_size", &TransformerSizes::head_size, size),
       field("gated", &TransformerSizes::gated, optional_codec(bool_codec(), "auto")),
       field("norm", &TransformerSizes::norm,
             optional_codec(choice_codec<NormKind>({{"rms", NormKind::rms}, {"layer", NormKind::layer}}), "auto")),
       field("tied", &TransformerSizes::tied, optional_codec(bool_codec(), "auto")),
       field("experts", &TransformerSizes::experts, size), field("top_k", &TransformerSizes::top_k, size),
       field("expert_feed_forward", &TransformerSizes::expert_feed_forward, size),
       field("shared_feed_forward", &TransformerSizes::shared_feed_forward, size),
       field("dense_layers", &TransformerSizes::dense_layers, optional_codec(size, "auto"))},
      "{layers: 24, hidden: 2048, heads: 16, feed_forward: 5632, vocabulary: 32000}", true);
}

Codec<std::optional<Adapter>> adapter_codec() {
  constexpr std::int64_t kMostRank = 1 << 20;
  std::vector<std::pair<std::string, AdapterTarget>> targets;
  for (std::size_t i = 0; i < adapter_targets().size(); ++i)
    targets.emplace_back(adapter_targets()[i], static_cast<AdapterTarget>(i));
  return optional_codec(
      map_codec<Adapter>(
          {field("kind", &Adapter::kind,
                 choice_codec<AdapterKind>(
                     {{"lora", AdapterKind::lora}, {"lora-fa", AdapterKind::lora_fa}, {"qlora", AdapterKind::qlora}}),
                 true),
           field("rank", &Adapter::rank, integer_codec<std::int64_t>(1, kMostRank), true),
           field("targets", &Adapter::targets,
                 distinct_list_codec(choice_codec<AdapterTarget>(std::move(targets)), AdapterTarget::query, "matrices"),
                 true),
           field("dropout", &Adapter::dropout, bool_codec())},
          "{kind: lora, rank: 16, targets: [q, v]}"),
      "none");
}

Codec<FrozenSetup> frozen_codec() {
  return map_codec<FrozenSetup>(
      {field("layers", &FrozenSetup::layers, integer_codec<std::int64_t>(0, 100'000)),
       field("embedding", &FrozenSetup::embedding, bool_codec()), field("head", &FrozenSetup::head, bool_codec())},
      "{layers: 16, embedding: true}");
}

Codec<std::optional<ParallelSetup>> parallel_codec() {
  using Setup = std::optional<ParallelSetup>;
  Codec<Setup> codec;
  codec.type = "map";
  codec.range = "members below";
  codec.is_optional = true;
  codec.schema = [](JsonWriter& json) { write_schema(parallel_rows(), json); };
  codec.read = [](const YamlNode& node, const Reading& reading, Setup& value) {
    if (node.kind != YamlNode::Kind::map)
      return reading.expected("a map such as {tensor: 8, pipeline: 4, zero: 1}", node);
    const std::size_t before = reading.complaints.size();
    ParallelSetup setup = value.value_or(usual_setup());
    read_members(parallel_rows(), node, reading, setup, setup.given);
    if (reading.complaints.size() == before) value = std::move(setup);
  };
  codec.print = [](const Setup& value) {
    if (!value) return std::string{};
    return print_members(parallel_rows(), *value,
                         [&](const ParallelRow& each) { return value->given.contains(each.name); });
  };
  codec.paths = [](Setup& value, const PathVisitor& visit) {
    if (value) visit_paths(parallel_rows(), *value, visit);
  };
  codec.part = [](const Setup& value, std::string_view name) {
    return value ? member_part(parallel_rows(), *value, name) : std::optional<PlainValue>{};
  };
  return codec;
}

std::vector<MemberText> parallel_members() {
  return member_texts(parallel_rows(), usual_setup());
}

}  // namespace contend
