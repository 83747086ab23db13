// Builds the LSTM language models of Zaremba et al., "Recurrent neural network regularization" (arXiv 1409.2329),
// section 4.1: embedding, two LSTM layers and a softmax over 10,000 words of the Penn Treebank, weights not tied.

#include "models/catalogue/architectures.hpp"
#include "models/catalogue/builder.hpp"

#include <fmt/core.h>

namespace contend {

LayerTable lstm_language_model(const LstmLanguageModel& model, std::int64_t sequence_length) {
  NetworkBuilder net{model.name, "arXiv 1409.2329, section 4.1", fmt::format("sequence of {} words", sequence_length)};
  Feature x = net.embedding("encoder", model.vocabulary, model.hidden, sequence_length);
  x = net.activation("dropout", x);
  for (int i = 0; i < model.layers; ++i) {
    x = net.lstm(fmt::format("rnn.{}", i), x, model.hidden, model.biases);
    x = net.activation(fmt::format("rnn.{}.dropout", i), x);
  }
  net.linear("decoder", x, model.vocabulary, Bias::yes);
  return net.take();
}

}  // namespace contend
