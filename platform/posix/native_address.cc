// Addresses as text and as bits: of any stack that has this system's sockaddr.
#include <arpa/inet.h>
#include <netinet/in.h>

#include <array>

#include "platform/posix/address.h"

namespace wiretoll {

std::optional<NativeAddress> ToNative(const std::string& address,
                                      std::uint16_t port) {
  NativeAddress native;
  auto* v4 = reinterpret_cast<sockaddr_in*>(&native.storage);
  if (::inet_pton(AF_INET, address.c_str(), &v4->sin_addr) == 1) {
    v4->sin_family = AF_INET;
    v4->sin_port = htons(port);
    native.length = sizeof(sockaddr_in);
    return native;
  }
  auto* v6 = reinterpret_cast<sockaddr_in6*>(&native.storage);
  if (::inet_pton(AF_INET6, address.c_str(), &v6->sin6_addr) == 1) {
    v6->sin6_family = AF_INET6;
    v6->sin6_port = htons(port);
    native.length = sizeof(sockaddr_in6);
    return native;
  }
  return std::nullopt;
}

Result<Endpoint> FromNative(const NativeAddress& native) {
  std::array<char, INET6_ADDRSTRLEN> text{};
  const auto* v4 = reinterpret_cast<const sockaddr_in*>(&native.storage);
  const auto* v6 = reinterpret_cast<const sockaddr_in6*>(&native.storage);
  const bool is_v4 = native.family() == AF_INET;
  const void* bits = is_v4 ? static_cast<const void*>(&v4->sin_addr)
                           : static_cast<const void*>(&v6->sin6_addr);
  if (::inet_ntop(native.family(), bits, text.data(), text.size()) == nullptr) {
    return LastError();
  }
  return Endpoint{text.data(), ntohs(is_v4 ? v4->sin_port : v6->sin6_port)};
}

}  // namespace wiretoll
