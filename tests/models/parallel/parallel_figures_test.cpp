// What operators, memory, parameters on a rank and packed documents come to on varied input, all together: whoever
// changes a term of theirs on purpose changes these figures. The tests beside this one say what is right.

#include "models/parallel/documents.hpp"
#include "models/parallel/layer_split.hpp"
#include "models/parallel/memory.hpp"
#include "models/parallel/operators.hpp"
#include "models/parallel/transformer_catalogue.hpp"
#include "tests/models/parallel/total_work.hpp"

#include <cstdint>
#include <iterator>
#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/format.h>

using namespace contend;

namespace {

/// One model and its work: T5 has an encoder, BERT no mask, DeepSeek latent attention and experts.
struct Job {
  const char* model;
  MicroBatch work;
  Recomputation recomputation = Recomputation::none;
  int zero = 0;
};

std::vector<Job> jobs() {
  const MicroBatch plain{.sequences = 2, .sequence = 256};
  MicroBatch split = plain, unfused = plain, experts = plain, documents = plain;
  split.split = {.tensor = 4, .context = 2, .sequence_parallel = true};
  unfused.split = {.tensor = 2};
  unfused.flash_attention = unfused.skip_masked = false;
  unfused.loss = LossKernels::framework;
  unfused.type = DataType::fp32;
  MicroBatch whole = unfused;
  whole.split = {};
  experts.split = {.tensor = 2, .context = 2, .expert = 4, .expert_tensor = 2, .sequence_parallel = true};
  experts.expert_imbalance = 1.25;
  experts.router_type = DataType::fp32;
  experts.type = DataType::fp8;
  documents.split = {.context = 4};
  documents.documents = {{1, 0.25, 0.0625}, {2, 0.25, 0.125}, {4, 0.5, 0.25}};
  return {{"gpt2", plain},
          {"gpt2", unfused, Recomputation::core_attn, 1},
          {"bert-large", split, Recomputation::none, 2},
          {"bert-base", unfused, Recomputation::full},
          {"t5-small", plain, Recomputation::full, 3},
          {"t5-base", unfused, Recomputation::core_attn},
          {"llama-3-8b", split, Recomputation::full, 3},
          {"llama-3-8b", documents, Recomputation::core_attn},
          {"llama-2-70b", split, Recomputation::none, 1},
          {"qwen-2.5-7b", documents, Recomputation::none, 2},
          {"qwen-3-8b", split, Recomputation::core_attn},
          {"mixtral-8x7b", experts, Recomputation::none, 3},
          {"qwen-3-30b-a3b", experts, Recomputation::core_attn, 2},
          {"deepseek-v2-lite", plain, Recomputation::full},
          {"deepseek-v2", experts, Recomputation::core_attn, 3},
          {"deepseek-v3", experts, Recomputation::full, 1},
          {"deepseek-v3", whole}};
}

const TransformerModel& model_of(const Job& job) {
  const TransformerModel* model = find_transformer(job.model);
  REQUIRE_MESSAGE(model != nullptr, job.model);
  return *model;
}

/// The work of all operators of the model and of what is computed again, and how many kernels and rows they have.
std::string operator_figures(const Job& job) {
  const TransformerModel& model = model_of(job);
  std::vector<TransformerOperator> all = stage_operators(model, {0, model.all_layers(), true, true}, job.work);
  const auto again =
      recomputed_operators(transformer_operators(model, model.all_layers() - 1, job.work), job.recomputation);
  const test::OperatorTotals sum = test::total_work(all), more = test::total_work(again);
  std::int64_t sizes = 0, kernels = 0;
  for (const TransformerOperator& each : all) {
    sizes += each.count * (each.m + 3 * each.n + 7 * each.k) + 11 * each.key_heads + (each.causal ? 1 : 0);
    kernels += each.forward.kernels + 3 * each.input_gradient.kernels + 7 * each.weight_gradient.kernels;
  }
  return fmt::format("{:.16g} {:.16g} {:.16g} {:.16g} {:.16g} {:.16g} {:.16g} {:.16g} {} {}", sum.forward_flops,
                     sum.forward_bytes, sum.input_gradient_flops, sum.input_gradient_bytes, sum.weight_gradient_flops,
                     sum.weight_gradient_bytes, more.forward_flops, more.forward_bytes, sizes, kernels);
}

/// Bytes of a GPU that has two parts of the model, and what a rank stores.
std::string memory_figures(const Job& job) {
  const TransformerModel& model = model_of(job);
  MemoryOptions options;
  options.zero = job.zero;
  options.dense_shards = 6;
  options.expert_shards = 3;
  options.recomputation = job.recomputation;
  const std::int64_t layers = model.all_layers(), cut = layers / 3;
  const HeldStage parts[] = {{{0, cut, true, false}, 3}, {{cut, layers, false, true}, 2}};
  const GpuMemory memory = gpu_memory(model, job.work, parts, options);
  const ActivationBytes activations = stage_activations(model, {cut, layers, false, true}, job.work, job.recomputation);
  const RankParameters rank = rank_parameters(model, {cut, layers, false, true}, job.work.split);
  return fmt::format("{} {} {} {} {} {} | {} {} {} | {} {} {}", memory.weights.count(), memory.gradients.count(),
                     memory.optimizer.count(), memory.activations.count(), memory.gathered.count(),
                     memory.working.count(), activations.until_input.count(), activations.until_weight.count(),
                     activations.output_gradients.count(), rank.dense, rank.whole, rank.experts);
}

/// Documents of 1 to 60 tokens.
std::string document_figures(Packing packing, ContextDegree degree, bool many) {
  const DocumentLengths lengths{0, 0, {{1, 2}, {3, 5}, {7, 9}, {12, 12}, {25, 14}, {60, 15}}};
  DocumentShape shape{.rows = 8, .sequence = 48, .held = 12, .context = 4, .data = 2, .per_server = 2};
  if (many) shape = {.rows = 12, .sequence = 90, .held = 15, .context = 6, .data = 3, .per_server = 3};
  shape.packing = packing;
  shape.degree = degree;
  const PackedDocuments packed = pack_documents(lengths, shape, 3);
  std::string text = fmt::format("{:.10g} {:.10g} {:.10g} {:.10g}", packed.documents, packed.tokens, packed.squares,
                                 packed.mean_attention);
  for (const AttentionPart& part : packed.parts)
    text += fmt::format(" | {} {:.10g} {:.10g}", part.degree, part.tokens, part.attention);
  return text;
}

}  // namespace

