#include "results/transfer_rows.hpp"

#include <doctest/doctest.h>

#include <array>
#include <string>

namespace contend {

TEST_CASE("rows of transfers") {
  std::array<JobSpec, 2> jobs;
  jobs[0].name = "a";
  jobs[1].name = "b,c";
  TransferRows rows{7, jobs};
  const auto ms = [](std::int64_t n) { return Time::milliseconds(n); };
  const TransferId one{0U}, other{1U};

  rows.link(0, 1e9, {}, 0);
  LoggedRoute route;
  route.job = JobId{1U};
  route.lane = LoggedRoute::Lane::interfaces;
  route.start_up = ms(1);
  route.bytes = route.message = 2e6;
  route.alone = 1e9;
  route.penalty = 0.25;
  route.servers = {ServerId{3U}, ServerId{0U}, ServerId{1U}};
  CHECK(rows.route(route) == 0);
  LoggedRoute step;
  step.job = JobId{0U};
  step.is_first = false;
  step.cap = 5;
  step.uses.push_back({4, 1});
  step.uses.push_back({5, 0.5});
  CHECK(rows.route(step) == 1);

  CHECK_FALSE(rows.is_open(one));
  rows.begins(one, 0, ms(10), 0);
  CHECK(rows.is_open(one));
  rows.sends(one, ms(10), 5e8);
  rows.sends(one, ms(10), 1e9);  // what counts is the last rate of an instant
  rows.sends(one, ms(11), 1e9);  // no change
  rows.sends(one, ms(12), 2.5e8);
  rows.begins(other, 1, ms(12), 8);
  rows.ends(one, ms(20), TransferLog::End::cancelled);
  rows.repeats(JobId{1U}, ms(5), ms(25), 10);
  rows.changes(0, ms(30), 0);
  rows.repeats(JobId{1U}, ms(5), ms(25), -4);  // the last ones don't happen

  CHECK(std::string{transfers_header()} ==
        "replica,event,number,starts_s,ends_s,rates,bytes,job_id,servers,links,text\n");
  CHECK(rows.take(ms(40)) ==
        "7,link,0,,,1000000000,,,,,\n"
        "7,route,0,0.001,,1000000000,2000000,\"b,c\",0-1 3,,lane=interfaces penalty=0.25\n"
        "7,route,1,0,,,0,a,,4 5:0.5,lane=links follows=1 cap=5\n"
        "7,sends,0,0.01,0.02,1000000000 0.012=250000000,,,,,cancelled\n"
        "7,repeats,6,0.005,0.025,,,\"b,c\",,, \n"
        "7,changes,0,0.03,,0,,,,,\n"
        "7,sends,1,0.012,0.04,,8,,,,goes on\n");
}

}  // namespace contend
