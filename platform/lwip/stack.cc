#include "platform/lwip/stack.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <future>
#include <mutex>
#include <optional>
#include <random>
#include <span>
#include <thread>
#include <vector>

#include "platform/lwip/core.h"
#include "platform/tap.h"

namespace wiretoll {
namespace {

using namespace std::chrono_literals;

constexpr int kSmallestMtu = 576;
constexpr int kLargestMtu = 9000;
constexpr std::size_t kEthernetHeader = 14;
// Of 127.0.0.1, as Linux has it: a datagram of any size in one piece.
constexpr u16_t kLoopbackMtu = 65'535;

// One a process: lwIP keeps its state in variables of its own, and cannot be
// ended.
struct Stack {
  std::mutex starting;
  bool started = false;
  netif interface {};
  std::optional<Tap> tap;
  std::string name;
  std::array<u8_t, 6> mac{};
  int mtu = kLoopbackMtu;
};

Stack& TheStack() {
  // Never destroyed: lwIP's thread and ours run to the end of the process.
  static auto* const stack = new Stack;
  return *stack;
}

// lwIP asks rand() where its first port begins. Unseeded that is the same port
// each time, which the peer of an earlier agent may still remember.
void StartCore() {
  std::srand(std::random_device{}());
  std::promise<void> ready;
  ::tcpip_init(
      [](void* said) { static_cast<std::promise<void>*>(said)->set_value(); },
      &ready);
  ready.get_future().wait();
}

// Frames out. Called with the core locked; what the TAP has no room for is
// lost, as on any wire.
err_t WriteFrame(netif* /*interface*/, pbuf* frame) {
  std::array<std::byte, kLargestMtu + kEthernetHeader> whole{};
  const u16_t length = ::pbuf_copy_partial(frame, whole.data(),
                                           static_cast<u16_t>(whole.size()), 0);
  const Result<Bytes> written =
      TheStack().tap->Write(std::span{whole.data(), length});
  return written.has_value() ? ERR_OK : ERR_IF;
}

// Frames in, each into memory of its own size: those of lwIP's pool are too
// small for them.
void TakeFrame(std::span<const std::byte> frame) {
  const CoreLock lock;
  pbuf* packet =
      ::pbuf_alloc(PBUF_RAW, static_cast<u16_t>(frame.size()), PBUF_RAM);
  if (packet == nullptr) return;
  ::pbuf_take(packet, frame.data(), static_cast<u16_t>(frame.size()));
  if (::ethernet_input(packet, &TheStack().interface) != ERR_OK) {
    ::pbuf_free(packet);
  }
}

void ReadFrames() {
  std::vector<std::byte> room(kLargestMtu + kEthernetHeader);
  Tap& tap = *TheStack().tap;
  for (;;) {
    const Result<Bytes> got = tap.Read(room);
    if (got.has_value()) {
      TakeFrame(
          std::span{room.data(), static_cast<std::size_t>(got.value().count)});
    } else if (!tap.AwaitFrame(1s)) {
      return;  // The interface is gone, and with it every peer.
    }
  }
}

err_t BeginEthernet(netif* interface) {
  Stack& stack = TheStack();
  interface->name[0] = 't';
  interface->name[1] = 'p';
  interface->mtu = static_cast<u16_t>(stack.mtu);
  interface->hwaddr_len = static_cast<u8_t>(stack.mac.size());
  std::copy(stack.mac.begin(), stack.mac.end(), interface->hwaddr);
  interface->flags =
      NETIF_FLAG_BROADCAST | NETIF_FLAG_ETHARP | NETIF_FLAG_ETHERNET;
  interface->output = ::etharp_output;
  interface->output_ip6 = ::ethip6_output;
  interface->linkoutput = &WriteFrame;
  return ERR_OK;
}

// Whatever is for itself, lwIP turns round before it gets here.
err_t BeginLoopback(netif* interface) {
  interface->name[0] = 'l';
  interface->name[1] = 'o';
  interface->mtu = kLoopbackMtu;
  interface->output = [](netif*, pbuf*, const ip4_addr_t*) -> err_t {
    return ERR_RTE;
  };
  interface->output_ip6 = [](netif*, pbuf*, const ip6_addr_t*) -> err_t {
    return ERR_RTE;
  };
  return ERR_OK;
}

struct Ipv4Addresses {
  ip4_addr_t own, netmask, gateway;
};

void AddInterface(const Ipv4Addresses& addresses, netif_init_fn begin) {
  Stack& stack = TheStack();
  const CoreLock lock;
  ::netif_add(&stack.interface, &addresses.own, &addresses.netmask,
              &addresses.gateway, nullptr, begin, &::tcpip_input);
  ::netif_set_default(&stack.interface);
  ::netif_set_link_up(&stack.interface);
  ::netif_set_up(&stack.interface);
}

void StartOnLoopback() {
  Stack& stack = TheStack();
  StartCore();
  Ipv4Addresses addresses{};
  IP4_ADDR(&addresses.own, 127, 0, 0, 1);
  IP4_ADDR(&addresses.netmask, 255, 0, 0, 0);
  AddInterface(addresses, &BeginLoopback);
  const CoreLock lock;
  // ::1
  ::netif_ip6_addr_set_parts(&stack.interface, 0, 0, 0, 0,
                             static_cast<u32_t>(lwip_htonl(1)));
  ::netif_ip6_addr_set_state(&stack.interface, 0, IP6_ADDR_PREFERRED);
  stack.started = true;
}

Failure NoAddress(const char* what, const std::string& text) {
  return {ExitCode::kUsage,
          std::string(what) + " '" + text + "' is no IPv4 address"};
}

Outcome<Ipv4Addresses> ParseAddresses(const StackSpec& spec) {
  Ipv4Addresses addresses{};
  if (::ip4addr_aton(spec.address.c_str(), &addresses.own) == 0)
    return NoAddress("address", spec.address);
  if (::ip4addr_aton(spec.netmask.c_str(), &addresses.netmask) == 0)
    return NoAddress("netmask", spec.netmask);
  if (!spec.gateway.empty() &&
      ::ip4addr_aton(spec.gateway.c_str(), &addresses.gateway) == 0)
    return NoAddress("gateway", spec.gateway);
  return addresses;
}

Outcome<std::array<u8_t, 6>> ParseMac(const std::string& text) {
  std::array<unsigned, 6> parts{};
  char behind = '\0';
  // NOLINTNEXTLINE(cert-err34-c): two digits cannot overflow.
  const int read = std::sscanf(text.c_str(), "%2x:%2x:%2x:%2x:%2x:%2x%c",
                               &parts[0], &parts[1], &parts[2], &parts[3],
                               &parts[4], &parts[5], &behind);
  if (read != 6 || (parts[0] & 1U) != 0) {
    return Failure{ExitCode::kUsage,
                   "'" + text +
                       "' is no MAC address of one interface, as "
                       "02:77:00:00:00:02 is"};
  }
  std::array<u8_t, 6> mac{};
  std::copy(parts.begin(), parts.end(), mac.begin());
  return mac;
}

Failure NoTap(const std::string& name, const Error& error) {
  return {ExitCode::kNothingRan,
          "TAP interface " + name + ": " + error.message() +
              "; it takes root in its network namespace and /dev/net/tun "
              "(modprobe tun), and nobody else who has it"};
}

}  // namespace

Outcome<Done> StartStack(const StackSpec& spec) {
  const Outcome<Ipv4Addresses> addresses = ParseAddresses(spec);
  if (!addresses.has_value()) return addresses.error();
  const auto mac = ParseMac(spec.mac);
  if (!mac.has_value()) return mac.error();
  if (spec.mtu < kSmallestMtu || spec.mtu > kLargestMtu)
    return Failure{ExitCode::kUsage, "an MTU of " + std::to_string(spec.mtu) +
                                         " bytes: lwIP here takes 576 to 9000"};
  Stack& stack = TheStack();
  const std::scoped_lock starting(stack.starting);
  Result<Tap> tap = Tap::Create(spec.tap);
  if (!tap.has_value()) return NoTap(spec.tap, tap.error());
  stack.tap.emplace(std::move(tap).value());
  stack.name = spec.tap;
  stack.mac = mac.value();
  stack.mtu = spec.mtu;
  StartCore();
  AddInterface(addresses.value(), &BeginEthernet);
  stack.started = true;
  std::thread(&ReadFrames).detach();
  return Done{};
}

void EnsureStack() {
  Stack& stack = TheStack();
  const std::scoped_lock starting(stack.starting);
  if (!stack.started) StartOnLoopback();
}

std::string StackInterface() { return TheStack().name; }

int StackMtu() { return TheStack().mtu; }

bool IsStackAddress(const std::string& address) {
  EnsureStack();
  ip_addr_t wanted{};
  if (::ipaddr_aton(address.c_str(), &wanted) == 0) return false;
  const CoreLock lock;
  const netif& own = TheStack().interface;
  if (IP_IS_V4(&wanted)) {
    return ip_addr_isany(&wanted) ||
           ip4_addr_cmp(ip_2_ip4(&wanted), netif_ip4_addr(&own));
  }
  return ::netif_get_ip6_addr_match(&TheStack().interface, ip_2_ip6(&wanted)) >=
         0;
}

}  // namespace wiretoll
