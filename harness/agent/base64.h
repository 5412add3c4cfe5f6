// Bytes as text, for lines of JSON (RFC 4648 4).
#ifndef WIRETOLL_HARNESS_AGENT_BASE64_H_
#define WIRETOLL_HARNESS_AGENT_BASE64_H_

#include <optional>
#include <string>
#include <string_view>

namespace wiretoll {

// With padding, in one line.
std::string EncodeBase64(std::string_view bytes);
// Empty: not what EncodeBase64() gives.
std::optional<std::string> DecodeBase64(std::string_view text);

}  // namespace wiretoll

#endif  // WIRETOLL_HARNESS_AGENT_BASE64_H_
