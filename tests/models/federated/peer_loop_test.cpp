// Clients without a server: graphs, DADAO's rate beside eigenvalues, gossip by hand, clocks, whole models by chance.

#include "models/federated/peer_loop.hpp"
#include "sim/error.hpp"
#include "tests/near.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace contend {
namespace {

FederatedSpec peers(const std::vector<std::int64_t>& steps_ms, ClosingRule rule = ClosingRule::gossip) {
  FederatedSpec spec;
  for (const std::int64_t each : steps_ms)
    spec.clients.push_back({.step = Time::milliseconds(each), .down = ByteRate{1000}, .up = ByteRate{1000}});
  spec.asked = steps_ms.size();
  spec.rule = rule;
  return spec;
}

std::unique_ptr<FederatedLoop> finished(const FederatedSpec& spec) {
  auto loop = federated_loop(spec);
  for (loop->resume(Time{}); !loop->is_over();) loop->advance(loop->next());
  return loop;
}

std::vector<std::int64_t> ends_ms(const FederatedLoop& loop) {
  std::vector<std::int64_t> ends;
  for (const FederatedRound& each : loop.rounds()) ends.push_back(each.end.ns() / 1'000'000);
  return ends;
}

std::string reason(const FederatedSpec& spec) {
  try {
    static_cast<void>(federated_loop(spec));
  } catch (const InputError& error) {
    return error.complaints().front().reason;
  }
  return {};
}

using Matrix = std::vector<std::vector<double>>;

/// The inverse by elimination with pivots.
Matrix inverse(Matrix a) {
  const std::size_t n = a.size();
  Matrix b(n, std::vector<double>(n));
  for (std::size_t i = 0; i < n; ++i) b[i][i] = 1;
  for (std::size_t i = 0; i < n; ++i) {
    std::size_t pivot = i;
    for (std::size_t r = i; r < n; ++r)
      if (std::abs(a[r][i]) > std::abs(a[pivot][i])) pivot = r;
    std::swap(a[i], a[pivot]);
    std::swap(b[i], b[pivot]);
    const double by = a[i][i];
    for (std::size_t c = 0; c < n; ++c) {
      a[i][c] /= by;
      b[i][c] /= by;
    }
    for (std::size_t r = 0; r < n; ++r) {
      if (r == i) continue;
      const double factor = a[r][i];
      for (std::size_t c = 0; c < n; ++c) {
        a[r][c] -= factor * a[i][c];
        b[r][c] -= factor * b[i][c];
      }
    }
  }
  return b;
}

/// sqrt(2 chi1 chi2) of a graph by its Laplacian: with J of ones over n added, its inverse is the pseudo-inverse and J,
/// and the largest eigenvalue of the pseudo-inverse is one over the second one of the Laplacian.
double rate_by_laplacian(const std::vector<PeerLink>& links, std::size_t n) {
  Matrix laplacian(n, std::vector<double>(n, 1.0 / static_cast<double>(n)));
  for (const auto& [a, b] : links) {
    ++laplacian[a][a];
    ++laplacian[b][b];
    --laplacian[a][b];
    --laplacian[b][a];
  }
  const Matrix inner = inverse(laplacian);
  double resistance = 0;
  for (const auto& [a, b] : links) resistance = std::max(resistance, inner[a][a] + inner[b][b] - 2 * inner[a][b]);
  std::vector<double> vector(n);
  for (std::size_t i = 0; i < n; ++i) vector[i] = std::cos(static_cast<double>(i * i + 1));
  double largest = 0;
  for (int step = 0; step < 3000; ++step) {
    double mean = 0;
    for (const double each : vector) mean += each / static_cast<double>(n);
    for (double& each : vector) each -= mean;
    std::vector<double> next(n);
    double length = 0, before = 0;
    for (std::size_t i = 0; i < n; ++i) {
      for (std::size_t j = 0; j < n; ++j) next[i] += inner[i][j] * vector[j];
      length += next[i] * next[i];
      before += vector[i] * vector[i];
    }
    largest = std::sqrt(length / before);
    for (double& each : next) each /= std::sqrt(length);
    vector = next;
  }
  const auto count = static_cast<double>(links.size());
  return std::sqrt(2 * count * largest * count / 2 * resistance);
}

}  // namespace

