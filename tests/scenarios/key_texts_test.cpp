// What keys, and members of entries of training and serving, are for: each has a text, and each text is of one of them.

#include "scenarios/keys/data_codec.hpp"
#include "scenarios/keys/federated_codec.hpp"
#include "scenarios/keys/key_tables.hpp"
#include "scenarios/keys/parallel_codec.hpp"
#include "scenarios/keys/power_row_codec.hpp"
#include "scenarios/keys/recording_codec.hpp"
#include "scenarios/keys/rl_codec.hpp"
#include "scenarios/keys/serving_codec.hpp"
#include "scenarios/keys/training_codec.hpp"
#include "sim/fields.hpp"

#include <set>
#include <string>

#include <doctest/doctest.h>

using namespace contend;

TEST_CASE("each line of texts.txt is of a key or a member, and each of these but `optimizer` has one") {
  std::set<std::string> known;
  for (const ScenarioKey& key : scenario_keys()) {
    CHECK(key.text == key_text(key.path));
    known.emplace(key.path);
  }
  for (const MemberText& each : training_members()) {
    CHECK_MESSAGE(!each.text.empty(), each.name);
    if (each.name != "optimizer") known.insert("training.*." + each.name);  // it names all optimizers
  }
  for (const MemberText& each : parallel_members()) known.insert("training.*.parallel." + each.name);
  for (const MemberText& each : data_members()) known.insert("training.*.data." + each.name);
  for (const MemberText& each : recording_members()) known.insert("training.*.recording." + each.name);
  for (const MemberText& each : serving_members()) known.insert("serving.*." + each.name);
  for (const MemberText& each : power_row_members()) known.insert("power_rows.*." + each.name);
  for (const MemberText& each : rl_members()) known.insert("rl.*." + each.name);
  for (const MemberText& each : federated_members()) known.insert("federated.*." + each.name);
  const NamedTexts texts{key_texts()};
  std::set<std::string> described;
  for (const auto& each : texts.all()) {
    CHECK_MESSAGE(!each.second.empty(), each.first);
    described.emplace(each.first);
  }
  CHECK(described == known);
}
