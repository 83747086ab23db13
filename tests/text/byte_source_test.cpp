// What may be an input file, and how far compressed data may inflate.

#include "text/byte_source.hpp"

#include "sim/error.hpp"
#include "tests/temporary_folder.hpp"
#include "tests/text_checks.hpp"
#include "text/atomic_file.hpp"

#include <cstdlib>
#include <functional>
#include <string>

#include <doctest/doctest.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

using namespace contend;

namespace {

std::string complaint_of(const std::function<void()>& part) {
  try {
    part();
  } catch (const InputError& error) {
    return error.what();
  }
  return "none";
}

/// A text as the members of a gzip file.
std::string packed(const TemporaryFolder& folder, const std::string& text, int members = 1) {
  const std::string path = folder.path("packed.gz");
  for (int i = 0; i < members; ++i) {
    const gzFile file = ::gzopen(path.c_str(), i == 0 ? "wb" : "ab");
    REQUIRE(::gzwrite(file, text.data(), static_cast<unsigned>(text.size())) == static_cast<int>(text.size()));
    ::gzclose(file);
  }
  return path;
}

/// The variable of the environment, as long as the object is there.
class LimitVariable {
 public:
  explicit LimitVariable(const char* value) { ::setenv("CONTEND_MAX_INFLATED", value, 1); }
  ~LimitVariable() { ::unsetenv("CONTEND_MAX_INFLATED"); }
  LimitVariable(const LimitVariable&) = delete;
  LimitVariable& operator=(const LimitVariable&) = delete;
};

}  // namespace

TEST_CASE("folders, devices and named pipes are no input files") {
  const TemporaryFolder folder;
  const std::string pipe = folder.path("pipe");
  REQUIRE(::mkfifo(pipe.c_str(), 0600) == 0);
  // Without a refusal open() would wait for somebody to write.
  for (const auto& open : {std::function{[](const std::string& path) { static_cast<void>(open_file(path)); }},
                           std::function{[](const std::string& path) { static_cast<void>(read_file(path)); }}}) {
    CHECK(complaint_of([&] { open(pipe); }).starts_with(pipe + ": can't be read: it is a named pipe, expected a file"));
    CHECK(complaint_of([&] { open("/dev/zero"); }) == "/dev/zero: can't be read: it is a device, expected a file");
    CHECK(complaint_of([&] { open("/"); }) == "/: can't be read: it is a folder");
    CHECK(complaint_of([&] { open("/no/such"); }) == "/no/such: can't be read: No such file or directory");
  }
}

TEST_CASE("a pipe that is open already is an input file") {
  int ends[2] = {};
  REQUIRE(::pipe(ends) == 0);
  REQUIRE(::write(ends[1], "text", 4) == 4);
  ::close(ends[1]);
  CHECK(read_file("/dev/fd/" + std::to_string(ends[0])) == "text");
  ::close(ends[0]);
}

TEST_CASE("compressed data inflates to the limit and not a byte further") {
  const TemporaryFolder folder;
  const std::string text(1000, 'x');
  const auto read = [&](const std::string& path, Bytes limit) {
    return read_all(*inflated(*open_bytes(path), path, limit));
  };
  CHECK(read(packed(folder, text), Bytes{1000}) == text);
  CHECK(complaint_of([&] { static_cast<void>(read(packed(folder, text), Bytes{999})); }) ==
        folder.path("packed.gz") +
            ": inflates to more than 999B, the limit for compressed files; decompress it first, or raise the limit: it "
            "is the environment variable CONTEND_MAX_INFLATED, which is 999B now");
  // The limit is the limit of all members together.
  CHECK(contains(complaint_of([&] { static_cast<void>(read(packed(folder, text, 2), Bytes{1999})); }), "more than"));
  CHECK(read(packed(folder, text, 2), Bytes{2000}) == text + text);
  // What is not compressed has no limit.
  write_file(folder.path("plain"), text);
  CHECK(read(folder.path("plain"), Bytes{1}) == text);
}

TEST_CASE("the limit is 4 GiB, or what the environment says") {
  const TemporaryFolder folder;
  CHECK(inflate_limit() == Bytes{std::int64_t{4} << 30});
  const LimitVariable variable{"2KiB"};
  CHECK(inflate_limit() == Bytes{2048});
  CHECK(read_all(*open_file(packed(folder, std::string(2048, 'x')))).size() == 2048);
  const std::string path = packed(folder, std::string(2049, 'x'));
  CHECK(contains(complaint_of([&] { static_cast<void>(read_all(*open_file(path))); }), "more than 2KiB"));
  const LimitVariable no_number{"much"};
  CHECK(complaint_of([] {
          static_cast<void>(inflate_limit());
        }).starts_with("CONTEND_MAX_INFLATED: expected an amount of data such as "));
}
