#include "text/magnitude.hpp"
#include "tests/near.hpp"
#include "text/quantities.hpp"

#include <doctest/doctest.h>

#include <string>
#include <string_view>

#include <fmt/format.h>

namespace contend {
namespace {

Magnitude written(std::string_view text) {
  const std::optional<Magnitude> magnitude = parse_magnitude(text);
  REQUIRE_MESSAGE(magnitude.has_value(), text);
  return *magnitude;
}

}  // namespace

TEST_CASE("a text is a number, a quantity or neither") {
  CHECK(std::get<std::int64_t>(written("9007199254740993")) == 9'007'199'254'740'993);  // no double
  CHECK(std::get<double>(written("1.5")) == 1.5);
  CHECK(std::get<Time>(written("1.5us")) == Time::nanoseconds(1500));
  CHECK(std::get<Bytes>(written("2MiB")) == Bytes{std::int64_t{1} << 21});
  CHECK(std::get<ByteRate>(written("10Gbps")) == ByteRate{1.25e9});
  CHECK(std::get<TimePerByte>(written("1ms/MB")) == TimePerByte{1});
  for (const std::string_view word : {"", "auto", "[4]", "10 Gb", "inf", "nan", "4x"}) {
    CAPTURE(word);
    CHECK_FALSE(parse_magnitude(word).has_value());
  }
}

TEST_CASE("numbers are in base units") {
  CHECK(base_number(written("250ms")) == near(0.25));
  CHECK(base_number(written("8Gbps")) == near(1e9));
  CHECK(base_number(written("1ms/MB")) == near(1e-9));
  CHECK(base_number(written("3KiB")) == 3072);
  CHECK(base_unit(written("1us")) == "s");
  CHECK(base_unit(written("1B")) == "B");
  CHECK(base_unit(written("1B/s")) == "Bps");
  CHECK(base_unit(written("1s/GB")) == "s_per_B");
  CHECK(base_unit(written("1")).empty());
  CHECK(base_unit(written("1.5")).empty());
}

TEST_CASE("spelling makes no difference, the unit does") {
  CHECK(is_same(written("10Gbps"), written("10000Mbps")));
  CHECK(is_same(written("4"), written("4.0")));
  CHECK_FALSE(is_same(written("10Gbps"), written("10GB")));
  CHECK_FALSE(is_same(written("1"), written("1s")));
  CHECK_FALSE(is_same(written("4"), written("4.5")));
}

TEST_CASE("a number is an integer exactly if it is printed as one") {
  for (const double number : {0.0, -0.0, 1.0, -3.0, 0.5, 1e15, 9'999'999'999'999'998.0, 1e16, 1e300, -1e16, 1e-9}) {
    const std::string text = fmt::format("{}", number);
    CAPTURE(text);
    const Magnitude magnitude = magnitude_of(number);
    CHECK(is_integer(magnitude) == is_integer(written(text)));
    CHECK(base_number(magnitude) == number);
    CHECK(base_number(written(text)) == number);
  }
}

}  // namespace contend
