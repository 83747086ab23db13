#include "sim/units.hpp"

#include <doctest/doctest.h>

#include <cstdint>
#include <type_traits>

#include "sim/ids.hpp"

using contend::ByteRate;
using contend::Bytes;
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
