// Files that verbs write for users, and folders that verbs make for them.

#include "text/own_files.hpp"
#include "tests/complaint_lines.hpp"
#include "tests/temporary_folder.hpp"
#include "tests/text_checks.hpp"
#include "text/new_folder.hpp"
#include "text/sha256.hpp"

#include <filesystem>
#include <string>
#include <thread>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/format.h>

using namespace contend;
namespace fs = std::filesystem;

namespace {

/// Why a file must not be written; empty if it may be.
std::string refusal(const std::string& path) {
  try {
    refuse_foreign_file(path);
  } catch (const InputError& error) {
    return error.what();
  }
  return {};
}

}  // namespace

TEST_SUITE_BEGIN("text");

TEST_CASE("a file is replaced only if contend has written it and nobody has changed it since") {
  const TemporaryFolder folder;
  const std::string path = folder.path("a table.csv");
  CHECK(refusal(path).empty());
  write_own_file(path, "one\n");
  CHECK(read_file(path) == "one\n");
  CHECK(read_file(folder.path(".contend-written")) == sha256_hex("one\n") + "  a table.csv\n");
  write_own_file(path, "two\n");
  CHECK(read_file(path) == "two\n");
  write_own_file(path, "two\n");  // a content is listed once
  CHECK(read_file(folder.path(".contend-written")) ==
        sha256_hex("one\n") + "  a table.csv\n" + sha256_hex("two\n") + "  a table.csv\n");

  write_file(path, "two, and a note\n");
  CHECK(contains(refusal(path),
                 "a table.csv: this file would be overwritten, and it was changed after contend has "
                 "written it; write to another file, or move this one away"));
  CHECK_THROWS_AS(write_own_file(path, "three\n"), InputError);
  CHECK(read_file(path) == "two, and a note\n");
  write_file(path, "one\n");  // what contend has written there before
  CHECK(refusal(path).empty());

  // Of another name with the content of a file of contend nobody knows who has written it.
  fs::copy_file(path, folder.path("table.csv"));
  CHECK(contains(refusal(folder.path("table.csv")), "contend has not written it"));
  fs::remove(folder.path(".contend-written"));
  CHECK(contains(refusal(path), "contend has not written it: " + folder.path(".contend-written") + " doesn't list it"));
  CHECK(contains(refusal(folder.path(".contend-written")), "is the list of the files that contend has written"));
}

TEST_CASE(
    "no link is followed, none is a list, a list that is cut off is no harm, and streams are as the caller says") {
  const TemporaryFolder folder;
  write_file(folder.path("theirs"), "mine\n");
  fs::create_symlink(folder.path("theirs"), folder.path("link"));
  fs::create_symlink(folder.path("nowhere"), folder.path("dangling"));
  CHECK(contains(refusal(folder.path("link")), "can't be written: it is a symbolic link to \"" + folder.path("theirs") +
                                                   "\"; write to that file by its own name, or remove the link"));
  CHECK(contains(refusal(folder.path("dangling")),
                 "it is a symbolic link to \"" + folder.path("nowhere") + "\", which doesn't exist; remove the link"));
  CHECK_THROWS_AS(write_own_file(folder.path("dangling"), "x"), InputError);
  CHECK(!fs::exists(folder.path("nowhere")));
  CHECK(contains(refusal(folder.path("")), "can't be written: it is a folder"));
  CHECK(refusal("/dev/stdout").empty());
  write_own_file("/dev/null", "gone");

  // Where the list can't be, nothing is written: the next verb would take the file for somebody else's.
  const std::string list = folder.path(".contend-written");
  fs::create_symlink(folder.path("theirs"), list);
  CHECK(contains(refusal(folder.path("unlisted")), list + ": is no list of the files that contend has written"));
  CHECK_THROWS_AS(write_own_file(folder.path("unlisted"), "x"), InputError);
  CHECK(read_file(folder.path("theirs")) == "mine\n");
  fs::remove(list);
  fs::create_directory(list);
  CHECK(contains(refusal(folder.path("unlisted")), list + ": is no list of the files that contend has written"));
  CHECK(!fs::exists(folder.path("unlisted")));
  fs::remove(list);
  write_file(folder.path(".contend-written"), "0123");  // as after a full disk
  write_own_file(folder.path("listed"), "x");
  CHECK(refusal(folder.path("listed")).empty());
}

