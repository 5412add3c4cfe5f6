#include "platform/datagram.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "platform/win32/address.h"

// Numbers that a header may lack; they are Windows' own.
#ifndef IP_MTU
#define IP_MTU 73
#endif
#ifndef IPV6_MTU
#define IPV6_MTU 72
#endif

namespace wiretoll {
namespace {

using std::chrono::milliseconds;

// Windows' numbers for what the contract has one word for.
Error ReceiveError(const Error& error) {
  if (error == ErrorFrom(WSAETIMEDOUT)) return ErrorFrom(WSAEWOULDBLOCK);
  if (error == ErrorFrom(WSAECONNRESET)) return ErrorFrom(WSAECONNREFUSED);
  return error;
}

}  // namespace

Result<Socket> OpenUdp(const std::string& address, PortRange ports) {
  return OpenBound(SOCK_DGRAM, address, ports);
}

// SIO_UDP_CONNRESET is left as it is, so that an ICMP port unreachable is told.
Result<Datagram> ReceiveDatagram(Socket& socket, std::span<std::byte> buffer) {
  constexpr int kNoFlags = 0;
  const int length = WinsockLength(buffer.size());
  const int received =
      ::recv(Native(socket.handle()), reinterpret_cast<char*>(buffer.data()),
             length, kNoFlags);
  if (received != SOCKET_ERROR) {
    return Datagram{Bytes{received}, Bytes{received}, false};
  }
  const Error error = LastError();
  if (error == ErrorFrom(WSAEMSGSIZE)) {
    return Datagram{Bytes{length}, std::nullopt, true};
  }
  if (WasInterrupted(error)) return Datagram{Bytes{0}, Bytes{0}, false};
  return ReceiveError(error);
}

Result<DatagramFrom> ReceiveDatagramFrom(Socket& socket,
                                         std::span<std::byte> buffer) {
  constexpr int kNoFlags = 0;
  NativeAddress from;
  from.length = sizeof from.storage;
  const int length = WinsockLength(buffer.size());
  const int received = ::recvfrom(Native(socket.handle()),
                                  reinterpret_cast<char*>(buffer.data()),
                                  length, kNoFlags, from.get(), &from.length);
  const Error error = received == SOCKET_ERROR ? LastError() : Error{};
  const bool cut = error == ErrorFrom(WSAEMSGSIZE);
  if (error && !cut) return ReceiveError(error);
  Result<Endpoint> sender = FromNative(from);
  if (!sender.has_value()) return sender.error();
  const Datagram whole{Bytes{received}, Bytes{received}, false};
  return DatagramFrom{cut ? Datagram{Bytes{length}, std::nullopt, true} : whole,
                      std::move(sender).value()};
}

Result<Done> SetReceiveTimeout(const Socket& socket, milliseconds timeout) {
  // 0 would wait for ever.
  if (timeout < milliseconds{1}) return ErrorFrom(WSAEINVAL);
  const auto native = static_cast<DWORD>(
      std::min<std::int64_t>(timeout.count(), std::numeric_limits<int>::max()));
  if (::setsockopt(Native(socket.handle()), SOL_SOCKET, SO_RCVTIMEO,
                   reinterpret_cast<const char*>(&native),
                   sizeof native) != 0) {
    return LastError();
  }
  return Done{};
}

Result<Done> TellOfLocalDrops(const Socket& /*socket*/) {
  return ErrorFrom(WSAEOPNOTSUPP);
}

bool HasDatagramBatches() { return false; }

Result<int> SendDatagrams(Socket& /*socket*/,
                          std::span<const std::byte> /*data*/, Bytes /*size*/,
                          int /*count*/) {
  return ErrorFrom(WSAEOPNOTSUPP);
}

Result<int> ReceiveDatagrams(Socket& /*socket*/,
                             std::span<std::byte> /*buffer*/, Bytes /*room*/,
                             std::span<Datagram> /*got*/) {
  return ErrorFrom(WSAEOPNOTSUPP);
}

// GetUdpStatisticsEx has a number for the host, in which every other socket's
// drops are too.
UdpCounters ReadUdpCounters(const Socket& /*socket*/) {
  return {{},
          "Windows counts the datagrams it had no room for for the whole host, "
          "not for a socket: those that were lost there are among the others "
          "that did not come"};
}

Result<std::int64_t> ReadPathMtu(const Socket& socket) {
  constexpr int kUdpHeader = 8;    // RFC 768.
  constexpr int kIpHeader = 20;    // RFC 791 3.1, without options.
  constexpr int kIpv6Header = 40;  // RFC 8200 3.
  const SOCKET native = Native(socket.handle());
  const Result<NativeAddress> local = BoundTo(native);
  if (!local.has_value()) return local.error();
  const bool v4 = local.value().family() == AF_INET;
  DWORD mtu = 0;
  int length = sizeof mtu;
  if (::getsockopt(native, v4 ? IPPROTO_IP : IPPROTO_IPV6,
                   v4 ? IP_MTU : IPV6_MTU, reinterpret_cast<char*>(&mtu),
                   &length) != 0) {
    const Error error = LastError();
    return error == ErrorFrom(WSAENOPROTOOPT) ? ErrorFrom(WSAEOPNOTSUPP)
                                              : error;
  }
  return std::int64_t{mtu} - (v4 ? kIpHeader : kIpv6Header) - kUdpHeader;
}

// Which of two sockets on one port gets a datagram is not defined on Windows.
Result<StrangerTrap> StrangerTrap::Set(Socket& /*socket*/) {
  return ErrorFrom(WSAEOPNOTSUPP);
}

std::int64_t StrangerTrap::Count() { return kept_; }

}  // namespace wiretoll
