// A communication policy in another process. It hears which messages the servers of a new message carry, and answers
// which of them accept it.

#include "policies/external/dialogue.hpp"
#include "policies/registry.hpp"
#include "sim/error.hpp"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <vector>

#include <fmt/core.h>

namespace contend {

namespace {

class ExternalCommunication final : public CommunicationPolicy {
 public:
  ExternalCommunication(const Parameters& parameters, const PolicyContext& context)
      : dialogue_{"communication", parameters, context} {}

  [[nodiscard]] PolicyKey key(const JobView& job) const override {
    open();
    return key_of(order_, job);
  }

  [[nodiscard]] bool may_start(const TransferRequest& request, ServerId server,
                               const NetworkView& network) const override {
    // The engine asks server by server until one refuses; all are asked in one question.
    const bool goes_on = next_ > 0 && next_ < servers_.size() && servers_[next_] == server && job_ == request.job &&
                         bytes_ == request.all_bytes() && std::ranges::equal(servers_, request.servers);
    if (!goes_on) ask(request, network);
    const auto at = static_cast<std::size_t>(std::ranges::find(servers_, server) - servers_.begin());
    const bool accepts = at < accepts_.size() && accepts_[at];
    next_ = accepts ? at + 1 : 0;
    return accepts;
  }

 private:
  void open() const {
    const Answer* const terms = dialogue_.hello({"order"});
    if (terms != nullptr) dialogue_.guard([&] { order_ = terms->order(); });
  }

  /// Asks whether the servers of the request accept it now. After a failure none does.
  void ask(const TransferRequest& request, const NetworkView& network) const {
    open();
    job_ = request.job;
    bytes_ = request.all_bytes();
    servers_.assign(request.servers.begin(), request.servers.end());
    accepts_.assign(servers_.size(), false);
    JsonWriter json{JsonWriter::Layout::line};
    json.begin_object().member("type", "admit").member("job", std::uint64_t{job_.value()});
    json.member("bytes", bytes_.count()).member("ranks", request.ranks);
    json.member("collective", request.kind == OpKind::collective);
    json.key("servers").begin_array();
    for (const ServerId server : servers_) {
      active_.clear();
      network.active(server, active_);
      json.begin_array().value(std::uint64_t{server.value()}).begin_array();
      for (const ActiveTransfer& each : active_)
        json.begin_array().value(std::uint64_t{each.job.value()}).value(each.remaining_bytes).end_array();
      json.end_array().end_array();
    }
    json.end_array().end_object();
    const std::optional<Answer> answer = dialogue_.ask(json, {"accept"}, job_);
    if (!answer) return;
    dialogue_.guard([&] {
      std::vector<bool> accepts = answer->flags("accept");
      if (accepts.size() != servers_.size())
        throw InputError{fmt::format("answered nonsense: `accept` must have {} items, one for each server, and has {}",
                                     servers_.size(), accepts.size())};
      accepts_ = std::move(accepts);
    });
  }

  // Asking changes nothing that decides; what is mutable here is the conversation and its last answer.
  mutable Dialogue dialogue_;
  mutable ExternalOrder order_ = ExternalOrder::submit;
  mutable JobId job_;
  mutable Bytes bytes_;
  mutable std::vector<ServerId> servers_;
  mutable std::vector<bool> accepts_;  // by index into `servers_`
  mutable std::size_t next_ = 0;       // index of the server that the engine asks next; 0: a new question
  mutable std::vector<ActiveTransfer> active_;
};

}  // namespace

PolicyRow<CommunicationPolicy> external_communication() {
  return {.name = "external",
          .summary = "a program of the user decides, in any language (docs/howto/external-policy.md)",
          .source = "this project",
          .parameters = external_parameters(),
          .make = make_own<CommunicationPolicy, ExternalCommunication>,
          .is_outside = true};
}

}  // namespace contend
