#include "calibration/device_watch.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace contend {

void DeviceWatch::look(std::string_view during) {
  contend_device_state state{};
  if (backend_.state(&state) != CONTEND_OK) return;
  ++looks_;
  power_.look(state.power_limited_s);
  heat_.look(state.heat_limited_s);
  if (state.throttled != 0) {
    if (++throttled_ == 1) {
      throttled_during_ = during;
      throttle_reason_ = state.throttle[0] == '\0' ? "no reason given" : state.throttle;
    }
    if (state.clock_mhz > 0)
      lowest_clock_ = lowest_clock_ > 0 ? std::min(lowest_clock_, state.clock_mhz) : state.clock_mhz;
    highest_temperature_ = std::max(highest_temperature_, state.temperature_c);
  }
  if (state.other_processes > 0) {
    if (++shared_ == 1) shared_during_ = during;
    most_others_ = std::max(most_others_, state.other_processes);
  }
}

std::vector<std::string> DeviceWatch::warnings() const {
  std::vector<std::string> out;
  if (throttled_ > 0) {
    std::string text = fmt::format("the clock was held down ({}) at {} of {} looks, first during {}", throttle_reason_,
                                   throttled_, looks_, throttled_during_);
    if (lowest_clock_ > 0) text += fmt::format("; down to {:.0f} MHz", lowest_clock_);
    if (highest_temperature_ > 0) text += fmt::format("; up to {:.0f} C", highest_temperature_);
    out.push_back(std::move(text));
  }
  constexpr double kNoticed = 0.01;
  if (heat_.seconds() > kNoticed) out.push_back(fmt::format("heat held the clock down for {:.2g} s", heat_.seconds()));
  if (shared_ > 0)
    out.push_back(fmt::format("others used the device at {} of {} looks, first during {}; up to {} processes", shared_,
                              looks_, shared_during_, most_others_));
  return out;
}

}  // namespace contend
