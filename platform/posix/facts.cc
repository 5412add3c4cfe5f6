#include "platform/posix/facts.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <optional>

#include "platform/posix/native.h"

namespace wiretoll {
namespace {

constexpr std::size_t kMostText = std::size_t{64} * 1024;

std::string Trimmed(const std::string& text) {
  constexpr const char* kSpace = " \t\r\n";
  const std::size_t first = text.find_first_not_of(kSpace);
  if (first == std::string::npos) return {};
  return text.substr(first, text.find_last_not_of(kSpace) - first + 1);
}

std::optional<std::int64_t> WholeNumber(const std::string& text) {
  std::int64_t number = 0;
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, number);
  if (error != std::errc{} || stop != end) return std::nullopt;
  return number;
}

}  // namespace

Result<std::string> ReadText(const std::string& path) {
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return LastError();
  std::string text(kMostText, '\0');
  std::size_t length = 0;
  ssize_t got = 1;
  while (got > 0 && length < text.size()) {
    got = ::read(fd, text.data() + length, text.size() - length);
    if (got > 0) length += static_cast<std::size_t>(got);
  }
  const Error error = got < 0 ? LastError() : Error{};
  ::close(fd);
  if (error) return error;
  text.resize(length);
  return Trimmed(text);
}

Fact FromFile(std::string name, const std::string& path) {
  Result<std::string> text = ReadText(path);
  if (!text.has_value()) {
    return Unknown(std::move(name), ReasonOf(path, text.error()));
  }
  if (text.value().empty()) {
    return Unknown(std::move(name), path + ": empty");
  }
  if (const auto number = WholeNumber(text.value())) {
    return Known(std::move(name), *number);
  }
  std::replace(text.value().begin(), text.value().end(), '\t', ' ');
  return Known(std::move(name), std::move(text).value());
}

}  // namespace wiretoll
