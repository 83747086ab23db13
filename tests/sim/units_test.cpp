#include "sim/units.hpp"
#include "sim/error.hpp"
#include "sim/ids.hpp"
#include "sim/random_stream.hpp"
#include "tests/near.hpp"

#include <cmath>
#include <cstdint>
#include <string>
#include <type_traits>

#include <doctest/doctest.h>

using contend::ByteRate;
using contend::Bytes;
using contend::GpuTime;
using contend::InputError;
using contend::near;
using contend::Time;

TEST_CASE("times of different units are the same nanoseconds") {
  CHECK(Time::seconds(2) == Time::milliseconds(2'000));
  CHECK(Time::milliseconds(2) == Time::microseconds(2'000));
  CHECK(Time::microseconds(2) == Time::nanoseconds(2'000));
  CHECK(Time::seconds(1).ns() == 1'000'000'000);
  CHECK(Time::milliseconds(1'500).to_seconds() == 1.5);
  CHECK(Time{}.ns() == 0);
}

TEST_CASE("a fraction of a nanosecond is rounded up") {
  CHECK(Time::ceil_nanoseconds(2.0).ns() == 2);
  CHECK(Time::ceil_nanoseconds(2.0000001).ns() == 3);
  CHECK(Time::ceil_nanoseconds(0.0).ns() == 0);
  CHECK(Time::ceil_nanoseconds(1e-9).ns() == 1);
  CHECK(Time::ceil_nanoseconds(-0.5).ns() == 0);
}

TEST_CASE("an exact time that was computed in floating point is not a nanosecond longer") {
  // A ring all-reduce of 40 MB among 8 at 10 Gbit/s: 2 (8-1)/8 x 40e6 B x 0.8 ns/B = 56,000,000 ns. In doubles it is a
  // rounding more, and so are times of these shapes.
  const double share = 7.0 / 8 * 0.8;
  CHECK((share + share) * 40e6 > 56e6);
  CHECK(Time::ceil_nanoseconds((share + share) * 40e6).ns() == 56'000'000);
  CHECK(0.1 * 3 * 1e9 > 3e8);
  CHECK(Time::ceil_nanoseconds(0.1 * 3 * 1e9).ns() == 300'000'000);
  // What is left of a long transfer has the roundings of all of it: 1e12 ns at 0.1 ns/B, of which 1e12 - 7 have passed.
  const double left = (1e13 - (1e12 - 7) / 0.1) * 0.1;
  CHECK(Time::ceil_nanoseconds(left + 2e-4, 1e12).ns() == 7);
  CHECK(Time::ceil_nanoseconds(1e-4, 1e12).ns() == 0);
  CHECK(Time::ceil_nanoseconds(left + 0.3, 1e12).ns() == 8);
  // A fraction that is none of these is rounded up as ever, and whole numbers of any size stay.
  CHECK(Time::ceil_nanoseconds(56'000'000.00001).ns() == 56'000'001);
  CHECK(Time::ceil_nanoseconds(1e12 + 0.25).ns() == 1'000'000'000'001);
  for (int bits = 0; bits < 63; ++bits) {
    const std::int64_t whole = std::int64_t{1} << bits;
    CHECK(Time::ceil_nanoseconds(static_cast<double>(whole)).ns() == whole);
    if (bits < 53) CHECK(Time::ceil_nanoseconds(static_cast<double>(whole + 1)).ns() == whole + 1);
    if (bits < 53) CHECK(Time::ceil_nanoseconds(static_cast<double>(whole - 1)).ns() == whole - 1);
  }
  CHECK(Time::ceil_nanoseconds(1e-30).ns() == 1);
}

TEST_CASE("a time rounded up equals exact fractions, for any number of ranks, bytes and bits a second") {
  // 2 (n-1)/n V 8e9/R ns in integers of 128 bits beside the same formula in doubles, in the orders in which costs of
  // collectives are put together.
  contend::RandomStream stream{57, "exact times"};
  for (int i = 0; i < 200'000; ++i) {
    const auto n = static_cast<std::int64_t>(2 + stream.uniform() * 1022);
    const auto bytes = static_cast<std::int64_t>(1 + stream.uniform() * 1e10);
    constexpr std::int64_t kRates[] = {1, 10, 25, 40, 56, 100, 200, 400, 800};
    const std::int64_t gbps = kRates[static_cast<std::size_t>(stream.uniform() * 9)];
    const contend::Int128 above = contend::Int128{2} * (n - 1) * bytes * 8, below = contend::Int128{n} * gbps;
    const auto exact = static_cast<std::int64_t>((above + below - 1) / below);
    const double beta = 1e9 / (static_cast<double>(gbps) * 1.25e8);
    const double share = static_cast<double>(n - 1) / static_cast<double>(n) * beta;
    const auto size = static_cast<double>(bytes);
    CHECK(Time::ceil_nanoseconds((share + share) * size).ns() == exact);
    CHECK(Time::ceil_nanoseconds(2 * (size * share)).ns() == exact);
  }
}

TEST_CASE("never lies after every event") {
  // 292 years: 2^63 ns = 9.22e18 ns, and a year has 3.156e16.
  CHECK(Time::never() > Time::seconds(292LL * 365 * 24 * 3600));
  CHECK(Time::never().ns() == INT64_MAX);
}

TEST_CASE("times add, subtract and scale") {
  Time t = Time::nanoseconds(10);
  t += Time::nanoseconds(5);
  CHECK(t.ns() == 15);
  t -= Time::nanoseconds(20);
  CHECK(t.ns() == -5);
  CHECK((Time::nanoseconds(3) + Time::nanoseconds(4)).ns() == 7);
  CHECK((Time::nanoseconds(3) - Time::nanoseconds(4)).ns() == -1);
  CHECK(3 * Time::nanoseconds(7) == Time::nanoseconds(7) * 3);
  CHECK(Time::nanoseconds(-1) < Time{});
}

TEST_CASE("bytes count whole bytes, mebibytes are binary") {
  CHECK(Bytes::mebibytes(25).count() == 26'214'400);
  CHECK((Bytes{3} + Bytes{4} - Bytes{5}).count() == 2);
  CHECK((Bytes{3} * 4).count() == 12);
  Bytes b{1};
  b += Bytes{9};
  b -= Bytes{4};
  CHECK(b == Bytes{6});
  CHECK(b.to_double() == 6.0);
}

TEST_CASE("quantities and ids of different kinds do not mix") {
  CHECK_FALSE(std::is_convertible_v<std::int64_t, Time>);
  CHECK_FALSE(std::is_convertible_v<std::int64_t, Bytes>);
  CHECK_FALSE(std::is_convertible_v<double, ByteRate>);
  CHECK_FALSE(std::is_convertible_v<Bytes, Time>);
  CHECK_FALSE(std::is_convertible_v<contend::GpuId, contend::ServerId>);
  CHECK_FALSE(contend::GpuId{}.valid());
  CHECK(contend::GpuId{std::uint32_t{3}}.index() == 3);
}

TEST_CASE("no quantity wraps around") {
  const Time last = Time::nanoseconds(INT64_MAX);
  const std::string years =
      "a simulated time is beyond 292 years, the longest that the simulator can count in nanoseconds";
  CHECK_THROWS_WITH_AS(last + Time::nanoseconds(1), years.c_str(), InputError);
  CHECK_THROWS_AS(Time{} - last - Time::nanoseconds(2), InputError);
  CHECK_THROWS_AS(last * 2, InputError);
  CHECK_THROWS_AS(Time::seconds(9'223'372'037), InputError);
  CHECK(Time::seconds(9'223'372'036).ns() == 9'223'372'036'000'000'000);
  CHECK_THROWS_AS(Time::ceil_nanoseconds(9.3e18), InputError);
  CHECK_THROWS_AS(Time::ceil_nanoseconds(std::nan("")), InputError);
  CHECK_THROWS_AS(Bytes{INT64_MAX} + Bytes{1}, InputError);
  CHECK_THROWS_AS(Bytes{INT64_MAX / 2} * 3, InputError);
}

TEST_CASE("GPU time holds what 64 bits do not: 16,384 GPUs for a century") {
  const Time century = Time::seconds(100LL * 365 * 24 * 3600);
  const GpuTime all{century, 16'384};
  CHECK(all.to_seconds() == near(100.0 * 365 * 24 * 3600 * 16'384));
  CHECK(all.on_each_of(16'384) == century);
  CHECK_THROWS_AS(static_cast<void>(all.on_each_of(1)), InputError);
  CHECK(all + all - all == all);
  CHECK(all * 3 > all);
  CHECK(GpuTime{century, 1} < all);
}
