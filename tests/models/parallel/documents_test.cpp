// Documents in rows: what a rank gets by hand, that no token is lost, and which ways to deal them out are better.

#include "models/parallel/documents.hpp"

#include "sim/random_stream.hpp"
#include "tests/near.hpp"

#include <cstdint>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

using namespace contend;

namespace {

/// Documents that are all of one length.
DocumentLengths all_of(std::int64_t tokens) {
  return {0, 0, {{tokens, 1}}};
}

double attention(const PackedDocuments& packed) {
  return attention_of(packed.parts);
}

double tokens(const PackedDocuments& packed) {
  double sum = 0;
  for (const AttentionPart& part : packed.parts) sum += part.tokens;
  return sum;
}

}  // namespace

TEST_CASE("documents of one length: the sum of squares by hand") {
  // 8 rows of 100. Documents of 25 fill them: 4 x 25^2 of 100^2 in each.
  DocumentShape shape{.rows = 8, .sequence = 100, .held = 100, .data = 4};
  PackedDocuments packed = pack_documents(all_of(25), shape, 1);
  CHECK(packed.documents == near(32));
  CHECK(packed.tokens == near(1));
  CHECK(packed.squares == near(0.25));
  CHECK(packed.mean_attention == near(0.25));
  REQUIRE(packed.parts.size() == 1);
  CHECK(packed.parts[0].degree == 1);
  CHECK(attention(packed) == near(0.25));
  // Of 40, a row has pieces of 40, 40, 20, the next one of 20, 40, 40: 3600 of 10,000.
  CHECK(pack_documents(all_of(40), shape, 1).squares == near(0.36));
  // Padded, a row is computed in full for 25 tokens.
  shape.packing = Packing::padded;
  packed = pack_documents(all_of(25), shape, 1);
  CHECK(packed.documents == near(8));
  CHECK(packed.tokens == near(0.25));
  CHECK(packed.squares == near(0.0625));
  CHECK(attention(packed) == near(1));
  // Longer ones are cut to a row.
  CHECK(pack_documents(all_of(1000), shape, 1).tokens == near(1));
}

TEST_CASE("a document is on as many ranks as its tokens need, or on the ranks of its zone") {
  // 8 ranks that hold 100 tokens each have rows of 800; 16 rows on 16 ranks. Documents of 150 need 2 ranks.
  DocumentShape shape{.rows = 16, .sequence = 800, .held = 100, .context = 8, .data = 2, .per_server = 4};
  shape.degree = ContextDegree::by_length;
  const auto degrees = [&](std::int64_t length) {
    std::vector<int> found;
    for (const AttentionPart& part : pack_documents(all_of(length), shape, 1).parts)
      if (found.empty() || found.back() != part.degree) found.push_back(part.degree);
    return found;
  };
  CHECK(degrees(100) == std::vector{1});
  CHECK(degrees(160) == std::vector{2});
  CHECK(degrees(250) == std::vector{3});
  CHECK(degrees(320) == std::vector{4});
  CHECK(degrees(700) == std::vector{7});
  CHECK(degrees(800) == std::vector{8});
  // On 3 of 4 ranks of a server, those with the least so far: 16 ranks have an equal part of 128 documents of 100.
  const PackedDocuments three = pack_documents(all_of(250), shape, 1);
  CHECK(three.mean_attention == near(250.0 / 800, 0.01));
  CHECK(attention(three) < 1.1 * three.mean_attention);
  // 160^2 / 2 on a rank for each document of 80 tokens there: 160 of the 800 tokens that it would attend to.
  CHECK(pack_documents(all_of(160), shape, 1).mean_attention == near(160.0 / 800));
  CHECK(attention(pack_documents(all_of(160), shape, 1)) == near(160.0 / 800));
  // And five at a time 30 ranks of servers of three.
  DocumentShape five{.rows = 6, .sequence = 500, .held = 100, .context = 5, .data = 6, .per_server = 3};
  five.degree = ContextDegree::by_length;
  CHECK(attention(pack_documents(all_of(500), five, 1)) == near(1));
  // Three ranks at a time fill servers of eight only if some are on two servers: eight of 24 ranks' documents are.
  DocumentShape odd{.rows = 24, .sequence = 300, .held = 100, .context = 3, .data = 8, .per_server = 8};
  odd.degree = ContextDegree::by_length;
  for (const Packing packing : {Packing::in_order, Packing::balanced}) {
    odd.packing = packing;
    const PackedDocuments even = pack_documents(all_of(300), odd, 1);
    CHECK(attention(even) == near(even.mean_attention));
    CHECK(tokens(even) == near(1));
    CHECK(even.parts.front().degree == 3);
  }
  shape.degree = ContextDegree::by_zone;
  CHECK(degrees(100) == std::vector{1});
  CHECK(degrees(160) == std::vector{4});
  CHECK(degrees(400) == std::vector{4});
  CHECK(degrees(500) == std::vector{8});
}

TEST_CASE("balanced ranks have the attention of the mean one, others more; tokens stay the same") {
  const DocumentLengths lengths{800, 1.3, {}};
  DocumentShape shape{.rows = 256, .sequence = 8192, .held = 1024, .context = 8, .data = 16, .per_server = 4};
  for (const ContextDegree degree : {ContextDegree::whole, ContextDegree::by_length, ContextDegree::by_zone}) {
    shape.degree = degree;
    shape.packing = Packing::in_order;
    const PackedDocuments in_order = pack_documents(lengths, shape, 7);
    shape.packing = Packing::balanced;
    const PackedDocuments balanced = pack_documents(lengths, shape, 7);
    CHECK(balanced.mean_attention == near(in_order.mean_attention, 1e-9));
    CHECK(balanced.squares == near(in_order.squares, 1e-9));
    CHECK(in_order.tokens == near(1));
    CHECK(tokens(in_order) == near(1, 0.05));
    CHECK(tokens(balanced) == near(1, 0.01));
    CHECK(attention(in_order) > 1.1 * in_order.mean_attention);
    CHECK(attention(balanced) >= balanced.mean_attention * (1 - 1e-9));
    CHECK(attention(balanced) < 1.02 * balanced.mean_attention);
    // Documents that aren't cut between rows attend to more.
    CHECK(in_order.mean_attention == near(in_order.squares, 1e-9));
  }
}

TEST_CASE("lengths are drawn from their distribution") {
  RandomStream random{3, "lengths"};
  const DocumentLengths table{0, 0, {{10, 3}, {20, 4}}};
  const DocumentLengths logarithmic{1000, 0.5, {}};
  int short_ones = 0, below = 0;
  constexpr int kDraws = 4000;
  for (int i = 0; i < kDraws; ++i) {
    const std::int64_t drawn = table.draw(random);
    CHECK((drawn == 10 || drawn == 20));
    short_ones += drawn == 10 ? 1 : 0;
    below += logarithmic.draw(random) < 1000 ? 1 : 0;
  }
  CHECK(static_cast<double>(short_ones) == near(0.75 * kDraws, 0.03));
  CHECK(static_cast<double>(below) == near(0.5 * kDraws, 0.05));
  CHECK(DocumentLengths{1000, 0, {}}.draw(random) == 1000);
}
