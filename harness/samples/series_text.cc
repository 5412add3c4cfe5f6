// The agent's too, so without libraries.
#include <charconv>
#include <limits>

#include "harness/samples/series.h"

namespace wiretoll {
namespace {

void AppendCount(std::int64_t count, std::string& text) {
  std::array<char, std::numeric_limits<std::int64_t>::digits10 + 2> digits{};
  const auto [end, error] =
      std::to_chars(digits.data(), digits.data() + digits.size(), count);
  text.append(digits.data(), end);
}

void AppendLine(std::string_view end, const SeriesMoment& moment,
                std::string& text) {
  text.append(end).append(",");
  AppendCount(moment.at_ns, text);
  const TcpMoment& tcp = moment.tcp;
  text.append(",").append(kTcpStateNames[static_cast<std::size_t>(tcp.state)]);
  text.append(",").append(
      kLossStateNames[static_cast<std::size_t>(tcp.loss_state)]);
  for (const MomentField& field : kMomentFields) {
    text += ',';
    if (const auto& figure = tcp.*field.member) AppendCount(*figure, text);
  }
  text += '\n';
}

}  // namespace

std::string SeriesHead() {
  std::string head = "end,at_ns,state,loss_state";
  for (const MomentField& field : kMomentFields) {
    head.append(",").append(field.name);
  }
  return head;
}

std::string EndSeriesText(std::string_view end,
                          const std::vector<SeriesMoment>& moments) {
  std::string text;
  for (const SeriesMoment& moment : moments) AppendLine(end, moment, text);
  return text;
}

std::string SeriesText(const TimeSeries& series) {
  return SeriesHead()
      .append("\n")
      .append(EndSeriesText("sender", series.sender))
      .append(EndSeriesText("receiver", series.receiver));
}

}  // namespace wiretoll
