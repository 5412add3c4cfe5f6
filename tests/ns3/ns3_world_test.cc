// What ns-3 makes of a link and of sockets, without agents. The figures are of
// ns-3 3.37 and of each test in a process of its own, as ctest runs them:
// random numbers go on from one simulation of a process to the next.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "harness/ns3/world.h"

namespace wiretoll::sim {
namespace {

using Kind = Action::Kind;

// `writes` of `bytes`, one every `gap_ns`.
class Writer : public TcpProgram {
 public:
  Writer(std::int64_t writes, std::int64_t bytes, std::int64_t gap_ns)
      : left_(writes), bytes_(bytes), gap_ns_(gap_ns) {}

  Action Next(std::int64_t now_ns) override {
    if (left_ == 0) return {Kind::kShut, now_ns, 0};
    --left_;
    const std::int64_t due = written_ == 0 ? now_ns : now_ns + gap_ns_;
    return {Kind::kWrite, due, bytes_};
  }
  const unsigned char* Payload(std::int64_t offset) override {
    return payload_.data() + offset;
  }
  void Wrote(std::int64_t /*now_ns*/, std::int64_t bytes) override {
    written_ += bytes;
  }
  void Read(std::int64_t /*now_ns*/, std::int64_t /*bytes*/,
            const unsigned char* /*data*/) override {}
  void End(std::int64_t /*now_ns*/) override {}

  [[nodiscard]] std::int64_t written() const { return written_; }
  std::vector<unsigned char> payload_;

 private:
  std::int64_t left_;
  const std::int64_t bytes_;
  const std::int64_t gap_ns_;
  std::int64_t written_ = 0;
};

class Reader : public TcpProgram {
 public:
  Action Next(std::int64_t now_ns) override {
    return {ended_ ? Kind::kShut : Kind::kRead, now_ns, 0};
  }
  const unsigned char* Payload(std::int64_t /*offset*/) override {
    return nullptr;
  }
  void Wrote(std::int64_t /*now_ns*/, std::int64_t /*bytes*/) override {}
  void Read(std::int64_t now_ns, std::int64_t bytes,
            const unsigned char* data) override {
    if (read_ == 0) first_ns_ = now_ns;
    read_ += bytes;
    largest_ = std::max(largest_, bytes);
    if (data != nullptr) came_.insert(came_.end(), data, data + bytes);
  }
  void End(std::int64_t now_ns) override {
    ended_ = true;
    end_ns_ = now_ns;
  }

  [[nodiscard]] std::int64_t read() const { return read_; }
  [[nodiscard]] std::int64_t largest() const { return largest_; }
  [[nodiscard]] double BitsPerSecond() const {
    return 8e9 * static_cast<double>(read_) /
           static_cast<double>(end_ns_ - first_ns_);
  }
  std::vector<unsigned char> came_;

