#pragma once
// Reads layer logs of B-Caffe (repository shyhuai/B-Caffe, logdata/), the traces of "MG-WFBP" (Shi et al., INFOCOM
// 2019), and tables made from them.
//
// Log: lines of the Google log whose message is a row; other lines are skipped:
//   I0219 13:29:33.944887 66221 distributed.cpp:112] [0, 9408, 15143.7, 1169, 1231]
// A row is [number of the parameter in forward order, elements, backward us, all-reduce us of the layer alone,
// all-reduce us as run (missing without merging)]. The weight and the bias of a layer are two rows, 2n and 2n+1, which
// both give the layer's backward time; it counts once. A file may hold several dumps, each from row 0; the last one is
// read, because the first is taken while training starts. Layers are called layer0, layer1, ...
//
// Table: CSV with layer_idx_forward, params_weight, params_bias, and for each measurement NAME a column bp_us_NAME;
// columns comm_us_... are checked but not used. `select` chooses NAME.

#include "traces/layers/layer_options.hpp"

#include <string>
#include <string_view>

namespace contend {

/// Reads the last dump of a log; uses the options forward_ratio and batch. Throws InputError with every bad row, and
/// for a dump that ends early.
[[nodiscard]] TimedModel parse_bcaffe_log(std::string_view text, const std::string& file,
                                          const LayerReadOptions& options = {});
/// Reads a table; uses the options select, forward_ratio and batch.
[[nodiscard]] TimedModel parse_bcaffe_csv(std::string_view text, const std::string& file,
                                          const LayerReadOptions& options = {});

}  // namespace contend
