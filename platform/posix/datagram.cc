#include "platform/datagram.h"

#include <linux/sock_diag.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/time.h>

#include <algorithm>
#include <array>
#include <utility>

#include "platform/posix/address.h"

namespace wiretoll {
namespace {

using std::chrono::milliseconds;

Datagram Arrived(std::size_t length, std::size_t room) {
  return {Bytes{static_cast<std::int64_t>(std::min(length, room))},
          Bytes{static_cast<std::int64_t>(length)}, length > room};
}

Result<Done> SetSwitch(int fd, int level, int name) {
  const int on = 1;
  if (::setsockopt(fd, level, name, &on, sizeof on) < 0) {
    return errno == ENOPROTOOPT ? ErrorFrom(EOPNOTSUPP) : LastError();
  }
  return Done{};
}

// The headers of the first `count` are set, the others never looked at:
// setting all would cost more than a small batch does.
struct Batch {
  std::array<mmsghdr, kMostInBatch> headers;
  std::array<iovec, kMostInBatch> parts;

  // NOLINTNEXTLINE(cppcoreguidelines-pro-type-member-init): see above.
  Batch(std::byte* data, std::size_t stride, std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) {
      parts[i] = {data + i * stride, stride};
      headers[i] = {};
      headers[i].msg_hdr.msg_iov = &parts[i];
      headers[i].msg_hdr.msg_iovlen = 1;
    }
  }
};

// Shares the port for as long as a second one takes to bind to it.
Result<Socket> BindBeside(int fd) {
  Result<NativeAddress> local = BoundTo(fd);
  if (!local.has_value()) return local.error();
  const int beside =
      ::socket(local.value().family(), SOCK_DGRAM | SOCK_CLOEXEC, 0);
  if (beside < 0) return LastError();
  Socket trap{static_cast<Socket::Handle>(beside)};

  Result<Done> done = SetReuseAddress(fd, true);
  if (!done.has_value()) return done.error();
  done = SetReuseAddress(beside, true);
  if (done.has_value() &&
      ::bind(beside, local.value().get(), local.value().length) < 0) {
    done = LastError();
  }
  // Both are anybody's until this: Linux asks both ends for the option.
  const Result<Done> closed = SetReuseAddress(fd, false);
  if (done.has_value()) done = closed;
  if (done.has_value()) done = SetReuseAddress(beside, false);
  if (!done.has_value()) return done.error();
  return trap;
}

struct Caught {
  std::int64_t count = 0;
  std::optional<NativeAddress> last;
};

// All that waits in `fd` and is not from `peer`; from the peer it is read and
// dropped. A flood must not keep us: what is left is caught next time.
Caught TakeAll(int fd, const std::optional<Endpoint>& peer) {
  constexpr int kMost = 100'000;
  Caught caught;
  for (int i = 0; i < kMost; ++i) {
    NativeAddress from;
    from.length = sizeof from.storage;
    std::byte first{};
    if (::recvfrom(fd, &first, sizeof first, MSG_DONTWAIT, from.get(),
                   &from.length) < 0) {
      if (errno == EAGAIN) break;
      continue;  // An ICMP error of an earlier time, or a signal.
    }
    if (peer && FromNative(from).value() == *peer) continue;
    ++caught.count;
    caught.last = from;
  }
  return caught;
}

Result<Endpoint> PeerOf(int fd) {
  NativeAddress peer;
  peer.length = sizeof peer.storage;
  if (::getpeername(fd, peer.get(), &peer.length) < 0) return LastError();
  return FromNative(peer);
}

std::optional<Endpoint> Named(const std::optional<NativeAddress>& native) {
  if (!native) return std::nullopt;
  const Result<Endpoint> named = FromNative(*native);
  if (!named.has_value()) return std::nullopt;
  return named.value();
}

}  // namespace

Result<Socket> OpenUdp(const std::string& address, PortRange ports) {
  return OpenBound(SOCK_DGRAM, address, ports);
}

Result<Datagram> ReceiveDatagram(Socket& socket, std::span<std::byte> buffer) {
  // recv(2), since read(2) does not tell what a datagram had before it was cut.
  const ssize_t length =
      ::recv(Fd(socket.handle()), buffer.data(), buffer.size(), MSG_TRUNC);
  if (length < 0) return LastError();
  return Arrived(static_cast<std::size_t>(length), buffer.size());
}

Result<DatagramFrom> ReceiveDatagramFrom(Socket& socket,
                                         std::span<std::byte> buffer) {
  NativeAddress from;
  from.length = sizeof from.storage;
  const ssize_t length =
      ::recvfrom(Fd(socket.handle()), buffer.data(), buffer.size(), MSG_TRUNC,
                 from.get(), &from.length);
  if (length < 0) return LastError();
  Result<Endpoint> sender = FromNative(from);
  if (!sender.has_value()) return sender.error();
  return DatagramFrom{Arrived(static_cast<std::size_t>(length), buffer.size()),
                      std::move(sender).value()};
}

Result<Done> SetReceiveTimeout(const Socket& socket, milliseconds timeout) {
  // 0 would wait for ever.
  if (timeout < milliseconds{1}) return ErrorFrom(EINVAL);
  const auto seconds =
      std::chrono::duration_cast<std::chrono::seconds>(timeout);
  const std::chrono::microseconds rest = timeout - seconds;
  const timeval native{seconds.count(), rest.count()};
  if (::setsockopt(Fd(socket.handle()), SOL_SOCKET, SO_RCVTIMEO, &native,
                   sizeof native) < 0) {
    return LastError();
  }
  return Done{};
}

