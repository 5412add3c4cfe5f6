#include "harness/agent/base64.h"

#include <boost/archive/iterators/base64_from_binary.hpp>
#include <boost/archive/iterators/binary_from_base64.hpp>
#include <boost/archive/iterators/transform_width.hpp>
#include <exception>

namespace wiretoll {
namespace {

namespace bits = boost::archive::iterators;
using ToText = bits::base64_from_binary<
    bits::transform_width<std::string_view::const_iterator, 6, 8>>;
using ToBytes = bits::transform_width<
    bits::binary_from_base64<std::string_view::const_iterator>, 8, 6>;

// Three bytes are four characters; a rest is filled up.
constexpr std::size_t kBytes = 3;
constexpr std::size_t kCharacters = 4;

}  // namespace

std::string EncodeBase64(std::string_view bytes) {
  std::string text(ToText(bytes.begin()), ToText(bytes.end()));
  text.append((kBytes - bytes.size() % kBytes) % kBytes, '=');
  return text;
}

std::optional<std::string> DecodeBase64(std::string_view text) {
  if (text.size() % kCharacters != 0) return std::nullopt;
  std::size_t fill = 0;
  while (fill < 2 && !text.empty() && text.back() == '=') {
    text.remove_suffix(1);
    ++fill;
  }
  // Boost takes it for a zero anywhere.
  if (text.find('=') != std::string_view::npos) return std::nullopt;
  try {
    std::string bytes(ToBytes(text.begin()), ToBytes(text.end()));
    bytes.resize(text.size() * kBytes / kCharacters);
    return bytes;
  } catch (const std::exception&) {  // A character that is none of it.
    return std::nullopt;
  }
}

}  // namespace wiretoll
