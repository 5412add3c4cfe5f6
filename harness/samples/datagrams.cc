#include "harness/samples/datagrams.h"

#include <fmt/format.h>

#include <string>
#include <utility>

#include "harness/base/words.h"
#include "harness/samples/fields.h"

namespace wiretoll {
namespace {

using MaybeCount = std::optional<std::int64_t>;

std::string WhyEmpty(const EndReport& end, const std::string& field) {
  const auto why = end.why_null.find("datagrams." + field);
  return why == end.why_null.end() ? "not observed" : why->second;
}

Failure DoesNotAddUp(std::string message) {
  return {ExitCode::kNothingRan, std::move(message)};
}

// What makes the sum, or which end did not count it.
Outcome<Datagrams> Counted(const EndReport& sender, const EndReport& receiver) {
  const MaybeCount sent =
      sender.datagrams ? sender.datagrams->sent : MaybeCount{};
  if (!sent) {
    return DoesNotAddUp(
        fmt::format("sender {} did not tell how many datagrams it sent: {}",
                    sender.host, WhyEmpty(sender, "sent")));
  }
  const MaybeCount received =
      receiver.datagrams ? receiver.datagrams->received : MaybeCount{};
  if (!received) {
    return DoesNotAddUp(
        fmt::format("receiver {} did not tell how many datagrams came: {}",
                    receiver.host, WhyEmpty(receiver, "received")));
  }
  Datagrams datagrams;
  datagrams.sent = *sent;
  datagrams.received = *received;
  datagrams.duplicated = receiver.datagrams->duplicated;
  return datagrams;
}

std::string MoreCame(const Datagrams& datagrams, std::int64_t once) {
  return fmt::format(
      "more came than was sent: {} datagrams sent, {} received{}",
      datagrams.sent, once,
      datagrams.duplicated
          ? ", duplicates not counted"
          : "; they are too small for a sequence number, so that duplicates "
            "cannot be told");
}

// Where the lost ones were lost.
void DivideLoss(const EndReport& receiver, Datagrams& datagrams) {
  const MaybeCount drops = receiver.datagrams->receive_buffer_drops;
  if (!drops) {
    return AddClause("where datagrams were lost is not known: " +
                         WhyEmpty(receiver, "receive_buffer_drops"),
                     datagrams.reason);
  }
  if (*drops > datagrams.lost) {
    return AddClause(
        fmt::format("the receiver's buffer dropped {}, more than the {} lost: "
                    "duplicates or others' datagrams were among them, so that "
                    "where datagrams were lost is not known",
                    *drops, datagrams.lost),
        datagrams.reason);
  }
  datagrams.lost_at_receiver = drops;
  datagrams.lost_on_path = datagrams.lost - *drops;
}

void TakeOrder(const EndReport& receiver, Datagrams& datagrams) {
  datagrams.reordered = receiver.datagrams->reordered;
  datagrams.late = receiver.datagrams->late;
  if (!datagrams.duplicated) {
    AddClause("duplicates are not told, and would hide losses: " +
                  WhyEmpty(receiver, "duplicated"),
              datagrams.reason);
  } else if (!datagrams.reordered) {
    AddClause("order is not told: " + WhyEmpty(receiver, "reordered"),
              datagrams.reason);
  }
}

}  // namespace

std::int64_t Total(const NotSent& not_sent) {
  std::int64_t total = 0;
  for (const auto& field : kNotSentFields) total += not_sent.*field.member;
  return total;
}

Outcome<Datagrams> AccountDatagrams(const EndReport& sender,
                                    const EndReport& receiver) {
  Outcome<Datagrams> counted = Counted(sender, receiver);
  if (!counted.has_value()) return counted;
  Datagrams& datagrams = counted.value();
  const std::int64_t once =
      datagrams.received - datagrams.duplicated.value_or(0);
  if (once < 0) {
    return DoesNotAddUp(
        fmt::format("receiver {} counts {} duplicates among {} datagrams",
                    receiver.host, *datagrams.duplicated, datagrams.received));
  }
  if (once > datagrams.sent) return DoesNotAddUp(MoreCame(datagrams, once));
  datagrams.lost = datagrams.sent - once;
  if (sender.datagrams->not_sent) {
    datagrams.not_sent = Total(*sender.datagrams->not_sent);
  } else {
    AddClause("what was not sent is not told: " + WhyEmpty(sender, "not_sent"),
              datagrams.reason);
  }
  TakeOrder(receiver, datagrams);
  DivideLoss(receiver, datagrams);
  return counted;
}

}  // namespace wiretoll
