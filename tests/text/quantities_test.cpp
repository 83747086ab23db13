#include "text/quantities.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <cstdint>
#include <initializer_list>
#include <random>
#include <regex>
#include <string>

namespace contend {
namespace {

std::int64_t ns(std::string_view text) {
  return parse_quantity<Time>(text).value.value().ns();
}
std::int64_t bytes(std::string_view text) {
  return parse_quantity<Bytes>(text).value.value().count();
}
double rate(std::string_view text) {
  return parse_quantity<ByteRate>(text).value.value().bytes_per_second();
}
double slope(std::string_view text) {
  return parse_quantity<TimePerByte>(text).value.value().ns_per_byte();
}

template <class T>
std::string refusal(std::string_view text) {
  const Parsed<T> parsed = parse_quantity<T>(text);
  REQUIRE_FALSE(parsed.value.has_value());
  return parsed.hint.empty() ? parsed.expected : parsed.expected + "; " + parsed.hint;
}

TEST_CASE("times are exact decimals") {
  CHECK(ns("50us") == 50'000);
  CHECK(ns("2h") == 7'200'000'000'000);
  CHECK(ns("1.5s") == 1'500'000'000);
  CHECK(ns("0.1s") == 100'000'000);  // 0.1 is no binary fraction
  CHECK(ns("1.5min") == 90'000'000'000);
  CHECK(ns("0.000000001s") == 1);
  CHECK(ns("50 us") == 50'000);
  CHECK(ns("0s") == 0);
}

TEST_CASE("fractions of a nanosecond or a byte round up") {
  CHECK(ns("0.4ns") == 1);
  CHECK(ns("1.0000000001s") == 1'000'000'001);
  CHECK(ns("0.00000000000000000000000000000000000000001d") == 1);
  CHECK(ns("2.000000000000000000000000000000000000000000us") == 2'000);
  CHECK(bytes("0.3KiB") == 308);  // 307.2
}

TEST_CASE("the largest time fits, one nanosecond more does not") {
  CHECK(ns("9223372036854775807ns") == INT64_MAX);
  CHECK(ns("9223372036.854775807s") == INT64_MAX);
  CHECK(refusal<Time>("9223372036854775808ns") == "a time of at most 106751d; this one is too large");
  CHECK(refusal<Time>("9223372036.8547758071s") == "a time of at most 106751d; this one is too large");
  CHECK(refusal<Time>("99999999999999999999999d") == "a time of at most 106751d; this one is too large");
  CHECK(refusal<Bytes>("8388608TiB") == "an amount of data of at most 8388607TiB; this one is too large");
}

TEST_CASE("bytes: decimal and binary units") {
  CHECK(bytes("1KB") == 1'000);
  CHECK(bytes("1KiB") == 1'024);
  CHECK(bytes("25MiB") == 26'214'400);
  CHECK(bytes("1.5GB") == 1'500'000'000);
  CHECK(bytes("2TiB") == 2'199'023'255'552);
}

TEST_CASE("rates: bits and bytes") {
  CHECK(rate("10Gbps") == 1.25e9);
  CHECK(rate("1.25GB/s") == 1.25e9);
  CHECK(rate("8bps") == 1.0);
  CHECK(rate("1GiB/s") == 1073741824.0);
  CHECK(rate("0.1Gbps") == 12.5e6);
}

TEST_CASE("rates in bits have several usual spellings, and a case that may mean bytes is asked about") {
  for (const char* text : {"10Gbps", "10 Gbit/s", "10Gb/s", "10GBit/s", "10000Mb/s"}) CHECK(rate(text) == 1.25e9);
  CHECK(rate("8kbit/s") == 1e3);
  CHECK(rate("8b/s") == 1.0);
  const std::regex pattern{quantity_info<ByteRate>().pattern};
  for (const char* text : {"10 Gbit/s", "8kb/s", "8bit/s", "8kbps"}) CHECK(std::regex_match(text, pattern));
  for (const char* text : {"10 gigs", "10gb/s", "10Gb/h"}) CHECK_FALSE(std::regex_match(text, pattern));
  const std::string rate_hint = "a rate such as 10Gbps; did you mean ";
  CHECK(refusal<ByteRate>("100 Gbit") == rate_hint + "\"Gbps\"?");
  CHECK(refusal<ByteRate>("100Gb") == rate_hint + "\"Gbps\"?");
  CHECK(refusal<ByteRate>("100G") == rate_hint + "\"Gbps\"?");
  CHECK(refusal<ByteRate>("10gb/s") == rate_hint + "\"Gbps\"?");
  CHECK(refusal<ByteRate>("10GBps") == rate_hint + "\"GB/s\" (bytes) or \"Gbps\" (bits)?");
  CHECK(refusal<ByteRate>("10GB") == rate_hint + "\"GB/s\"?");
}

TEST_CASE("the rate of a link is printed in bits where these are a short number") {
  CHECK(print_link_rate(ByteRate{25e9}) == "200Gbps");
  CHECK(print_link_rate(ByteRate{12.5e9}) == "100Gbps");
  CHECK(print_link_rate(ByteRate{125e9}) == "1Tbps");
  CHECK(print_link_rate(ByteRate{450e9}) == "450GB/s");
  CHECK(print_link_rate(ByteRate{1'073'741'824}) == "1GiB/s");
  CHECK(print_link_rate(ByteRate{25e9 + 4e-6}) == print_quantity(ByteRate{25e9 + 4e-6}));
}

TEST_CASE("times per byte are the nearest double") {
  CHECK(slope("1ns/B") == 1.0);
  CHECK(slope("0.856ms/MiB") == 856'000.0 / 1'048'576.0);
  CHECK(slope("0.8s/GB") == 0.8);
}

TEST_CASE("a text that is not a quantity is refused with an example") {
  CHECK(refusal<Time>("50") == "a time such as 50us; write the unit: ns us ms s min h d");
  CHECK(refusal<Time>("5m") == "a time such as 50us; units: ns us ms s min h d");
  CHECK(refusal<Time>("5MS") == "a time such as 50us; did you mean \"ms\"?");
  CHECK(refusal<ByteRate>("10gbps") == "a rate such as 10Gbps; did you mean \"Gbps\"?");
  for (const std::string text :
       {"", "s", "-1s", "+1s", ".5s", "1.s", "1e3s", "nan", "inf", ".inf", "0x10s", "1,5s", "1_000s"}) {
    CAPTURE(text);
    CHECK_FALSE(parse_quantity<Time>(text).value.has_value());
  }
  CHECK(refusal<ByteRate>(std::string(400, '9') + "Tbps") == "a rate of less than 1e308B/s; this one is too large");
}

TEST_CASE("a number with an exponent is too large, or is to be written without") {
  CHECK(refusal<Time>("1e9d") == "a time of at most 106751d; this one is too large");
  CHECK(refusal<Time>("1E+3s") == "a time such as 50us; write it without an exponent: 1000s");
  CHECK(refusal<Time>("12.5e-1ms") == "a time such as 50us; write it without an exponent: 1.25ms");
  CHECK(refusal<Time>("5e-3s") == "a time such as 50us; write it without an exponent: 0.005s");
  CHECK(refusal<ByteRate>("0.10e2Gbps") == "a rate such as 10Gbps; write it without an exponent: 10Gbps");
  CHECK(refusal<Time>("1e3") == "a time such as 50us; write the unit: ns us ms s min h d");
  CHECK(refusal<Time>("1e3m") == "a time such as 50us; units: ns us ms s min h d");
}

TEST_CASE("the shortest text is printed") {
  CHECK(print_quantity(Time::nanoseconds(0)) == "0s");
  CHECK(print_quantity(Time::seconds(1200)) == "20min");
  CHECK(print_quantity(Time::seconds(1800)) == "30min");
  CHECK(print_quantity(Time::seconds(60)) == "1min");
  CHECK(print_quantity(Time::seconds(90)) == "90s");
  CHECK(print_quantity(Time::microseconds(100)) == "100us");
  CHECK(print_quantity(Time::microseconds(35'400)) == "35.4ms");
  CHECK(print_quantity(Time::nanoseconds(1'500'000'000)) == "1.5s");
  CHECK(print_quantity(Time::nanoseconds(669'000)) == "669us");
  CHECK(print_quantity(Bytes{1} * (std::int64_t{32} << 30)) == "32GiB");
  CHECK(print_quantity(Bytes{1'500'000}) == "1.5MB");
  CHECK(print_quantity(Bytes{1'000'000'000'000}) == "1TB");
  CHECK(print_quantity(Bytes::mebibytes(512)) == "512MiB");
  CHECK(print_quantity(ByteRate{1.25e9}) == "10Gbps");
  CHECK(print_quantity(TimePerByte{856'000.0 / 1'048'576.0}) == "856us/MiB");
  CHECK(print_quantity(TimePerByte{0}) == "0ns/B");
}

/// Random magnitudes of all sizes; the engine is one of the standard's with a fixed sequence.
template <class T, class Make>
void check_round_trip(Make make) {
  std::mt19937_64 random{20'020'101'05};
  const std::regex pattern{quantity_info<T>().pattern};
  for (int i = 0; i < 3'000; ++i) {
    const T value = make(random);
    const std::string text = print_quantity(value);
    CAPTURE(text);
    CHECK(parse_quantity<T>(text).value == value);
    CHECK(std::regex_match(text, pattern));
  }
}

/// A number of some decimal digits, sometimes followed by many zeros.
std::int64_t some_integer(std::mt19937_64& random) {
  auto value = static_cast<std::int64_t>(random() >> (1 + random() % 62));
  for (std::uint64_t zeros = random() % 12; zeros > 0 && value < INT64_MAX / 10; --zeros) value *= 10;
  return value;
}

/// Half the values are short decimals, half have all 53 bits.
double some_double(std::mt19937_64& random, int min_exponent, int max_exponent) {
  const int exponent =
      min_exponent + static_cast<int>(random() % static_cast<std::uint64_t>(max_exponent - min_exponent));
  const double digits =
      random() % 2 == 0 ? static_cast<double>(random() % 10'000) : static_cast<double>(random() >> 11);
  return digits * std::pow(10.0, exponent);
}

TEST_CASE("property: a printed text parses to the same value") {
  check_round_trip<Time>([](auto& random) { return Time::nanoseconds(some_integer(random)); });
  check_round_trip<Bytes>([](auto& random) { return Bytes{some_integer(random)}; });
  check_round_trip<ByteRate>([](auto& random) { return ByteRate{some_double(random, -10, 20)}; });
  check_round_trip<TimePerByte>([](auto& random) { return TimePerByte{some_double(random, -30, 10)}; });
}

}  // namespace
}  // namespace contend