TEST_CASE("figures of the operators of whole models") {
  const std::string expected[] = {
      "128912719872 829519360 132536598528 923104768 126496800768 529076224 0 0 2075017 851",
      "65664712704 1256608768 68080631808 1584456704 63248793600 569188352 201326592 22806528 1523989 1074",
      "40269512704 322347008 42685431808 359178240 38658899968 257857536 0 0 1580779 1667",
      "45904822272 927608832 48320741376 1152528384 43488903168 411012096 3825205248 75497472 1308237 1067",
      "65968013312 554074112 72007811072 632193024 61941481472 311033856 4697620480 37519360 1660390 1117",
      "121349603328 2560950272 128597360640 3248029696 114101846016 1004535808 402653184 45613056 3415488 2858",
      "964891246592 4748345344 971333697536 4946001920 960596279296 4524244992 28051505152 137895936 7976224 2331",
      "1924950654976 16622813184 1930587799552 17057972224 1921192558592 16666394624 0 0 18839840 2331",
      "8816762552320 38918815744 8848974807040 39876165632 8795287715840 36916068352 0 0 37406608 5787",
      "1812870463488 15673860096 1817186402304 16076644352 1809993170944 15841099776 0 0 17903548 2043",
      "973548290048 4898127872 980796047360 5125668864 968716451840 4639997952 0 0 8802420 2763",
      "3993782714368 42925686784 4006667616256 19065470976 3985192779776 14398980096 0 0 19616032 3963",
      "907513167872 31296716800 926840520704 15626272768 894628265984 10425565184 0 0 50318256 6123",
      "2528259342336 36586553344 2557250371584 37620580352 2510139949056 33735704576 85765128192 1363181568 74740667 "
      "4055",
      "5952849838080 225237680128 6081698856960 92897411072 5872319201280 74537484288 0 0 206290332 13100",
      "11202851766272 581572329472 11335995752448 220984147968 11119636774912 193825308672 173728071680 9714941952 "
      "394353582 13451",
      "39822802550784 2840684658688 40488522481664 2871449354240 39157082619904 2770432688128 0 0 1621931520 11096",
  };
  const std::vector<Job> all = jobs();
  REQUIRE(all.size() == std::size(expected));
  for (std::size_t i = 0; i < all.size(); ++i) {
    CAPTURE(i);
    CHECK(operator_figures(all[i]) == expected[i]);
  }
}

