// The drawing of a recorded rank.

#include "report/recording_drawing.hpp"

#include "text/byte_source.hpp"
#include "traces/recording/recording_reader.hpp"

#include <algorithm>
#include <string>

#include <doctest/doctest.h>

using namespace contend;

namespace {

std::size_t count_of(const std::string& text, const std::string& part) {
  std::size_t found = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++found;
  return found;
}

RecordedRank drawn_rank(int kernels) {
  std::string text = R"([{"ph":"X","cat":"user_annotation","name":"ProfilerStep#3","ts":1,"dur":9})";
  for (int i = 0; i < kernels; ++i)
    text += R"(,{"ph":"X","cat":"kernel","name":"k","dur":1,"args":{"device":0,"stream":7},"ts":)" +
            std::to_string(2 * i) + "}";
  text += R"(,{"ph":"X","cat":"gpu_memset","name":"<m>","ts":5,"dur":1,"args":{"device":0,"stream":8}}])";
  TextSource source{text};
  return read_recorded_rank(source, "<a>.json");
}

}  // namespace

TEST_CASE("a lane for each stream, a box for each task that can be seen") {
  const std::string few = recording_svg(drawn_rank(10));
  CHECK(few.find("GPU 0 stream 7") != std::string::npos);
  CHECK(few.find("GPU 0 stream 8") != std::string::npos);
  CHECK(few.find("<title>iteration 3</title>") != std::string::npos);
  CHECK(few.find("&lt;a&gt;.json") != std::string::npos);
  // The background, two in the legend, ten kernels and a set.
  CHECK(count_of(few, "<rect") == 1 + 2 + 10 + 1);
  // Of a hundred thousand kernels each pixel is a column. They run half of the time: a column is half of 22 pixels
  // high.
  const std::string many = recording_svg(drawn_rank(100'000));
  CHECK(count_of(many, "<rect") < 960);
  CHECK(count_of(many, "height=\"11.") + count_of(many, "height=\"10.9") > 700);
}