TEST_CASE("a file of somebody else that has the name of the list is refused and stays as it is") {
  const TemporaryFolder folder;
  const std::string list = folder.path(".contend-written"), digest(64, 'a');
  for (const std::string& text : {std::string{"my notes\n"}, std::string{"0123  a table.csv\n"}, digest + "b  long\n",
                                  digest + " one blank\n", "\n" + digest + "  a\nbut then this\n"}) {
    INFO(text);
    write_file(list, text);
    CHECK(contains(refusal(folder.path("a")),
                   list + ": is no list of the files that contend has written, which has to be at this place"));
    CHECK_THROWS_AS(write_own_file(folder.path("a"), "x"), InputError);
    CHECK_FALSE(fs::exists(folder.path("a")));
    CHECK(read_file(list) == text);
  }
  for (const std::string& cut :
       {std::string{}, std::string{"0123\n"}, digest, digest + " ", digest + "  a\n\n" + digest}) {
    INFO(cut);
    write_file(list, cut);
    CHECK(refusal(folder.path("a")).empty());
  }
}

TEST_CASE("of several files none is written if one must not be, and a file that appears meanwhile stays") {
  const TemporaryFolder folder;
  write_file(folder.path("b"), "mine\n");
  const std::vector<WrittenFile> files{{folder.path("a"), "1"}, {folder.path("b"), "2"}};
  CHECK_THROWS_AS(write_own_files(files), InputError);
  CHECK(!fs::exists(folder.path("a")));
  {
    OwnFile slow{folder.path("c")};
    write_file(slow.path(), "late");
    write_file(folder.path("c"), "mine\n");
    CHECK_THROWS_AS(slow.commit(), InputError);
  }
  CHECK(read_file(folder.path("c")) == "mine\n");
  CHECK(std::distance(fs::directory_iterator{folder.path("")}, fs::directory_iterator{}) == 2);
}

TEST_CASE("verbs that write into one folder at the same time lose no line of its list") {
  const TemporaryFolder folder;
  {
    std::vector<std::jthread> writers;
    for (int i = 0; i < 8; ++i)
      writers.emplace_back([&, i] {
        for (int k = 0; k < 20; ++k) write_own_file(folder.path(fmt::format("{}-{}", i, k)), fmt::format("{}\n", k));
      });
  }
  for (int i = 0; i < 8; ++i)
    for (int k = 0; k < 20; ++k) CHECK(refusal(folder.path(fmt::format("{}-{}", i, k))).empty());
}

TEST_CASE("a new folder goes again with the parents that it made, unless something is in it") {
  const TemporaryFolder folder;
  { const NewFolders made{folder.path("a/b/c/")}; }
  CHECK(!fs::exists(folder.path("a")));
  fs::create_directory(folder.path("a"));
  { const NewFolders made{folder.path("a/b")}; }
  CHECK(fs::exists(folder.path("a")));
  CHECK(!fs::exists(folder.path("a/b")));
  {
    NewFolders several;
    for (const char* each : {"x/y/1", "x/y/2", "x/z"}) several.make(folder.path(each));
  }
  CHECK(!fs::exists(folder.path("x")));
  {
    const NewFolders made{folder.path("a/b/c")};
    write_file(folder.path("a/b/kept"), "x");
  }
  CHECK(fs::exists(folder.path("a/b/kept")));
  CHECK(!fs::exists(folder.path("a/b/c")));

  fs::create_symlink(folder.path("nowhere"), folder.path("dangling"));
  fs::create_symlink(folder.path("a"), folder.path("link"));
  { const NewFolders made{folder.path("link/d")}; }
  CHECK(fs::exists(folder.path("a/b")));
  const auto why = [&](const std::string& name) {
    return complaint_lines([&] { static_cast<void>(make_folder(folder.path(name))); });
  };
  for (const char* name : {"dangling", "dangling/x"})
    CHECK(contains(why(name), folder.path("dangling") + ": can't be made a folder: it is a symbolic link to \"" +
                                  folder.path("nowhere") +
                                  "\", which doesn't exist; make that folder, or remove the link"));
  CHECK(contains(why("a/b/kept/x"), "kept: can't be made a folder: there is a file of this name"));
  CHECK(!fs::exists(folder.path("nowhere")));
}
