#include "platform/datagram.h"

#include <sys/time.h>

#include <algorithm>
#include <utility>

#include "platform/lwip/core.h"
#include "platform/lwip/stack.h"
#include "platform/posix/address.h"

namespace wiretoll {
namespace {

using std::chrono::milliseconds;

struct Received {
  std::size_t kept;
  bool cut;
};

// lwIP says that it cut a datagram, and not how long that was.
Result<Received> ReceiveInto(int fd, std::span<std::byte> buffer,
                             NativeAddress& from) {
  iovec part{buffer.data(), buffer.size()};
  msghdr message{};
  message.msg_name = &from.storage;
  message.msg_namelen = sizeof from.storage;
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  const ssize_t length = ::lwip_recvmsg(fd, &message, 0);
  if (length < 0) return LastError();
  from.length = message.msg_namelen;
  const auto kept = std::min(static_cast<std::size_t>(length), buffer.size());
  return Received{kept, (message.msg_flags & MSG_TRUNC) != 0};
}

Datagram Arrived(const Received& received) {
  const Bytes kept{static_cast<std::int64_t>(received.kept)};
  if (received.cut) return {kept, std::nullopt, true};
  return {kept, kept, false};
}

}  // namespace

Result<Socket> OpenUdp(const std::string& address, PortRange ports) {
  return OpenBound(SOCK_DGRAM, address, ports);
}

Result<Datagram> ReceiveDatagram(Socket& socket, std::span<std::byte> buffer) {
  const Datagram none{Bytes{0}, Bytes{0}, false};
  if (WasInterrupted(socket.handle())) return none;
  NativeAddress from;
  const auto received = ReceiveInto(Fd(socket.handle()), buffer, from);
  if (WasInterrupted(socket.handle())) return none;
  if (!received.has_value()) return received.error();
  return Arrived(received.value());
}

Result<DatagramFrom> ReceiveDatagramFrom(Socket& socket,
                                         std::span<std::byte> buffer) {
  NativeAddress from;
  const auto received = ReceiveInto(Fd(socket.handle()), buffer, from);
  if (!received.has_value()) return received.error();
  Result<Endpoint> sender = FromNative(from);
  if (!sender.has_value()) return sender.error();
  return DatagramFrom{Arrived(received.value()), std::move(sender).value()};
}

Result<Done> SetReceiveTimeout(const Socket& socket, milliseconds timeout) {
  // 0 would wait for ever.
  if (timeout < milliseconds{1}) return ErrorFrom(EINVAL);
  const auto seconds =
      std::chrono::duration_cast<std::chrono::seconds>(timeout);
  const std::chrono::microseconds rest = timeout - seconds;
  const timeval native{seconds.count(), rest.count()};
  if (::lwip_setsockopt(Fd(socket.handle()), SOL_SOCKET, SO_RCVTIMEO, &native,
                        sizeof native) < 0) {
    return LastError();
  }
  return Done{};
}

// There is no queue of lwIP's own behind its interface.
Result<Done> TellOfLocalDrops(const Socket& /*socket*/) {
  return ErrorFrom(EOPNOTSUPP);
}

bool HasDatagramBatches() { return false; }

Result<int> SendDatagrams(Socket& /*socket*/,
                          std::span<const std::byte> /*data*/, Bytes /*size*/,
                          int /*count*/) {
  return ErrorFrom(EOPNOTSUPP);
}

Result<int> ReceiveDatagrams(Socket& /*socket*/,
                             std::span<std::byte> /*buffer*/, Bytes /*room*/,
                             std::span<Datagram> /*got*/) {
  return ErrorFrom(EOPNOTSUPP);
}

UdpCounters ReadUdpCounters(const Socket& /*socket*/) {
  return {{},
          "lwIP does not count the datagrams it had no room for: those that "
          "were lost there are among the others that did not come"};
}

// lwIP discovers no path: the interface's own MTU is what it goes by.
Result<std::int64_t> ReadPathMtu(const Socket& /*socket*/) {
  constexpr int kUdpHeader = 8;  // RFC 768.
  constexpr int kIpHeader = 20;  // RFC 791 3.1, without options.
  return std::int64_t{StackMtu() - kIpHeader - kUdpHeader};
}

// Of two sockets on one port lwIP gives a datagram to the one it finds first.
Result<StrangerTrap> StrangerTrap::Set(Socket& /*socket*/) {
  return ErrorFrom(EOPNOTSUPP);
}

std::int64_t StrangerTrap::Count() { return kept_; }

}  // namespace wiretoll