// Without IP_RECVERR, Linux makes of its queue's ENOBUFS a success; with it, as
// many calls fail as the queue dropped (tests/platform/datagram_exact_test.cc
// counts both). It queues each ICMP error on the socket as well, for who reads
// with MSG_ERRQUEUE: nobody does here, and when that queue is full (it shares
// the receive buffer) calls still fail with what ICMP said, each once. It also
// tells of errors that may pass, such as an unreachable host.
Result<Done> TellOfLocalDrops(const Socket& socket) {
  const int fd = Fd(socket.handle());
  const Result<NativeAddress> local = BoundTo(fd);
  if (!local.has_value()) return local.error();
  return local.value().family() == AF_INET
             ? SetSwitch(fd, IPPROTO_IP, IP_RECVERR)
             : SetSwitch(fd, IPPROTO_IPV6, IPV6_RECVERR);
}

bool HasDatagramBatches() { return true; }

Result<int> SendDatagrams(Socket& socket, std::span<const std::byte> data,
                          Bytes size, int count) {
  const auto stride = static_cast<std::size_t>(size.count);
  const auto wanted = static_cast<std::size_t>(count);
  if (count < 1 || count > kMostInBatch || data.size() != wanted * stride) {
    return ErrorFrom(EINVAL);
  }
  // An iovec cannot say that it is only read.
  Batch batch{const_cast<std::byte*>(data.data()), stride, wanted};
  const int sent = ::sendmmsg(Fd(socket.handle()), batch.headers.data(),
                              static_cast<unsigned>(count), 0);
  if (sent < 0) return LastError();
  return sent;
}

Result<int> ReceiveDatagrams(Socket& socket, std::span<std::byte> buffer,
                             Bytes room, std::span<Datagram> got) {
  if (room.count < 1) return ErrorFrom(EINVAL);
  const auto stride = static_cast<std::size_t>(room.count);
  const std::size_t most =
      std::min({got.size(), buffer.size() / stride, std::size_t{kMostInBatch}});
  if (most == 0) return ErrorFrom(EINVAL);
  Batch batch{buffer.data(), stride, most};
  const int came = ::recvmmsg(Fd(socket.handle()), batch.headers.data(),
                              static_cast<unsigned>(most),
                              MSG_WAITFORONE | MSG_TRUNC, nullptr);
  if (came < 0) return LastError();
  for (std::size_t i = 0; i < static_cast<std::size_t>(came); ++i) {
    got[i] = Arrived(batch.headers[i].msg_len, stride);
  }
  return came;
}

// The kernel's own number, which SO_RXQ_OVFL would hang on every datagram.
UdpCounters ReadUdpCounters(const Socket& socket) {
  std::array<std::uint32_t, SK_MEMINFO_VARS> memory{};
  socklen_t length = sizeof memory;
  if (::getsockopt(Fd(socket.handle()), SOL_SOCKET, SO_MEMINFO, memory.data(),
                   &length) < 0) {
    return {{}, "SO_MEMINFO: " + LastError().message()};
  }
  if (length < (SK_MEMINFO_DROPS + 1) * sizeof memory[0]) {
    return {{}, "SO_MEMINFO: this kernel does not count drops of a socket"};
  }
  return {memory[SK_MEMINFO_DROPS], {}};
}

Result<std::int64_t> ReadPathMtu(const Socket& socket) {
  constexpr int kUdpHeader = 8;    // RFC 768.
  constexpr int kIpHeader = 20;    // RFC 791 3.1, without options.
  constexpr int kIpv6Header = 40;  // RFC 8200 3.
  const int fd = Fd(socket.handle());
  const Result<NativeAddress> local = BoundTo(fd);
  if (!local.has_value()) return local.error();
  const bool v4 = local.value().family() == AF_INET;
  int mtu = 0;
  socklen_t length = sizeof mtu;
  if (::getsockopt(fd, v4 ? IPPROTO_IP : IPPROTO_IPV6, v4 ? IP_MTU : IPV6_MTU,
                   &mtu, &length) < 0) {
    return errno == ENOPROTOOPT ? ErrorFrom(EOPNOTSUPP) : LastError();
  }
  return std::int64_t{mtu - (v4 ? kIpHeader : kIpv6Header) - kUdpHeader};
}

// Of two sockets on one port, Linux gives a datagram to the one that is
// connected to its sender, and to the other what is nobody's.
Result<StrangerTrap> StrangerTrap::Set(Socket& socket) {
  const int fd = Fd(socket.handle());
  const Result<Endpoint> peer = PeerOf(fd);
  if (!peer.has_value()) return peer.error();
  Result<Socket> beside = BindBeside(fd);
  if (!beside.has_value()) return beside.error();
  StrangerTrap trap{std::move(beside).value()};
  const Caught early = TakeAll(fd, peer.value());
  trap.kept_ = early.count;
  trap.last_ = Named(early.last);
  return trap;
}

std::int64_t StrangerTrap::Count() {
  const Caught caught = TakeAll(Fd(trap_.handle()), std::nullopt);
  kept_ += caught.count;
  if (caught.last) last_ = Named(caught.last);
  return kept_ + ReadUdpCounters(trap_).receive_buffer_drops.value_or(0);
}

}  // namespace wiretoll
