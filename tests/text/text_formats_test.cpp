// Tests the formats under the readers and writers: decimals, CSV, JSON and SHA-256.

#include "sim/error.hpp"
#include "text/csv.hpp"
#include "text/decimal.hpp"
#include "text/decimal_places.hpp"
#include "text/json_writer.hpp"
#include "text/printable.hpp"
#include "text/sha256.hpp"

#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <string>
#include <string_view>

#include <doctest/doctest.h>

using namespace contend;

TEST_CASE("decimals are read exactly, without binary fractions") {
  const auto ns = [](const char* seconds) { return parse_scaled(seconds, 9).value; };
  CHECK(ns("0.1") == 100'000'000);
  CHECK(ns("12.345678901") == 12'345'678'901);
  CHECK(ns("9007199.254740993") == 9'007'199'254'740'993);  // not a double
  CHECK(ns("-0.25") == -250'000'000);
  CHECK(ns("1.5e3") == 1'500'000'000'000);
  CHECK(ns("25E-1") == 2'500'000'000);
  CHECK(ns("1e+2") == 100'000'000'000);
  CHECK(ns(".5") == 500'000'000);
  CHECK(ns("0.0000000004") == 0);
  CHECK(ns("0.0000000005") == 1);  // half a nanosecond rounds away from zero
  CHECK(ns("1e-2000000000") == 0);
  for (const char* text : {"0.0000000005", "1.0000000001", "1e-10", "12.3456789010001", "1e-2000000000"})
    CHECK_MESSAGE(has_more_decimals(text, 9), text);
  for (const char* text :
       {"0", "0.0000000000", "1.0000000010000", "1.5e-8", "100e-10", "7", "0e-2000000000", "1200", "abc"})
    CHECK_MESSAGE(!has_more_decimals(text, 9), text);
  CHECK(parse_scaled("0e2000000000", 9).error == DecimalError::none);
  CHECK(parse_scaled("1e2000000000", 9).error == DecimalError::overflow);
  CHECK(parse_scaled("9223372036.854775807", 9).value == std::numeric_limits<std::int64_t>::max());
  CHECK(parse_scaled("9223372036.8547758075", 9).error == DecimalError::overflow);
  for (const char* text : {"", " 1", "1 ", "+1", ".", "-", "nan", "inf", "0x10", "1,5", "1e", "1e++2", "1e5.0", "--1"})
    CHECK_MESSAGE(parse_scaled(text, 9).error == DecimalError::not_a_number, text);
  CHECK(parse_integer("12").value == 12);
  CHECK(parse_integer("1.0").error == DecimalError::not_a_number);
  CHECK(parse_integer("9223372036854775808").error == DecimalError::overflow);
}

TEST_CASE("messages show bytes that a terminal would obey, or could not show, as numbers") {
  CHECK(printable_text("a\tb\nc é ✓ \xf0\x9f\x98\x80") == "a\tb\nc é ✓ \xf0\x9f\x98\x80");
  CHECK(printable_text("\x1b[31m\r\x7f") == "\\x1b[31m\\x0d\\x7f");
  CHECK(printable_text(std::string_view{"\0x", 2}) == "\\x00x");
  CHECK(printable_text("\xff\xc3") == "\\xff\\xc3");
  CHECK(printable_text("\xc2\x9b"
                       "1m") == "\\xc2\\x9b1m");  // a control character of two bytes
  CHECK(printable_text("").empty());
}

TEST_CASE("decimals of any length are read exactly or are too large") {
  // The 19th digit is the first that may not fit.
  CHECK(parse_scaled("9223372036854775807", 0).value == std::numeric_limits<std::int64_t>::max());
  CHECK(parse_scaled("9223372036854775808", 0).error == DecimalError::overflow);
  CHECK(parse_scaled("9999999999999999999", 0).error == DecimalError::overflow);
  CHECK(parse_scaled("-9999999999999999999.5", 3).error == DecimalError::overflow);
  CHECK(parse_scaled("0000000000000000000012", 0).value == 12);
  std::mt19937_64 random{19};
  const auto below = [&](std::uint64_t count) { return static_cast<int>(random() % count); };
  for (int round = 0; round < 20'000; ++round) {
    const int length = 1 + below(24), behind = below(static_cast<std::uint64_t>(length)), decimals = below(10);
    const bool negative = below(2) == 1;
    // Digits behind the last that counts: the first of them rounds.
    Int128 exact = 0;
    bool rounds_up = false;
    std::string text = negative ? "-" : "";
    for (int i = 0; i < length; ++i) {
      const int digit = below(3) == 0 ? 9 : below(10), place = i - (length - behind);
      if (place == 0) text += '.';
      text += static_cast<char>('0' + digit);
      if (place < decimals) exact = exact * 10 + digit;
      if (place == decimals) rounds_up = digit >= 5;
    }
    for (int i = behind; i < decimals; ++i) exact *= 10;
    exact += rounds_up ? 1 : 0;
    const ScaledDecimal read = parse_scaled(text, decimals);
    CAPTURE(text);
    CAPTURE(decimals);
    const bool fits = exact <= std::numeric_limits<std::int64_t>::max();
    REQUIRE((read.error == DecimalError::none) == fits);
    REQUIRE(Int128{read.value} == (fits ? (negative ? -exact : exact) : Int128{0}));
  }
}

TEST_CASE("seconds are exact and short, and read back") {
  CHECK(format_seconds(Time::nanoseconds(12'345'678'901)) == "12.345678901");
  CHECK(format_seconds(Time::seconds(7)) == "7");
  CHECK(format_seconds(Time::milliseconds(1050)) == "1.05");
  CHECK(format_seconds(Time::nanoseconds(-1)) == "-0.000000001");
  CHECK(format_seconds(Time{}) == "0");
  CHECK(format_seconds(GpuTime{Time::nanoseconds(INT64_MIN), 1}) == "-9223372036.854775808");
  CHECK(format_seconds(GpuTime{Time::nanoseconds(5'000'000'000'000'000'001), 16'384}) == "81920000000000.000016384");
  for (const std::int64_t ns :
       {std::numeric_limits<std::int64_t>::max(), std::int64_t{1}, std::int64_t{-1'500'000'000}})
    CHECK(parse_scaled(format_seconds(Time::nanoseconds(ns)), 9).value == ns);
  CHECK(format_seconds(Time::nanoseconds(std::numeric_limits<std::int64_t>::min())) == "-9223372036.854775808");
}

TEST_CASE("CSV with quotes, CRLF, blank lines and a byte order mark") {
  const CsvTable table = parse_csv(
      "\xEF\xBB\xBF"
      "a,b\r\n1,\"x, \"\"y\"\"\nz\"\r\n\r\n,last",
      "f.csv");
  CHECK(table.header == std::vector<std::string>{"a", "b"});
  REQUIRE(table.rows.size() == 2);
  CHECK(table.rows[0].fields == std::vector<std::string>{"1", "x, \"y\"\nz"});
  CHECK(table.rows[1].fields == std::vector<std::string>{"", "last"});
  CHECK(table.rows[1].line == 5);

  std::string written;
  append_csv_field(written, "x, \"y\"\nz");
  CHECK(written == "\"x, \"\"y\"\"\nz\"");
  CHECK(parse_csv("h\n" + written, "f").rows[0].fields[0] == "x, \"y\"\nz");
}

TEST_CASE("CSV: a spreadsheet runs no text, and any text reads back as it was") {
  const auto written = [](std::string_view field) {
    std::string out;
    append_csv_field(out, field);
    return out;
  };
  CHECK(written("=1+1") == "'=1+1");
  CHECK(written("+cmd") == "'+cmd");
  CHECK(written("-cmd") == "'-cmd");
  CHECK(written("@SUM(A1)") == "'@SUM(A1)");
  CHECK(written("\tx") == "'\tx");
  CHECK(written("\r=x") == "\"'\r=x\"");
  CHECK(written("=HYPERLINK(\"a\",B1)") == "\"'=HYPERLINK(\"\"a\"\",B1)\"");
  for (const char* plain : {"", "-5", "-0.25", "-1.5e-07", "7", "a=b", "job-1", "'", "'quoted'", " =1"})
    CHECK(written(plain) == plain);

  const std::vector<std::string> fields{"=1", "'=1", "''=1", "-5", "'-5", "-x", "'-x",    "@",   "+1",
                                        "\t", "'\t", "\r\n", "'",  "''",  "'a", "\"=1\"", "-1e", "=1,2"};
  std::string row;
  for (const std::string& field : fields) {
    if (!row.empty()) row += ',';
    append_csv_field(row, field);
  }
  std::string header;
  for (std::size_t i = 0; i < fields.size(); ++i) header += (i > 0 ? ",c" : "c") + std::to_string(i);
  CHECK(parse_csv(header + "\n" + row, "f").rows.at(0).fields == fields);
}

TEST_CASE("CSV errors name the line; independent errors are reported together") {
  const auto message = [](const char* text) {
    try {
      static_cast<void>(parse_csv(text, "f.csv"));
    } catch (const InputError& error) {
      return std::string{error.what()};
    }
    return std::string{};
  };
  CHECK(message("a,b\n1\n1,2\n1,2,3\n") ==
        "f.csv:2: expected 2 fields as in the header, got 1\nf.csv:4: expected 2 fields as in the header, got 3");
  CHECK(message("") == "f.csv: the file is empty; expected a header line");
  CHECK(message("a\n\"open\nstill") == "f.csv:2: a quote is never closed");
  CHECK(message("a\nx\"y\n").starts_with("f.csv:2: a quote inside"));
  CHECK(message("a\n\"x\"y\n").starts_with("f.csv:2: text after"));
}

TEST_CASE("JSON: escapes, shortest doubles, null for NaN and infinity") {
  JsonWriter json;
  json.begin_object().member("text", "a\"\\\n\t\x01\xC3\xA9\xFF").member("tenth", 0.1).member("nan", std::nan(""));
  json.key("list").begin_array().value(1).value(true).end_array();
  json.key("empty").begin_array().end_array().end_object();
  CHECK(json.take() ==
        "{\n  \"text\": \"a\\\"\\\\\\n\\t\\u0001\xC3\xA9\xEF\xBF\xBD\",\n  \"tenth\": 0.1,\n  \"nan\": null,\n"
        "  \"list\": [\n    1,\n    true\n  ],\n  \"empty\": []\n}\n");
}

TEST_CASE("JSON: text that is UTF-8 stays as it is, of the rest each byte becomes U+FFFD") {
  const auto written = [](std::string_view text) {
    std::string out;
    append_json_string(out, text);
    return out.substr(1, out.size() - 2);
  };
  // The first and the last of two, three and four bytes, and the neighbours of the surrogates.
  for (const char* text : {"\xC2\x80", "\xDF\xBF", "\xE0\xA0\x80", "\xED\x9F\xBF", "\xEE\x80\x80", "\xEF\xBF\xBF",
                           "\xF0\x90\x80\x80", "\xF4\x8F\xBF\xBF", "\x7F"})
    CHECK(written(text) == text);
  // Overlong forms, surrogates, beyond U+10FFFF, bytes that begin nothing, and sequences that break off.
  for (const std::string text :
       {"\xC1\xBF", "\xE0\x9F\xBF", "\xED\xA0\x80", "\xED\xBF\xBF", "\xF0\x8F\xBF\xBF", "\xF4\x90\x80\x80",
        "\xF5\x80\x80\x80", "\x80", "\xFF", "\xC2", "\xE1\x80", "\xF1\x80\x80"}) {
    std::string replaced;
    for (std::size_t i = 0; i < text.size(); ++i) replaced += "\xEF\xBF\xBD";
    CHECK(written(text) == replaced);
  }
  // What follows a broken sequence is read again.
  CHECK(written("\xE1\x80z") == "\xEF\xBF\xBD\xEF\xBF\xBDz");
  CHECK(written("\xC2\xC2\x80") == "\xEF\xBF\xBD\xC2\x80");
}

TEST_CASE("SHA-256 of the examples of FIPS 180-4") {
  CHECK(sha256_hex("") == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  CHECK(sha256_hex("abc") == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  CHECK(sha256_hex("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq") ==
        "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
  CHECK(sha256_hex(std::string(1'000'000, 'a')) == "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}
