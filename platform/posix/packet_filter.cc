#include "platform/posix/packet_filter.h"

#include <arpa/inet.h>
#include <netinet/in.h>

#include <array>
#include <cstring>
#include <utility>

namespace wiretoll {
namespace {

using Words = std::vector<std::uint32_t>;  // An address, in host order.

// Where things are in an Ethernet frame.
constexpr std::uint32_t kEtherType = 12;
constexpr std::uint32_t kNetwork = 14;
constexpr std::uint32_t kIpv4Protocol = kNetwork + 9;
constexpr std::uint32_t kIpv4Fragment = kNetwork + 6;
constexpr std::uint32_t kIpv4Source = kNetwork + 12;
constexpr std::uint32_t kIpv4Target = kNetwork + 16;
constexpr std::uint32_t kIpv6NextHeader = kNetwork + 6;
constexpr std::uint32_t kIpv6Source = kNetwork + 8;
constexpr std::uint32_t kIpv6Target = kNetwork + 24;
constexpr std::uint32_t kIpv6Ports = kNetwork + 40;

Words WordsOf(int family, const std::string& address) {
  std::array<std::uint32_t, 4> raw{};
  if (::inet_pton(family, address.c_str(), raw.data()) != 1) return {};
  Words words(family == AF_INET ? 1 : raw.size());
  for (std::size_t i = 0; i < words.size(); ++i) words[i] = ntohl(raw[i]);
  return words;
}

// Puts a program together whose jumps go to a place that is known later.
class Assembler {
 public:
  void Load(int size, std::uint32_t offset) {
    Add(BPF_LD | size | BPF_ABS, offset);
  }
  // Relative to the index register.
  void LoadBehindHeader(std::uint32_t offset) {
    Add(BPF_LD | BPF_H | BPF_IND, offset);
  }
  void IndexByIpv4Header() { Add(BPF_LDX | BPF_B | BPF_MSH, kNetwork); }
  void Return(std::uint32_t bytes) { Add(BPF_RET | BPF_K, bytes); }

  // Goes on if the test holds, to the end of the block if not.
  void Require(int test, std::uint32_t value) {
    Add(BPF_JMP | test | BPF_K, value);
    to_end_of_block_.push_back(code_.size() - 1);
  }
  // The other way round: goes on if it does not hold.
  void Forbid(int test, std::uint32_t value) {
    Add(BPF_JMP | test | BPF_K, value);
    forbidden_.push_back(code_.size() - 1);
  }
  void RequireAddress(std::uint32_t offset, const Words& words) {
    for (const std::uint32_t word : words) {
      Load(BPF_W, offset);
      Require(BPF_JEQ, word);
      offset += sizeof word;
    }
  }
  void EndBlock() {
    for (const std::size_t at : to_end_of_block_) code_[at].jf = Distance(at);
    for (const std::size_t at : forbidden_) code_[at].jt = Distance(at);
    to_end_of_block_.clear();
    forbidden_.clear();
  }

  std::vector<sock_filter> Take() { return std::move(code_); }

 private:
  void Add(int code, std::uint32_t value) {
    code_.push_back({static_cast<std::uint16_t>(code), 0, 0, value});
  }
  [[nodiscard]] std::uint8_t Distance(std::size_t from) const {
    return static_cast<std::uint8_t>(code_.size() - from - 1);
  }

  std::vector<sock_filter> code_;
  std::vector<std::size_t> to_end_of_block_;
  std::vector<std::size_t> forbidden_;
};

// What a block asks of a frame before its ports.
struct Flow {
  bool v4 = true;
  Words source, target;
};

void RequireFlow(const Flow& flow, Assembler& program) {
  program.Load(BPF_H, kEtherType);
  program.Require(BPF_JEQ, flow.v4 ? 0x0800 : 0x86DD);
  program.RequireAddress(flow.v4 ? kIpv4Source : kIpv6Source, flow.source);
  program.RequireAddress(flow.v4 ? kIpv4Target : kIpv6Target, flow.target);
}

// Keeps frames of `flow` whose source port (which 0) or destination port
// (which 1) is in the range.
void KeepByPort(const Flow& flow, std::uint8_t protocol, std::uint32_t which,
                const CaptureSpec& spec, Assembler& program) {
  constexpr std::uint32_t kOffset = 0x1FFF;  // RFC 791 3.1: fragment offset.
  RequireFlow(flow, program);
  program.Load(BPF_B, flow.v4 ? kIpv4Protocol : kIpv6NextHeader);
  program.Require(BPF_JEQ, protocol);
  if (flow.v4) {
    program.Load(BPF_H, kIpv4Fragment);
    program.Forbid(BPF_JSET, kOffset);
    program.IndexByIpv4Header();
    program.LoadBehindHeader(kNetwork + 2 * which);
  } else {
    program.Load(BPF_H, kIpv6Ports + 2 * which);
  }
  program.Require(BPF_JGE, spec.first_port);
  program.Forbid(BPF_JGT, spec.last_port);
  program.Return(spec.snap_bytes);
  program.EndBlock();
}

// Later fragments and what has no ports in the first place.
void KeepPortless(const Flow& flow, const CaptureSpec& spec,
                  Assembler& program) {
  RequireFlow(flow, program);
  program.Load(BPF_B, flow.v4 ? kIpv4Protocol : kIpv6NextHeader);
  program.Forbid(BPF_JEQ, IPPROTO_TCP);
  program.Forbid(BPF_JEQ, IPPROTO_UDP);
  program.Return(spec.snap_bytes);
  program.EndBlock();
  if (!flow.v4) return;
  RequireFlow(flow, program);
  program.Load(BPF_H, kIpv4Fragment);
  program.Require(BPF_JSET, 0x1FFF);
  program.Return(spec.snap_bytes);
  program.EndBlock();
}

void KeepFlow(const Flow& flow, const CaptureSpec& spec, Assembler& program) {
  if (spec.first_port == 0) {
    RequireFlow(flow, program);
    program.Return(spec.snap_bytes);
    program.EndBlock();
    return;
  }
  for (const std::uint8_t protocol : {IPPROTO_TCP, IPPROTO_UDP}) {
    for (const std::uint32_t which : {0U, 1U}) {
      KeepByPort(flow, protocol, which, spec, program);
    }
  }
  KeepPortless(flow, spec, program);
}

}  // namespace

std::optional<std::vector<sock_filter>> MakePacketFilter(
    const CaptureSpec& spec) {
  const bool v4 = spec.local_address.find(':') == std::string::npos;
  const int family = v4 ? AF_INET : AF_INET6;
  const Words local = WordsOf(family, spec.local_address);
  const Words peer = WordsOf(family, spec.peer_address);
  if (local.empty() || peer.empty()) return std::nullopt;
  Assembler program;
  KeepFlow({v4, local, peer}, spec, program);
  if (local != peer) KeepFlow({v4, peer, local}, spec, program);
  program.Return(0);
  return program.Take();
}

}  // namespace wiretoll