TEST_CASE("figures of the memory of a GPU") {
  const std::string expected[] = {
      "326074368 652148736 1956446208 585220096 0 51463168 | 166823936 44826624 108086272 | 95301888 38400 0",
      "163881984 327763968 163881984 572833792 0 102928384 | 128534528 58195968 120670208 | 47670528 38400 0",
      "170160128 56720044 170160132 125605888 0 0 | 21037056 14680064 18874368 | 51508224 1147904 0",
      "110524416 221048832 663146496 49950720 0 23592960 | 12582912 0 0 | 28960512 627456 0",
      "25652054 51304108 153912324 149172224 107092480 32899072 | 70516736 524288 32899072 | 47919360 12288 0",
      "247625472 495250944 1485752832 1161703424 0 65798144 | 237371392 144703488 218497024 | 83151552 35328 0",
      "669254998 1338509996 4015529988 106567680 897097728 16416768 | 44892160 524288 16416768 | 1331089408 184320 0",
      "16060522496 32121044992 96363134976 1455852544 0 32833536 | 309297152 150994944 275054592 | 5323804672 184320 0",
      "34490302464 68980604928 34490302464 3290470400 0 4096000 | 590512128 369098752 584482816 | 11617542144 892928 0",
      "15231233024 5077077676 15231233028 1480868864 0 38928384 | 320612352 145358848 280494080 | 4973099008 139776 0",
      "4095830016 8191660032 24574980096 818255872 0 19447808 | 174882816 76021760 138985472 | 1313417216 206848 0",
      "4025921536 8051843072 24155529216 3355351040 1844551680 8192000 | 617578496 387448832 584908800 | 527814656 "
      "905216 3875536896",
      "8801644544 5349800620 16049401860 3800176640 0 38895616 | 653459456 466092032 558989312 | 466102272 8529920 "
      "2415919104",
      "31412968448 62825936896 188477810688 559951872 0 104857600 | 249561088 2097152 104857600 | 771312640 23677952 "
      "9965666304",
      "20846757548 41693515096 125080545288 10886780928 5696575488 26214400 | 1938554880 1230766080 1825177600 | "
      "4439905280 465802240 18874368000",
      "185723803136 371447606272 352019568132 794957824 0 120127488 | 284229632 58195968 135151616 | "
      "6227827200 713628160 59190018048",
      "1367126332928 2734252665856 8202757997568 92796891136 0 529530880 | 18556649472 9395240960 14994898944 | "
      "11742026240 713628160 473520144384",
  };
  const std::vector<Job> all = jobs();
  REQUIRE(all.size() == std::size(expected));
  for (std::size_t i = 0; i < all.size(); ++i) {
    CAPTURE(i);
    CHECK(memory_figures(all[i]) == expected[i]);
  }
}

TEST_CASE("figures of packed documents") {
  const std::string expected[] = {
      "8 0.2322591146 0.1269497342 1 | 4 1 1",
      "8 0.2322591146 0.1269497342 1 | 4 1 1",
      "8 0.2322591146 0.1269497342 1 | 4 1 1",
      "35.1875 1 0.3787706163 0.3787706163 | 4 1 0.4342719184",
      "35.1875 1 0.4964328342 0.4964328342 | 1 0.31640625 0.06453450521 | 2 0.01106770833 0.003919813368 | 3 "
      "0.2317708333 0.1234809028 | 4 0.375 0.375 | 4 0.1064453125 0.1038750543",
      "35.1875 1 0.4964328342 0.4964328342 | 1 0.42578125 0.09204101562 | 4 0.6536458333 0.5535888672",
      "35.1875 1 0.3787706163 0.3787706163 | 4 1 0.3900010851",
      "35.1875 1 0.4964328342 0.4964328342 | 1 0.5026041667 0.1058485243 | 3 0.1410590278 0.07346824363 | 4 "
      "0.3564453125 0.3538750543",
      "35.1875 1 0.4964328342 0.4964328342 | 1 0.51953125 0.1084798177 | 2 0.01171875 0.00439453125 | 4 0.4703776042 "
      "0.4132147895",
      "12 0.1428819444 0.05391396605 1 | 6 1 1",
      "12 0.1428819444 0.05391396605 1 | 6 1 1",
      "12 0.1428819444 0.05391396605 1 | 6 1 1",
      "89.5625 1 0.2713773148 0.2713773148 | 6 1 0.3279243827",
      "89.5625 1 0.3258423354 0.3258423354 | 1 0.2020833333 0.01900462963 | 2 0.2213541667 0.06148726852 | 2 "
      "0.01302083333 0.003616898148 | 4 0.46875 0.3125 | 4 0.0625 0.04166666667 | 4 0.078125 0.05208333333",
      "89.5625 1 0.3258423354 0.3258423354 | 1 0.190625 0.02010416667 | 3 0.3795138889 0.1084066358 | 6 0.46875 0.3125",
      "89.5625 1 0.2713773148 0.2713773148 | 6 1 0.2781018519",
      "89.5625 1 0.3258423354 0.3258423354 | 1 0.3916666667 0.03462962963 | 2 0.1692708333 0.04701967593 | 4 0.434375 "
      "0.2879166667",
      "89.5625 1 0.3258423354 0.3258423354 | 1 0.4302083333 0.04237268519 | 3 0.2197916667 0.06207175926 | 6 "
      "0.3538194444 0.2356558642",
  };
  std::size_t i = 0;
  for (const bool many : {false, true})
    for (const Packing packing : {Packing::padded, Packing::in_order, Packing::balanced})
      for (const ContextDegree degree : {ContextDegree::whole, ContextDegree::by_length, ContextDegree::by_zone}) {
        CAPTURE(i);
        REQUIRE(i < std::size(expected));
        CHECK(document_figures(packing, degree, many) == expected[i++]);
      }
  CHECK(i == std::size(expected));
}
