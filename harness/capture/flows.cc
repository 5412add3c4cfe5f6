#include "harness/capture/flows.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <limits>

#include "harness/capture/tcp_connection.h"

namespace wiretoll {
namespace {

// Places for fragmented packets under way; another one of the same place
// takes it over, and what is left of the old one counts as stray.
constexpr std::size_t kFragmentPlaces = 4096;
constexpr std::size_t kUntracked = std::numeric_limits<std::size_t>::max();

// Mixes well, as Fibonacci hashing does; no defence against an attacker, who
// finds a table of bounded size.
std::uint64_t Mix(std::uint64_t hash, std::uint64_t value) {
  hash = (hash ^ value) * 0x9E3779B97F4A7C15U;
  return hash ^ hash >> 29;
}

std::uint64_t Mix(std::uint64_t hash, const IpAddress& address) {
  std::array<std::uint64_t, 2> halves{};
  std::memcpy(halves.data(), address.bytes.data(), address.bytes.size());
  return Mix(Mix(hash, halves[0]), halves[1]);
}

// Of what the fragments of a packet share (RFC 791 3.2, RFC 8200 4.5). Not 0.
std::uint64_t FragmentHash(const Packet& packet) {
  const std::uint64_t both = Mix(Mix(1, packet.source), packet.destination);
  return Mix(both, std::uint64_t{packet.protocol} << 32 | packet.fragment_id) |
         1;
}

bool StartsFlow(const Packet& packet) {
  return packet.kind == PacketKind::kTcp || packet.kind == PacketKind::kUdp;
}

IpEndpoint SourceOf(const Packet& packet) {
  return {packet.source, packet.source_port};
}

IpEndpoint DestinationOf(const Packet& packet) {
  return {packet.destination, packet.destination_port};
}

// Without a SYN to tell: services have the lower ports.
bool ClientSent(const Packet& packet) {
  if (packet.kind == PacketKind::kUdp) return true;
  if (packet.syn) return !packet.ack;
  return packet.source_port >= packet.destination_port;
}

}  // namespace

void SizeDistribution::Add(std::int64_t bytes, std::int64_t count) {
  by_power_[static_cast<std::size_t>(
      std::bit_width(static_cast<std::uint32_t>(bytes)))] += count;
  if (too_many_) return;
  for (auto& [size, seen] : exact_) {
    if (size != bytes) continue;
    seen += count;
    return;
  }
  too_many_ = exact_.size() == kExact;
  if (!too_many_) exact_.emplace_back(bytes, count);
}

std::vector<SizeDistribution::Bin> SizeDistribution::Bins() const {
  std::vector<Bin> bins;
  if (!too_many_) {
    for (const auto& [size, count] : exact_)
      bins.push_back({size, size, count});
    std::sort(bins.begin(), bins.end(),
              [](const Bin& a, const Bin& b) { return a.low < b.low; });
    return bins;
  }
  for (std::size_t width = 0; width < by_power_.size(); ++width) {
    if (by_power_[width] == 0) continue;
    const std::int64_t end = std::int64_t{1} << width;
    bins.push_back({end / 2, end - 1, by_power_[width]});
  }
  return bins;
}

void RoundTrips::Add(std::int64_t ns) {
  if (ns < 0) return;  // The clock went back.
  min_ns = samples == 0 ? ns : std::min(min_ns, ns);
  max_ns = std::max(max_ns, ns);
  sum_ns += ns;
  ++samples;
}

ConnectionEnd ToConnectionEnd(const IpEndpoint& end) {
  return {AddressText(end.address), end.port};
}

std::string EndpointText(const IpEndpoint& end) {
  const std::string address = AddressText(end.address);
  return end.address.version == 4 ? fmt::format("{}:{}", address, end.port)
                                  : fmt::format("[{}]:{}", address, end.port);
}

std::size_t FlowTable::KeyHash::operator()(const Key& key) const {
  const std::uint64_t ports = std::uint64_t{key.low.port} << 32 |
                              std::uint64_t{key.high.port} << 8 |
                              (key.tcp ? 1U : 0U);
  return static_cast<std::size_t>(
      Mix(Mix(Mix(0, key.low.address), key.high.address), ports));
}

FlowTable::FlowTable(std::size_t most_flows) : most_flows_(most_flows) {}
FlowTable::~FlowTable() = default;

const SegmentSeen* FlowTable::Add(const CapturedFrame& frame,
                                  const Packet& packet) {
  CountKind(frame, packet);
  if (packet.kind == PacketKind::kLaterFragment)
    AddFragment(packet, frame.time_ns);
  if (!StartsFlow(packet)) return nullptr;
  Tracked* tracked = Find(packet, frame.time_ns);
  if (tracked == nullptr) {
    ++totals_.untracked_frames;
    totals_.untracked_payload_bytes += packet.payload_bytes;
    return nullptr;
  }
  Flow& flow = tracked->flow;
  flow.last_ns = std::max(flow.last_ns, frame.time_ns);
  const bool from_client = flow.client == SourceOf(packet);
  DirectionFigures& from = from_client ? flow.from_client : flow.from_server;
  if (packet.fragment) {
    ++from.fragments;
    Remember(packet, *tracked);
  }
  if (packet.kind == PacketKind::kUdp) {
    AddDatagram(packet, frame.time_ns, from);
    return nullptr;
  }
  seen_.flow = flow.order;
  seen_.segment =
      tracked->connection->Add(packet, frame.time_ns, from_client, flow);
  return &seen_;
}

void FlowTable::CountKind(const CapturedFrame& frame, const Packet& packet) {
  ++totals_.frames;
  totals_.first_ns =
      std::min(totals_.first_ns.value_or(frame.time_ns), frame.time_ns);
  totals_.last_ns =
      std::max(totals_.last_ns.value_or(frame.time_ns), frame.time_ns);
  if (packet.length_from_frame) ++totals_.length_from_frame;
  if (packet.loopback) ++totals_.loopback;
  if (packet.syn && packet.options_cut) ++totals_.options_cut;
  switch (packet.kind) {
    case PacketKind::kTcp:
      ++totals_.tcp;
      break;
    case PacketKind::kUdp:
      ++totals_.udp;
      break;
    case PacketKind::kOtherIp:
      ++totals_.other_ip;
      break;
    case PacketKind::kLaterFragment:
      ++totals_.later_fragments;
      break;
    case PacketKind::kNotIp:
      ++totals_.not_ip;
      break;
    case PacketKind::kOtherLink:
      ++totals_.other_links[frame.link_type];
      break;
    case PacketKind::kCut:
      ++totals_.cut;
      break;
    case PacketKind::kMalformed:
      if (totals_.malformed++ > 0) break;
      totals_.first_malformed = frame.number;
      totals_.first_trouble = packet.trouble;
      break;
  }
}

FlowTable::Tracked* FlowTable::Find(const Packet& packet,
                                    std::int64_t time_ns) {
  Key key{SourceOf(packet), DestinationOf(packet),
          packet.kind == PacketKind::kTcp};
  if (key.high < key.low) std::swap(key.low, key.high);
  if (last_ == nullptr || !(key == last_key_)) {
    const auto known = by_key_.find(key);
    if (known == by_key_.end()) return Begin(key, packet, time_ns);
    last_key_ = key;
    last_ = known->second == kUntracked ? nullptr : &flows_[known->second];
  }
  if (last_ == nullptr || !last_->connection) return last_;
  const bool from_client = last_->flow.client == SourceOf(packet);
  return last_->connection->IsOver(packet, from_client)
             ? Begin(key, packet, time_ns)
             : last_;
}

FlowTable::Tracked* FlowTable::Begin(const Key& key, const Packet& packet,
                                     std::int64_t time_ns) {
  last_key_ = key;
  last_ = nullptr;
  if (flows_.size() == most_flows_) {
    // What comes on these ports from now on is not the earlier connection's.
    const auto earlier = by_key_.find(key);
    if (earlier != by_key_.end()) earlier->second = kUntracked;
    return nullptr;
  }
  by_key_[key] = flows_.size();
  Tracked& tracked = flows_.emplace_back();
  Flow& flow = tracked.flow;
  flow.order = flows_.size() - 1;
  flow.tcp = key.tcp;
  const bool client_sent = ClientSent(packet);
  flow.client = client_sent ? SourceOf(packet) : DestinationOf(packet);
  flow.server = client_sent ? DestinationOf(packet) : SourceOf(packet);
  flow.first_ns = flow.last_ns = time_ns;
  if (flow.tcp) tracked.connection = std::make_unique<TcpConnection>();
  return last_ = &tracked;
}

void FlowTable::AddDatagram(const Packet& packet, std::int64_t time_ns,
                            DirectionFigures& from) {
  ++from.frames;
  ++from.segments;
  ++from.data_segments;
  from.payload_bytes += packet.payload_bytes;
  from.unique_bytes += packet.payload_bytes;
  from.sizes.Add(packet.payload_bytes, 1);
  if (!from.first_data_ns) from.first_data_ns = time_ns;
  from.last_data_ns = time_ns;
  CountLayers(packet, 1, 0, from);
}

void FlowTable::Remember(const Packet& packet, const Tracked& tracked) {
  if (fragments_.empty()) fragments_.resize(kFragmentPlaces);
  const std::uint64_t hash = FragmentHash(packet);
  fragments_[hash / 2 % kFragmentPlaces] = {
      hash, tracked.flow.order, tracked.flow.client == SourceOf(packet)};
}

void FlowTable::AddFragment(const Packet& packet, std::int64_t time_ns) {
  const std::uint64_t hash = FragmentHash(packet);
  if (fragments_.empty() ||
      fragments_[hash / 2 % kFragmentPlaces].packet != hash) {
    ++totals_.stray_fragments;
    return;
  }
  const FragmentOwner& owner = fragments_[hash / 2 % kFragmentPlaces];
  Flow& flow = flows_[owner.flow].flow;
  flow.last_ns = std::max(flow.last_ns, time_ns);
  DirectionFigures& from =
      owner.from_client ? flow.from_client : flow.from_server;
  ++from.frames;
  ++from.segments;
  ++from.fragments;
  CountLayers(packet, 1, 0, from);
}

std::vector<Flow> FlowTable::Finish() {
  std::vector<Flow> flows;
  flows.reserve(flows_.size());
  for (Tracked& tracked : flows_) {
    if (tracked.connection) tracked.connection->Finish(tracked.flow);
    flows.push_back(std::move(tracked.flow));
  }
  std::stable_sort(flows.begin(), flows.end(),
                   [](const Flow& a, const Flow& b) {
                     return a.payload_bytes() > b.payload_bytes();
                   });
  return flows;
}

}  // namespace wiretoll
