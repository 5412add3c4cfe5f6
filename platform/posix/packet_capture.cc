#include "platform/packet_capture.h"

#include <arpa/inet.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <net/if.h>
#include <net/if_arp.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/socket.h>

#include <algorithm>
#include <cstring>
#include <utility>
#include <vector>

#include "platform/clock.h"
#include "platform/posix/link_query.h"
#include "platform/posix/native.h"
#include "platform/posix/packet_filter.h"

namespace wiretoll {
namespace {

// The kernel fills blocks and hands one over when it is full or 10 ms old.
// 32 MiB hold a second and more of minimum frames at 100 Mbit/s.
constexpr unsigned kBlockBytes = 1U << 18U;
constexpr unsigned kBlocks = 128;
constexpr unsigned kRetireMs = 10;
constexpr std::size_t kRingBytes = std::size_t{kBlockBytes} * kBlocks;

constexpr std::size_t kMacAddresses = 12;
constexpr std::size_t kTagBytes = 4;

template <class Value>
Result<Done> SetPacketOption(int fd, int level, int name, const Value& value) {
  if (::setsockopt(fd, level, name, &value, sizeof value) < 0) {
    return LastError();
  }
  return Done{};
}

}  // namespace

struct PacketCapture::State {
  Socket socket{Socket::Handle::kNone};
  std::string interface_name;
  bool loopback = false;
  std::byte* ring = nullptr;
  unsigned next_block = 0;
  CaptureCounts counts;
  Nanoseconds offset{0};    // Wall minus monotonic clock, as last looked at,
  Nanoseconds previous{0};  // and the time before.
  SteadyTime read_until{};  // Frames before it were handed over already.
  std::vector<std::byte> tagged;  // A frame with its VLAN tag put back.

  State() = default;
  State(const State&) = delete;
  State& operator=(const State&) = delete;
  ~State() {
    if (ring != nullptr) ::munmap(ring, kRingBytes);
  }

