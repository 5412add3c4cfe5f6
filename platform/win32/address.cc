#include "platform/win32/address.h"

#include <array>

namespace wiretoll {
namespace {

// A port of ours is nobody else's, also for who sets SO_REUSEADDR, which on
// Windows takes a port away from who has it. TIME_WAIT does not keep a port
// there, so that nothing has to be got past.
Result<Done> SetExclusive(SOCKET socket) {
  const BOOL on = TRUE;
  if (::setsockopt(socket, SOL_SOCKET, SO_EXCLUSIVEADDRUSE,
                   reinterpret_cast<const char*>(&on), sizeof on) != 0) {
    return LastError();
  }
  return Done{};
}

// Windows refuses access to a port that another holds for itself, or that it
// reserved (`netsh int ipv4 show excludedportrange`): the next one may do.
bool InUse(const Error& error) {
  return error == boost::system::errc::address_in_use ||
         error == boost::system::errc::permission_denied;
}

// Not for children: a program started meanwhile would keep the port.
SOCKET NewSocket(int type, int family) {
  const int protocol = type == SOCK_STREAM ? IPPROTO_TCP : IPPROTO_UDP;
  return ::WSASocketW(family, type, protocol, nullptr, 0,
                      WSA_FLAG_OVERLAPPED | WSA_FLAG_NO_HANDLE_INHERIT);
}

Result<Socket> Bind(int type, NativeAddress local) {
  const SOCKET native = NewSocket(type, local.family());
  if (native == INVALID_SOCKET) return LastError();
  Socket socket{static_cast<Socket::Handle>(native)};
  const Result<Done> exclusive = SetExclusive(native);
  if (!exclusive.has_value()) return exclusive.error();
  if (::bind(native, local.get(), local.length) != 0) return LastError();
  return socket;
}

}  // namespace

std::optional<NativeAddress> ToNative(const std::string& address,
                                      std::uint16_t port) {
  NativeAddress native;
  auto* v4 = reinterpret_cast<sockaddr_in*>(&native.storage);
  if (::inet_pton(AF_INET, address.c_str(), &v4->sin_addr) == 1) {
    v4->sin_family = AF_INET;
    v4->sin_port = ::htons(port);
    native.length = sizeof(sockaddr_in);
    return native;
  }
  auto* v6 = reinterpret_cast<sockaddr_in6*>(&native.storage);
  if (::inet_pton(AF_INET6, address.c_str(), &v6->sin6_addr) == 1) {
    v6->sin6_family = AF_INET6;
    v6->sin6_port = ::htons(port);
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
  return Endpoint{text.data(), ::ntohs(is_v4 ? v4->sin_port : v6->sin6_port)};
}

Result<NativeAddress> BoundTo(SOCKET socket) {
  NativeAddress local;
  local.length = sizeof local.storage;
  if (::getsockname(socket, local.get(), &local.length) != 0) {
    return LastError();
  }
  return local;
}

bool WasInterrupted(const Error& error) {
  return error == ErrorFrom(WSAESHUTDOWN) ||
         error == ErrorFrom(WSA_OPERATION_ABORTED) ||
         error == ErrorFrom(WSAEINTR);
}

Result<Socket> OpenBound(int type, const std::string& address,
                         PortRange ports) {
  const bool ephemeral = ports.first == 0 && ports.last == 0;
  const bool ordered = ports.first != 0 && ports.first <= ports.last;
  if (!ephemeral && !ordered) return ErrorFrom(WSAEINVAL);
  Error last;
  for (int port = ports.first; port <= ports.last; ++port) {
    const auto native = ToNative(address, static_cast<std::uint16_t>(port));
    if (!native) return ErrorFrom(WSAEINVAL);
    Result<Socket> bound = Bind(type, *native);
    if (bound.has_value() || !InUse(bound.error())) return bound;
    last = bound.error();
  }
  return last;
}

}  // namespace wiretoll