TEST_CASE("peers: graphs") {
  const RandomStream draws{1, "graph"};
  const auto links = [&](PeerGraph graph, std::size_t clients, std::int64_t each = 2) {
    return peer_links({.graph = graph, .links = each}, clients, draws);
  };
  CHECK(links(PeerGraph::ring, 4) == std::vector<PeerLink>{{0, 1}, {0, 3}, {1, 2}, {2, 3}});
  CHECK(links(PeerGraph::ring, 2) == std::vector<PeerLink>{{0, 1}});
  CHECK(links(PeerGraph::complete, 4).size() == 6);
  std::vector<PeerLink> attached = links(PeerGraph::attached, 200, 3);
  CHECK(attached.size() == 6 + 196 * 3);
  CHECK(std::ranges::adjacent_find(attached) == attached.end());
  std::vector<int> degree(200);
  for (const auto& [a, b] : attached) {
    CHECK(a < b);
    ++degree[a];
    ++degree[b];
  }
  CHECK(*std::ranges::min_element(degree) >= 3);
  CHECK(*std::ranges::max_element(degree) > 20);  // links attract links; the mean is 6
}

TEST_CASE("peers: DADAO's rate by closed forms, and by the Laplacian") {
  for (const std::size_t clients : {2U, 3U, 4U, 7U, 10U, 25U}) {
    for (const PeerGraph graph : {PeerGraph::ring, PeerGraph::complete}) {
      CAPTURE(clients);
      const auto links = peer_links({.graph = graph}, clients, RandomStream{1, "graph"});
      CHECK(exchange_rate(graph, clients) == near(rate_by_laplacian(links, clients), 1e-6));
    }
  }
  CHECK(exchange_rate(PeerGraph::ring, 10) == near(15.350, 1e-4));
}

TEST_CASE("peers: a client waits for its neighbours and for nobody else") {
  // A ring of four; 100 bytes take 100 ms. Client 0 takes 1 s a step, the others 0.1 s. Round 1: 2 has the models of 1
  // and 3 at 0.1 + 0.2, 1 and 3 have the model of 0 at 1 + 0.2, and so has 0 theirs. Round 2: 2 begins at 0.3, and
  // waits for 1 and 3, which have computed at 1.3: 1.5. 0 has computed at 2.2: all others at 2.4.
  FederatedSpec spec = peers({1000, 100, 100, 100});
  spec.up = Bytes{100};
  spec.rounds = 2;
  const auto loop = finished(spec);
  CHECK(ends_ms(*loop) == std::vector<std::int64_t>{1200, 2400});
  CHECK(loop->totals().up == Bytes{2 * 4 * 2 * 100});
  CHECK(loop->totals().updates == 8);
  // Two exchanges: after the first at 1.2, 1.2, 0.3, 1.2; then 2 waits as well: 1.4.
  spec.rounds = 1;
  spec.peers.exchanges = 2;
  CHECK(ends_ms(*finished(spec)) == std::vector<std::int64_t>{1400});
  spec.peers.latency = Time::milliseconds(7);
  CHECK(ends_ms(*finished(spec)) == std::vector<std::int64_t>{1414});
  spec.clients[0].down = ByteRate{100};  // it receives 2 x 100 bytes in 2 s, twice
  CHECK(ends_ms(*finished(spec)) == std::vector<std::int64_t>{1000 + 2 * 2007});
}

TEST_CASE("peers: parts of a graph that is cut go on alone, and who leaves loses its round and nothing else") {
  // 0 - 1 and 3 are one part without 2, whose steps of 1 s would be the slowest.
  FederatedSpec spec = peers({100, 100, 1000, 100});
  spec.rounds = 3;
  spec.up = Bytes{100};
  spec.presence.stays.assign(4, {Time{}, Time::seconds(100)});
  spec.presence.period = Time::seconds(100);
  CHECK(ends_ms(*finished(spec)) == std::vector<std::int64_t>{1200, 2400, 3600});
  spec.presence.stays[2] = {Time::seconds(50), Time::seconds(100)};
  auto loop = finished(spec);
  CHECK(ends_ms(*loop) == std::vector<std::int64_t>{300, 600, 900});
  CHECK(loop->totals().up == Bytes{3 * 2 * 2 * 100});
  CHECK(loop->totals().lost == 0);
  // It is there, and goes at 0.9 s, before its first step is done.
  spec.presence.stays[2] = {Time{}, Time::milliseconds(900), Time::seconds(50), Time::seconds(100)};
  loop = finished(spec);
  CHECK(loop->totals().lost == 1);
  CHECK(loop->totals().updates == 9);
  CHECK(loop->totals().up == Bytes{3 * 2 * 2 * 100});
  CHECK(loop->rounds().back().end == Time::milliseconds(900));
}

