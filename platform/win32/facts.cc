#include "platform/win32/facts.h"

#include <array>
#include <charconv>
#include <cstring>

namespace wiretoll {
namespace {

constexpr std::size_t kMostBytes = 4096;

std::string Trimmed(const std::string& text) {
  constexpr const char* kSpace = " \t\r\n";
  const std::size_t first = text.find_first_not_of(kSpace);
  if (first == std::string::npos) return {};
  return text.substr(first, text.find_last_not_of(kSpace) - first + 1);
}

// `data` as the registry gave it, of `size` bytes.
Fact::Value ToValue(DWORD type, const std::byte* data, std::size_t size) {
  if (type == REG_DWORD || type == REG_QWORD) {
    std::int64_t number = 0;  // Little-endian, as all of Windows is.
    std::memcpy(&number, data, std::min(size, sizeof number));
    return number;
  }
  std::wstring text(size / sizeof(wchar_t), L'\0');
  std::memcpy(text.data(), data, text.size() * sizeof(wchar_t));
  // The terminator is counted.
  return Trimmed(Utf8(text.substr(0, text.find(L'\0'))));
}

std::string PathOf(const RegistryValue& where) {
  return "registry HKLM\\" + Utf8(where.key) + "\\" + Utf8(where.value);
}

}  // namespace

std::string Utf8(std::wstring_view text) {
  if (text.empty()) return {};
  const int length = WinsockLength(text.size());
  const int needed = ::WideCharToMultiByte(CP_UTF8, 0, text.data(), length,
                                           nullptr, 0, nullptr, nullptr);
  std::string utf8(static_cast<std::size_t>(std::max(needed, 0)), '\0');
  ::WideCharToMultiByte(CP_UTF8, 0, text.data(), length, utf8.data(), needed,
                        nullptr, nullptr);
  return utf8;
}

std::optional<std::int64_t> WholeNumber(std::string_view text) {
  std::int64_t number = 0;
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, number);
  if (error != std::errc{} || stop != end) return std::nullopt;
  return number;
}

Result<Fact::Value> ReadRegistry(const RegistryValue& where) {
  std::array<std::byte, kMostBytes> data{};
  DWORD type = 0;
  DWORD size = kMostBytes;
  constexpr DWORD kTypes = RRF_RT_REG_DWORD | RRF_RT_REG_QWORD | RRF_RT_REG_SZ |
                           RRF_RT_REG_EXPAND_SZ;
  const LSTATUS status =
      ::RegGetValueW(HKEY_LOCAL_MACHINE, where.key.c_str(), where.value.c_str(),
                     kTypes | RRF_NOEXPAND, &type, data.data(), &size);
  if (status != ERROR_SUCCESS) return ErrorFrom(static_cast<DWORD>(status));
  return ToValue(type, data.data(), size);
}

std::string RegistryText(const RegistryValue& where) {
  const Result<Fact::Value> read = ReadRegistry(where);
  if (!read.has_value()) return {};
  const auto* text = std::get_if<std::string>(&read.value());
  return text == nullptr ? std::string() : *text;
}

Fact FromRegistry(std::string name, const RegistryValue& where) {
  const Result<Fact::Value> read = ReadRegistry(where);
  if (!read.has_value()) {
    const bool absent =
        read.error() == boost::system::errc::no_such_file_or_directory;
    return Unknown(std::move(name),
                   absent ? PathOf(where) + " is not set"
                          : ReasonOf(PathOf(where), read.error()));
  }
  const auto* text = std::get_if<std::string>(&read.value());
  if (text == nullptr) return Known(std::move(name), read.value());
  if (text->empty()) return Unknown(std::move(name), PathOf(where) + ": empty");
  if (const auto number = WholeNumber(*text)) {
    return Known(std::move(name), *number);
  }
  return Known(std::move(name), *text);
}

}  // namespace wiretoll