  [[nodiscard]] int fd() const { return Fd(socket.handle()); }
  Result<Done> Learn(const std::string& address);
  Result<Done> MakeRing();
  Result<Done> Bind();
  tpacket_block_desc* Block() const {
    return reinterpret_cast<tpacket_block_desc*>(
        ring + std::size_t{next_block} * kBlockBytes);
  }
  [[nodiscard]] bool Full() const {
    // The kernel writes it last; what it tells of is read after it.
    const auto* status = &Block()->hdr.bh1.block_status;
    return (__atomic_load_n(status, __ATOMIC_ACQUIRE) & TP_STATUS_USER) != 0;
  }
  std::int64_t TakeBlock(const FrameSink& take);
  bool TakeFrame(const tpacket3_hdr& header, const FrameSink& take);
  [[nodiscard]] SteadyTime When(const tpacket3_hdr& header) const;
  std::span<const std::byte> WithTag(std::span<const std::byte> frame,
                                     const tpacket3_hdr& header);
};

Result<Done> PacketCapture::State::Learn(const std::string& address) {
  const Outcome<std::string> found = InterfaceCarrying(address);
  if (!found.has_value()) return ErrorFrom(EADDRNOTAVAIL);
  interface_name = found.value();
  ifreq request{};
  interface_name.copy(request.ifr_name, IFNAMSIZ - 1);
  if (::ioctl(fd(), SIOCGIFHWADDR, &request) < 0) return LastError();
  const int kind = request.ifr_hwaddr.sa_family;
  loopback = kind == ARPHRD_LOOPBACK;
  if (kind != ARPHRD_ETHER && !loopback) return ErrorFrom(EPROTONOSUPPORT);
  return Done{};
}

Result<Done> PacketCapture::State::MakeRing() {
  const int version = TPACKET_V3;
  auto set = SetPacketOption(fd(), SOL_PACKET, PACKET_VERSION, version);
  if (!set.has_value()) return set;
  tpacket_req3 shape{};
  shape.tp_block_size = kBlockBytes;
  shape.tp_block_nr = kBlocks;
  shape.tp_frame_size = TPACKET_ALIGNMENT << 7U;
  shape.tp_frame_nr = kBlockBytes / shape.tp_frame_size * kBlocks;
  shape.tp_retire_blk_tov = kRetireMs;
  set = SetPacketOption(fd(), SOL_PACKET, PACKET_RX_RING, shape);
  if (!set.has_value()) return set;
  void* mapped =
      ::mmap(nullptr, kRingBytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd(), 0);
  if (mapped == MAP_FAILED) return LastError();
  ring = static_cast<std::byte*>(mapped);
  return Done{};
}

// From here on frames come: the filter and the ring are there before.
Result<Done> PacketCapture::State::Bind() {
  sockaddr_ll address{};
  address.sll_family = AF_PACKET;
  address.sll_protocol = htons(ETH_P_ALL);
  address.sll_ifindex =
      static_cast<int>(::if_nametoindex(interface_name.c_str()));
  if (::bind(fd(), reinterpret_cast<const sockaddr*>(&address),
             sizeof address) < 0) {
    return LastError();
  }
  return Done{};
}

std::int64_t PacketCapture::State::TakeBlock(const FrameSink& take) {
  tpacket_block_desc* block = Block();
  const auto* at = reinterpret_cast<const std::byte*>(block) +
                   block->hdr.bh1.offset_to_first_pkt;
  std::int64_t taken = 0;
  for (unsigned i = 0; i < block->hdr.bh1.num_pkts; ++i) {
    const auto& header = *reinterpret_cast<const tpacket3_hdr*>(at);
    if (TakeFrame(header, take)) ++taken;
    at += header.tp_next_offset;
  }
  __atomic_store_n(&block->hdr.bh1.block_status, TP_STATUS_KERNEL,
                   __ATOMIC_RELEASE);
  next_block = (next_block + 1) % kBlocks;
  return taken;
}

bool PacketCapture::State::TakeFrame(const tpacket3_hdr& header,
                                     const FrameSink& take) {
  const auto* bytes = reinterpret_cast<const std::byte*>(&header);
  const auto& from = *reinterpret_cast<const sockaddr_ll*>(
      bytes + TPACKET_ALIGN(sizeof(tpacket3_hdr)));
  // A loopback interface shows each frame as it leaves and as it comes.
  if (loopback && from.sll_pkttype == PACKET_OUTGOING) return false;
  PassingFrame frame;
  frame.time = When(header);
  frame.bytes = {bytes + header.tp_mac, header.tp_snaplen};
  frame.original_bytes = header.tp_len;
  if ((header.tp_status & TP_STATUS_VLAN_VALID) != 0) {
    frame.bytes = WithTag(frame.bytes, header);
    frame.original_bytes += kTagBytes;
  }
  take(frame);
  return true;
}

// The kernel stamps by the wall clock, which may be stepped at any moment.
SteadyTime PacketCapture::State::When(const tpacket3_hdr& header) const {
  const Nanoseconds wall =
      std::chrono::seconds(header.tp_sec) + Nanoseconds(header.tp_nsec);
  const SteadyTime by_now{wall - offset};
  // Stamped before the step: else it would have been read the time before.
  return by_now < read_until ? SteadyTime{wall - previous} : by_now;
}

// The kernel takes a tag out of the frame and tells it beside.
std::span<const std::byte> PacketCapture::State::WithTag(
    std::span<const std::byte> frame, const tpacket3_hdr& header) {
  if (frame.size() < kMacAddresses) return frame;
  const std::uint16_t type = (header.tp_status & TP_STATUS_VLAN_TPID_VALID) != 0
                                 ? header.hv1.tp_vlan_tpid
                                 : std::uint16_t{ETH_P_8021Q};
  const auto tci = static_cast<std::uint16_t>(header.hv1.tp_vlan_tci);
  const std::array<std::uint16_t, 2> tag{htons(type), htons(tci)};
  const auto* tag_bytes = reinterpret_cast<const std::byte*>(tag.data());
  tagged.assign(frame.begin(), frame.begin() + kMacAddresses);
  tagged.insert(tagged.end(), tag_bytes, tag_bytes + kTagBytes);
  tagged.insert(tagged.end(), frame.begin() + kMacAddresses, frame.end());
  return tagged;
}

Result<PacketCapture> PacketCapture::Open(const CaptureSpec& spec) {
  auto state = std::make_unique<State>();
  // Protocol 0: nothing comes before it is bound.
  const int fd = ::socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC, 0);
  if (fd < 0) return LastError();
  state->socket = Socket{static_cast<Socket::Handle>(fd)};
  auto step = state->Learn(spec.local_address);
  if (!step.has_value()) return step.error();
  auto filter = MakePacketFilter(spec);
  if (!filter) return ErrorFrom(EINVAL);
  const sock_fprog program{static_cast<std::uint16_t>(filter->size()),
                           filter->data()};
  step = SetPacketOption(fd, SOL_SOCKET, SO_ATTACH_FILTER, program);
  if (step.has_value()) step = state->MakeRing();
  state->offset = state->previous = WallMinusMonotonic();
  state->read_until = MonotonicNow();
  if (step.has_value()) step = state->Bind();
  if (!step.has_value()) return step.error();
  return PacketCapture(std::move(state));
}

PacketCapture::PacketCapture(std::unique_ptr<State> state)
    : state_(std::move(state)) {}
PacketCapture::PacketCapture(PacketCapture&&) noexcept = default;
PacketCapture::~PacketCapture() = default;

const std::string& PacketCapture::interface_name() const {
  return state_->interface_name;
}

Result<std::int64_t> PacketCapture::Read(std::chrono::milliseconds patience,
                                         const FrameSink& take) {
  if (!state_->Full()) {
    pollfd waiting{state_->fd(), POLLIN, 0};
    if (::poll(&waiting, 1, static_cast<int>(patience.count())) < 0 &&
        errno != EINTR) {
      return LastError();
    }
  }
  state_->previous = std::exchange(state_->offset, WallMinusMonotonic());
  const SteadyTime now = MonotonicNow();
  std::int64_t taken = 0;
  // Once round at most: traffic may be faster than whoever takes it.
  for (unsigned i = 0; i < kBlocks && state_->Full(); ++i) {
    taken += state_->TakeBlock(take);
  }
  // Those of a block that is not full yet come next time.
  if (taken > 0)
    state_->read_until = now - std::chrono::milliseconds(kRetireMs);
  return taken;
}

Result<CaptureCounts> PacketCapture::Counts() {
  tpacket_stats_v3 now{};
  socklen_t length = sizeof now;
  if (::getsockopt(state_->fd(), SOL_PACKET, PACKET_STATISTICS, &now, &length) <
      0) {
    return LastError();
  }
  // Reading them sets them to 0.
  state_->counts.received += now.tp_packets;
  state_->counts.dropped += now.tp_drops;
  return state_->counts;
}

}  // namespace wiretoll
