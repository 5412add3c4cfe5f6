#include "platform/posix/link_query.h"

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <linux/if_link.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <array>
#include <cstddef>
#include <cstring>
#include <memory>
#include <vector>

#include "platform/posix/facts.h"
#include "platform/posix/native.h"

namespace wiretoll {
namespace {

struct LinkRequest {
  nlmsghdr header;
  ifinfomsg link;
};

// A link's whole description is some 2 KiB; the kernel says if it was cut.
constexpr std::size_t kReplyRoom = std::size_t{64} * 1024;

LinkRequest MakeRequest(unsigned interface_index) {
  LinkRequest request{};
  request.header.nlmsg_len = sizeof request;
  request.header.nlmsg_type = RTM_GETLINK;
  request.header.nlmsg_flags = NLM_F_REQUEST;
  request.link.ifi_family = AF_UNSPEC;
  request.link.ifi_index = static_cast<int>(interface_index);
  return request;
}

bool Carries(const sockaddr& candidate, const std::string& address) {
  std::array<std::byte, sizeof(in6_addr)> wanted{};
  if (::inet_pton(candidate.sa_family, address.c_str(), wanted.data()) != 1) {
    return false;
  }
  const bool is_v4 = candidate.sa_family == AF_INET;
  const auto& v4 = reinterpret_cast<const sockaddr_in&>(candidate);
  const auto& v6 = reinterpret_cast<const sockaddr_in6&>(candidate);
  const void* bits = is_v4 ? static_cast<const void*>(&v4.sin_addr)
                           : static_cast<const void*>(&v6.sin6_addr);
  return std::memcmp(bits, wanted.data(),
                     is_v4 ? sizeof(in_addr) : sizeof(in6_addr)) == 0;
}

Result<std::vector<char>> Ask(const LinkRequest& request) {
  const int fd = ::socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE);
  if (fd < 0) return LastError();
  const Socket closes{static_cast<Socket::Handle>(fd)};
  const timeval patience{1, 0};
  if (::setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience) <
          0 ||
      ::send(fd, &request, sizeof request, 0) < 0) {
    return LastError();
  }
  std::vector<char> reply(kReplyRoom);
  const ssize_t length = ::recv(fd, reply.data(), reply.size(), MSG_TRUNC);
  if (length < 0) return LastError();
  if (static_cast<std::size_t>(length) > reply.size()) {
    return ErrorFrom(EMSGSIZE);
  }
  reply.resize(static_cast<std::size_t>(length));
  return reply;
}

std::optional<std::int64_t> Number(const rtattr& attribute) {
  std::uint32_t number = 0;
  if (RTA_PAYLOAD(&attribute) < sizeof number) return std::nullopt;
  std::memcpy(&number, RTA_DATA(&attribute), sizeof number);
  return number;
}

std::string Text(const rtattr& attribute) {
  const auto* text = static_cast<const char*>(RTA_DATA(&attribute));
  return {text, ::strnlen(text, RTA_PAYLOAD(&attribute))};
}

void Take(const rtattr& attribute, LinkAttributes& link) {
  switch (attribute.rta_type) {
    case IFLA_MTU:
      link.mtu_bytes = Number(attribute);
      break;
    case IFLA_GSO_MAX_SEGS:
      link.gso_max_segments = Number(attribute);
      break;
    case IFLA_GSO_MAX_SIZE:
      link.gso_max_bytes = Number(attribute);
      break;
    case IFLA_TXQLEN:
      link.queue_length = Number(attribute);
      break;
    case IFLA_QDISC:
      link.qdisc = Text(attribute);
      break;
    default:
      break;
  }
}

LinkAttributes Parse(const nlmsghdr& message) {
  LinkAttributes link;
  const auto* info = static_cast<const ifinfomsg*>(NLMSG_DATA(&message));
  int left = static_cast<int>(IFLA_PAYLOAD(&message));
  for (const rtattr* attribute = IFLA_RTA(info); RTA_OK(attribute, left);
       attribute = RTA_NEXT(attribute, left)) {
    Take(*attribute, link);
  }
  return link;
}

}  // namespace

Result<LinkAttributes> QueryLink(unsigned interface_index) {
  const Result<std::vector<char>> reply = Ask(MakeRequest(interface_index));
  if (!reply.has_value()) return reply.error();
  const auto* message = reinterpret_cast<const nlmsghdr*>(reply.value().data());
  if (!NLMSG_OK(message, reply.value().size())) return ErrorFrom(EBADMSG);
  if (message->nlmsg_type == NLMSG_ERROR) {
    const auto* failure = static_cast<const nlmsgerr*>(NLMSG_DATA(message));
    return ErrorFrom(-failure->error);
  }
  if (message->nlmsg_type != RTM_NEWLINK) return ErrorFrom(EBADMSG);
  return Parse(*message);
}

Outcome<std::string> InterfaceCarrying(const std::string& address) {
  ifaddrs* list = nullptr;
  if (::getifaddrs(&list) < 0) {
    return Failure{ExitCode::kNothingRan, ReasonOf("getifaddrs", LastError())};
  }
  const std::unique_ptr<ifaddrs, decltype(&::freeifaddrs)> frees(
      list, &::freeifaddrs);
  for (const ifaddrs* entry = list; entry != nullptr; entry = entry->ifa_next) {
    if (entry->ifa_addr != nullptr && Carries(*entry->ifa_addr, address)) {
      return std::string{entry->ifa_name};
    }
  }
  return Failure{ExitCode::kNothingRan, "no interface carries " + address};
}

}  // namespace wiretoll
