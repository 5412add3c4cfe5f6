#include "harness/study/reading.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <numeric>
#include <utility>

namespace wiretoll {
namespace {

// Insertions, deletions, substitutions and swaps of neighbours that make `b`
// of `a` (optimal string alignment).
std::size_t Distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> before;
  std::vector<std::size_t> last(b.size() + 1);
  std::iota(last.begin(), last.end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::vector<std::size_t> row(b.size() + 1, i);
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t changed = last[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      row[j] = std::min({changed, last[j] + 1, row[j - 1] + 1});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
        row[j] = std::min(row[j], before[j - 2] + 1);
      }
    }
    before = std::exchange(last, std::move(row));
  }
  return last[b.size()];
}

// Cuts before a character of UTF-8, not inside it.
std::string_view Cut(std::string_view text, std::size_t most) {
  if (text.size() <= most) return text;
  while (most > 0 &&
         (static_cast<unsigned char>(text[most]) & 0xC0U) == 0x80U) {
    --most;
  }
  return text.substr(0, most);
}

// On one line, and at most `most` bytes of it.
std::string Escape(std::string_view text, std::size_t most) {
  std::string escaped;
  for (const char c : Cut(text, most)) {
    const auto code = static_cast<unsigned char>(c);
    if (code < 0x20U || code == 0x7FU) {
      escaped += fmt::format("\\x{:02x}", code);
    } else {
      escaped += c;
    }
  }
  return escaped + (text.size() > most ? "..." : "");
}

}  // namespace

void Complaint::Note(int line, std::string_view key, std::string_view what) {
  constexpr std::size_t kMost = 120;
  if (first_.has_value()) return;
  const std::string_view joint = key.empty() ? "" : ": ";
  first_ =
      Failure{ExitCode::kUsage, fmt::format("{}:{}: {}{}{}", file_, line,
                                            Escape(key, kMost), joint, what)};
}

std::vector<std::string_view> Split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  while (true) {
    const std::size_t end = text.find(separator);
    parts.push_back(text.substr(0, end));
    if (end == std::string_view::npos) return parts;
    text.remove_prefix(end + 1);
  }
}

std::string Quote(std::string_view text) {
  constexpr std::size_t kMost = 60;
  return fmt::format("'{}'", Escape(text, kMost));
}

std::string Hint(std::string_view word, const std::vector<std::string>& known) {
  constexpr std::size_t kLongestWord = 64;  // Nothing known is near that long.
  if (known.empty()) return "";
  if (word.size() <= kLongestWord) {
    const auto nearer = [word](const std::string& a, const std::string& b) {
      return Distance(word, a) < Distance(word, b);
    };
    const std::string& best = *std::ranges::min_element(known, nearer);
    const std::size_t near = std::max<std::size_t>(1, best.size() / 3);
    if (Distance(word, best) <= near) {
      return fmt::format("; did you mean \"{}\"?", best);
    }
  }
  return fmt::format("; known: {}", fmt::join(known, ", "));
}

}  // namespace wiretoll