TEST_CASE("peers: the last round ends with an all-reduce if it merges") {
  FederatedSpec spec = peers({100, 300, 200});
  spec.up = Bytes{300};
  spec.rounds = 2;
  spec.peers.chance = 0;
  CHECK(ends_ms(*finished(spec)) == std::vector<std::int64_t>{300, 600});
  spec.peers.merges = true;
  const auto loop = finished(spec);
  CHECK(ends_ms(*loop) == std::vector<std::int64_t>{300, 600 + 4 * 100});
  CHECK(loop->totals().up == Bytes{2 * 2 * 300});
}

TEST_CASE("peers: a pair exchanges when neither does with another") {
  FederatedSpec spec = peers({1000, 1000}, ClosingRule::clocks);
  spec.up = Bytes{1000};
  spec.rounds = 2000;
  spec.peers.rate = 10;  // ten in a second, of a second each: the link is always busy
  const auto loop = finished(spec);
  CHECK(loop->totals().updates >= 1998);
  CHECK(loop->totals().updates <= 2000);
  CHECK(loop->totals().up == Bytes{2000 * loop->totals().updates});
  CHECK(static_cast<double>(loop->totals().asked) == near(4000, 0.05));
  CHECK(loop->rounds().back().end == Time::seconds(2000));
}

TEST_CASE("peers: a loss of the job loses the round, and begins it again") {
  FederatedSpec spec = peers({100, 100, 100});
  spec.rounds = 2;
  const auto loop = federated_loop(spec);
  loop->resume(Time{});
  loop->advance(loop->next());
  loop->lose(Time::milliseconds(150));
  CHECK(loop->next() == Time::never());
  CHECK(loop->totals().lost == 3);
  loop->resume(Time::milliseconds(500));
  loop->advance(loop->next());
  CHECK(ends_ms(*loop) == std::vector<std::int64_t>{100, 600});
  // The job is back before the lost round would have ended.
  const auto soon = federated_loop(spec);
  soon->resume(Time{});
  soon->lose(Time::milliseconds(10));
  soon->resume(Time::milliseconds(20));
  soon->advance(soon->next());
  CHECK(ends_ms(*soon) == std::vector<std::int64_t>{120});
  CHECK(soon->rounds().front().begin == Time::milliseconds(20));
}

TEST_CASE("peers: a client that is back takes part though its neighbours are away") {
  // A ring 0 - 1 - 2 - 3. 0 and 2 leave after a second for good, and 1, between them, from 1 s to 10 s.
  FederatedSpec spec = peers({1000, 1000, 1000, 1000});
  spec.rounds = 12;
  spec.presence.period = Time::seconds(1000);
  const Time end = Time::seconds(1000), left = Time::seconds(1);
  spec.presence.stays = {{Time{}, left}, {Time{}, left, Time::seconds(10), end}, {Time{}, left}, {Time{}, end}};
  const auto loop = finished(spec);
  CHECK(loop->rounds()[0].asked == 4);
  for (std::size_t r = 1; r < 10; ++r) CHECK(loop->rounds()[r].asked == 1);
  CHECK(loop->rounds()[10].asked == 2);
  CHECK(loop->rounds()[11].updates == 2);
}

TEST_CASE("peers: rounds that send the whole model by chance") {
  FederatedSpec spec = peers({100, 100}, ClosingRule::round);
  spec.down = spec.up = Bytes{10};
  spec.whole_bytes = Bytes{1000};
  spec.whole = 1;
  CHECK(finished(spec)->rounds()[0].end == Time::milliseconds(2100));
  CHECK(finished(spec)->totals().up == Bytes{2000});
  spec.whole = 0;
  CHECK(finished(spec)->totals().up == Bytes{20});
}

TEST_CASE("peers: what can't work is refused with its reason") {
  const auto with = [](auto change) {
    FederatedSpec spec = peers({100, 100, 100}, ClosingRule::clocks);
    change(spec);
    return reason(spec);
  };
  CHECK(with([](FederatedSpec&) {}).empty());
  CHECK(with([](FederatedSpec& s) { s.asked = 2; }) == "without a server nobody asks: all clients take part");
  CHECK(with([](FederatedSpec& s) { s.peers.graph = PeerGraph::attached; }).starts_with("rate is missing"));
  CHECK(with([](FederatedSpec& s) {
          s.peers.graph = PeerGraph::attached;
          s.peers.links = 3;
        }) == "a client that comes can't have 3 links");
  CHECK(with([](FederatedSpec& s) {
          s.clients.resize(1);
          s.asked = 1;
        }) == "clients that exchange with each other are two at least");
  CHECK(with([](FederatedSpec& s) { s.peers.rate = 0; }).starts_with("there are no exchanges"));
}

}  // namespace contend
