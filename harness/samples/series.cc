#include "harness/samples/series.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <fstream>
#include <optional>

#include "harness/base/words.h"

namespace wiretoll {
namespace {

std::vector<std::string_view> Cells(std::string_view line) {
  std::vector<std::string_view> cells;
  while (true) {
    const std::size_t comma = line.find(',');
    cells.push_back(line.substr(0, comma));
    if (comma == std::string_view::npos) return cells;
    line.remove_prefix(comma + 1);
  }
}

std::optional<std::int64_t> Count(std::string_view text) {
  std::int64_t number = 0;
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, number);
  if (error != std::errc{} || stop != end || number < 0) return std::nullopt;
  return number;
}

// Sets `out` to the one of `names` that `text` is.
template <class Enum, std::size_t kNames>
bool ReadNamed(std::string_view text,
               const std::array<std::string_view, kNames>& names, Enum& out) {
  const auto* found = std::ranges::find(names, text);
  if (found == names.end()) return false;
  out = static_cast<Enum>(found - names.begin());
  return true;
}

// Which column is what, by its name.
class Columns {
 public:
  // Nothing if the line does not begin as a series does.
  static std::optional<Columns> Of(std::string_view head) {
    constexpr std::string_view kFirst = "end,at_ns,state,loss_state";
    if (!head.starts_with(kFirst)) return std::nullopt;
    Columns columns;
    for (const std::string_view name : Cells(head)) {
      const auto* found =
          std::ranges::find(kMomentFields, name, &MomentField::name);
      columns.fields_.push_back(found == kMomentFields.end() ? nullptr : found);
    }
    return columns;
  }

  // False: it is no line of the series.
  bool Read(std::string_view line, TimeSeries& series) const {
    const auto cells = Cells(line);
    if (cells.size() != fields_.size()) return false;
    if (cells[0] != "sender" && cells[0] != "receiver") return false;
    auto& moments = cells[0] == "sender" ? series.sender : series.receiver;
    SeriesMoment moment;
    const auto at = Count(cells[1]);
    if (!at || (!moments.empty() && *at < moments.back().at_ns)) return false;
    moment.at_ns = *at;
    if (!ReadNamed(cells[2], kTcpStateNames, moment.tcp.state) ||
        !ReadNamed(cells[3], kLossStateNames, moment.tcp.loss_state)) {
      return false;
    }
    if (!ReadFigures(cells, moment.tcp)) return false;
    moments.push_back(moment);
    return true;
  }

 private:
  [[nodiscard]] bool ReadFigures(const std::vector<std::string_view>& cells,
                                 TcpMoment& tcp) const {
    for (std::size_t i = 0; i < cells.size(); ++i) {
      if (fields_[i] == nullptr || cells[i].empty()) continue;
      const auto figure = Count(cells[i]);
      if (!figure) return false;
      tcp.*fields_[i]->member = figure;
    }
    return true;
  }

  std::vector<const MomentField*> fields_;  // nullptr: read otherwise, or new.
};

Failure Unreadable(const std::filesystem::path& file, const std::string& why) {
  return {ExitCode::kUsage, fmt::format("{}: {}", file.string(), why)};
}

Failure NotALine(const std::filesystem::path& file, std::int64_t number,
                 std::string_view line) {
  return Unreadable(
      file, fmt::format("line {}: {} is no moment; a moment is \"sender\" or "
                        "\"receiver\", its time in ns, not before the last "
                        "one's of that end, and a figure or nothing in each "
                        "column",
                        number, QuoteBytes(line)));
}

}  // namespace

Outcome<TimeSeries> ReadSeries(const std::filesystem::path& file) {
  errno = 0;
  std::ifstream in(file, std::ios::binary);
  std::string line;
  if (!in || (!std::getline(in, line) && in.bad())) {
    return Unreadable(file,
                      fmt::format("cannot be read: {}", std::strerror(errno)));
  }
  const auto columns = Columns::Of(line);
  if (!columns || in.eof()) {
    return Unreadable(file,
                      "is no time series: it does not begin with a line of "
                      "\"end,at_ns,state,loss_state,...\"");
  }
  TimeSeries series;
  for (std::int64_t number = 2; std::getline(in, line); ++number) {
    // Without its end of line, half a number may look like a whole one.
    series.torn_last_line = in.eof();
    if (series.torn_last_line) break;
    if (!columns->Read(line, series)) return NotALine(file, number, line);
  }
  return series;
}

}  // namespace wiretoll