 private:
  bool ended_ = false;
  std::int64_t read_ = 0;
  std::int64_t largest_ = 0;
  std::int64_t first_ns_ = 0;
  std::int64_t end_ns_ = 0;
};

// 2000 bytes, one every 10 us.
TcpResult SendBytes(bool no_delay) {
  Writer writer(2000, 1, 10'000);
  Reader reader;
  TcpSpec tcp;
  tcp.no_delay = no_delay;
  TcpResult result = SimulateTcp({}, tcp, writer, reader);
  EXPECT_EQ(result.error, "");
  EXPECT_EQ(reader.read(), 2000);
  return result;
}

// SYN, the handshake's ACK and a FIN beside the 2000.
TEST(Ns3WorldTest, SendsEachByteByItselfWithoutNagle) {
  const TcpResult result = SendBytes(true);
  EXPECT_EQ(result.flow.sent, 2003);
  EXPECT_EQ(result.flow.received, 2003);
  EXPECT_EQ(result.sender.data_segments_out, 2000);
  EXPECT_EQ(result.receiver.data_segments_in, 2000);
}

TEST(Ns3WorldTest, JoinsBytesWithNagle) {
  const TcpResult result = SendBytes(false);
  EXPECT_EQ(result.flow.sent, 12);
  EXPECT_EQ(result.sender.data_segments_out, 9);
  EXPECT_FALSE(result.sender.no_delay);
}

TEST(Ns3WorldTest, CarriesTheBytesThemselvesWhereAsked) {
  Writer writer(3, 70'000, 0);
  writer.payload_.resize(70'000);
  for (std::size_t i = 0; i < writer.payload_.size(); ++i)
    writer.payload_[i] = static_cast<unsigned char>(i % 251);
  Reader reader;
  TcpSpec tcp;
  tcp.carry_bytes = true;
  const TcpResult result = SimulateTcp({}, tcp, writer, reader);
  EXPECT_EQ(result.error, "");
  std::vector<unsigned char> thrice;
  for (int i = 0; i < 3; ++i)
    thrice.insert(thrice.end(), writer.payload_.begin(), writer.payload_.end());
  EXPECT_EQ(reader.came_, thrice);
}

TEST(Ns3WorldTest, HasTheDefaultsOfNs3WhereNothingIsSet) {
  Writer writer(1, 1, 0);
  Reader reader;
  const TcpResult result = SimulateTcp({}, {}, writer, reader);
  EXPECT_TRUE(result.sender.no_delay);
  EXPECT_EQ(result.sender.segment_bytes, 536);
  EXPECT_EQ(result.sender.sndbuf_bytes, 131072);
  EXPECT_EQ(result.receiver.rcvbuf_bytes, 131072);
  EXPECT_EQ(result.receiver.delayed_ack_count, 2);
  EXPECT_EQ(result.sender.congestion, "cubic");
}

TEST(Ns3WorldTest, SetsWhatIsAskedAtTheEndThatItIsFor) {
  Writer writer(1000, 1448, 0);
  Reader reader;
  TcpSpec tcp;
  tcp.segment_bytes = 1448;
  tcp.sndbuf_bytes = 50'000;
  tcp.rcvbuf_bytes = 40'000;
  tcp.delayed_ack_count = 1;
  tcp.congestion = "reno";
  tcp.receiver_read_bytes = 100;
  const TcpResult result = SimulateTcp({}, tcp, writer, reader);
  EXPECT_EQ(result.error, "");
  EXPECT_EQ(result.sender.data_segments_out, 1000);
  EXPECT_EQ(result.sender.sndbuf_bytes, 50'000);
  EXPECT_EQ(result.receiver.sndbuf_bytes, 131072);
  EXPECT_EQ(result.receiver.rcvbuf_bytes, 40'000);
  EXPECT_LE(*result.sender.peer_window_peak_bytes, 40'000);
  // An ACK for each segment, the SYN's and the FIN's own, and a FIN.
  EXPECT_GE(result.receiver.segments_out, 1000);
  EXPECT_EQ(result.sender.congestion, "reno");
  EXPECT_EQ(reader.largest(), 100);
}

// A packet of 1500 bytes and its Ethernet framing of 18 takes 1.2 ms at
// 10 Mbit/s; the other way nothing stands in the way.
TEST(Ns3WorldTest, FillsAPointToPointLinkOfTheRateAsked) {
  Writer writer(1000, 1448, 0);
  Reader reader;
  WorldSpec world;
  world.link.kind = LinkKind::kPointToPoint;
  world.link.bits_per_second = 10e6;
  world.link.delay_ns = 1'000'000;
  TcpSpec tcp;
  tcp.segment_bytes = 1448;
  const TcpResult result = SimulateTcp(world, tcp, writer, reader);
  EXPECT_EQ(result.error, "");
  // 1448 of 1502: 40 of headers, 12 of timestamps, 2 of PPP.
  EXPECT_NEAR(reader.BitsPerSecond(), 10e6 * 1448 / 1502, 0.02 * 10e6);
  EXPECT_GE(*result.sender.rtt_least_ns, 2 * world.link.delay_ns);
}

TEST(Ns3WorldTest, RetransmitsWhatALossyLinkLoses) {
  Writer writer(1000, 536, 0);
  Reader reader;
  WorldSpec world;
  world.link.loss = 0.01;
  const TcpResult result = SimulateTcp(world, {}, writer, reader);
  EXPECT_EQ(result.error, "");
  EXPECT_EQ(reader.read(), 536'000);
  EXPECT_GT(result.flow.lost(), 0);
  EXPECT_GT(result.sender.retransmitted_segments, 0);
  EXPECT_EQ(result.sender.bytes_retransmitted,
            536 * result.sender.retransmitted_segments);
  EXPECT_EQ(*result.sender.bytes_acked, 536'000);
}

TEST(Ns3WorldTest, SaysThatNoConnectionWasMadeOverALinkThatLosesAll) {
  Writer writer(1, 1, 0);
  Reader reader;
  WorldSpec world;
  world.link.loss = 1;
  const TcpResult result = SimulateTcp(world, {}, writer, reader);
  EXPECT_NE(result.error.find("connection was not made"), std::string::npos)
      << result.error;
}

TEST(Ns3WorldTest, RefusesTwoHostsOfOneAddress) {
  Writer writer(1, 1, 0);
  Reader reader;
  WorldSpec world;
  world.receiver_address = world.sender_address;
  EXPECT_THROW(SimulateTcp(world, {}, writer, reader), std::invalid_argument);
}

TEST(Ns3WorldTest, KnowsTheCongestionControlsThatWork) {
  const std::vector<std::string> names = CongestionNames();
  for (const char* name : {"cubic", "newreno", "reno", "vegas", "westwood"})
    EXPECT_EQ(std::count(names.begin(), names.end(), name), 1) << name;
  // It comes to a standstill.
  EXPECT_EQ(std::count(names.begin(), names.end(), "bbr"), 0);
}

// --- The published experiment

PublishedSpec Udp100() {
  PublishedSpec published;
  published.tcp = false;
  published.packets = 100;
  return published;
}

// The 100 leave in 200 us while the ARP request waits for up to 10 ms, and its
// queue holds 3.
TEST(Ns3WorldTest, LosesAllButThreeOfAHundredToAColdArpCache) {
  const FlowFigures flow = SimulatePublished({}, Udp100());
  EXPECT_EQ(flow.sent, 100);
  EXPECT_EQ(flow.received, 3);
  EXPECT_EQ(flow.lost(), 97);
}

TEST(Ns3WorldTest, LosesNoneWithAnArpQueueOfAThousand) {
  WorldSpec world;
  world.arp_queue = 1000;
  const FlowFigures flow = SimulatePublished(world, Udp100());
  EXPECT_EQ(flow.sent, 100);
  EXPECT_EQ(flow.lost(), 0);
}

TEST(Ns3WorldTest, HasNoArpToLoseByOverPointToPoint) {
  WorldSpec world;
  world.link.kind = LinkKind::kPointToPoint;
  EXPECT_EQ(SimulatePublished(world, Udp100()).lost(), 0);
}

}  // namespace
}  // namespace wiretoll::sim
