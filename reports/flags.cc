#include "reports/flags.h"

#include <algorithm>
#include <cmath>
#include <optional>

namespace wiretoll {
namespace {

constexpr int kRowHeight = 20;
constexpr double kApart = 8;  // Pixels between two texts.

// Row 0 is the lowest. The line goes from its row down through all below.
struct PlacedFlagRow {
  std::size_t wish = 0;
  std::size_t row = 0;
  double left = 0, right = 0, line = 0;
};

bool TextsMeet(const PlacedFlagRow& a, const PlacedFlagRow& b) {
  return a.row == b.row && a.left < b.right + kApart &&
         b.left < a.right + kApart;
}

// The line of `a` goes through the text of `b`.
bool LineMeets(const PlacedFlagRow& a, const PlacedFlagRow& b) {
  return a.row > b.row && a.line > b.left - kApart / 2 &&
         a.line < b.right + kApart / 2;
}

bool LinesMeet(const PlacedFlagRow& a, const PlacedFlagRow& b) {
  constexpr double kOneLine = 1.5;
  return std::abs(a.line - b.line) < kOneLine;
}

bool Collides(const PlacedFlagRow& a, const PlacedFlagRow& b) {
  return TextsMeet(a, b) || LineMeets(a, b) || LineMeets(b, a) ||
         LinesMeet(a, b);
}

// To the right of its line, where it fits; else as far as the edge lets it.
PlacedFlagRow At(const Chart& chart, const FlagWish& wish, std::size_t row) {
  PlacedFlagRow flag;
  flag.row = row;
  flag.line = PixelX(chart, wish.x);
  const double width = TextWidth(chart, wish.text);
  flag.left = std::max(2.0, std::min(flag.line - 2, chart.width - 2 - width));
  flag.right = flag.left + width;
  return flag;
}

std::optional<PlacedFlagRow> FindPlace(
    const Chart& chart, const FlagWish& wish,
    const std::vector<PlacedFlagRow>& taken) {
  for (std::size_t row = 0; row < kMostFlags; ++row) {
    const PlacedFlagRow flag = At(chart, wish, row);
    const bool free = std::none_of(
        taken.begin(), taken.end(),
        [&flag](const PlacedFlagRow& other) { return Collides(flag, other); });
    if (free && flag.right <= chart.width) return flag;
  }
  return std::nullopt;
}

// All of `chosen`, or nothing. From the right: a text goes to the right of its
// line, so that of those further left the lines pass beside it.
std::optional<std::vector<PlacedFlagRow>> PlaceAll(
    const Chart& chart, const std::vector<FlagWish>& wishes,
    std::vector<std::size_t> chosen) {
  std::sort(chosen.begin(), chosen.end(), [&](std::size_t a, std::size_t b) {
    return wishes[a].x > wishes[b].x;
  });
  std::vector<PlacedFlagRow> placed;
  for (const std::size_t wish : chosen) {
    auto flag = FindPlace(chart, wishes[wish], placed);
    if (!flag) return std::nullopt;
    flag->wish = wish;
    placed.push_back(*flag);
  }
  return placed;
}

std::vector<PlacedFlagRow> Choose(const Chart& chart,
                                  const std::vector<FlagWish>& wishes) {
  constexpr std::size_t kMostTried = 60;
  std::vector<std::size_t> chosen;
  std::vector<PlacedFlagRow> placed;
  for (std::size_t i = 0; i < std::min(wishes.size(), kMostTried); ++i) {
    if (chosen.size() == kMostFlags) break;
    chosen.push_back(i);
    auto with = PlaceAll(chart, wishes, chosen);
    if (with) {
      placed = std::move(*with);
    } else {
      chosen.pop_back();
    }
  }
  return placed;
}

}  // namespace

std::vector<std::size_t> PlaceFlags(const std::vector<FlagWish>& wishes,
                                    Chart& chart) {
  const std::vector<PlacedFlagRow> taken = Choose(chart, wishes);
  std::vector<std::size_t> placed;
  if (taken.empty()) return placed;
  std::size_t rows = 0;
  for (const PlacedFlagRow& flag : taken) rows = std::max(rows, flag.row + 1);
  const int room = kRowHeight * static_cast<int>(rows) + 4;
  chart.top += room;
  chart.height += room;
  for (const PlacedFlagRow& flag : taken) {
    const double middle =
        chart.top - 4 - kRowHeight * (static_cast<double>(flag.row) + 0.5);
    chart.flags.push_back(
        {{wishes[flag.wish].text, flag.left + 2, middle, false}, flag.line});
    placed.push_back(flag.wish);
  }
  return placed;
}

}  // namespace wiretoll
