#include "harness/capture/flows.h"

#include <gmock/gmock.h>

#include <deque>
#include <string>

#include "harness/capture/sequence_space.h"
#include "tests/capture/frames.h"

namespace wiretoll {
namespace {

using testing::ElementsAre;
using Bin = SizeDistribution::Bin;

constexpr std::int64_t kMs = 1'000'000;

// A connection's segments, put into a table one after the other. Numbers are
// counted from 0 behind the SYN; the client's begin so that they start over.
class Conversation {
 public:
  explicit Conversation(std::size_t most_flows = kMostFlows)
      : table_(most_flows) {}

  static constexpr std::uint32_t kClient = 0xFFFFFFFFU - 500;
  static constexpr std::uint32_t kServer = 9000;

  TimelineSegment Frame(std::int64_t time_ns, const std::string& frame) {
    bytes_.push_back(frame);
    CapturedFrame captured = FrameOf(bytes_.back(), 1, time_ns);
    captured.number = static_cast<std::int64_t>(bytes_.size());
    const SegmentSeen* seen = table_.Add(captured, Dissect(captured));
    return seen == nullptr ? TimelineSegment{} : seen->segment;
  }

  // SYN at 0 ms, SYN-ACK at 4 ms, ACK at 5 ms.
  void Open(const std::string& options = SynOptions(1460, 2)) {
    TcpSpec spec;
    spec.sequence = kClient - 1;
    spec.flags = "S";
    spec.window = 64000;
    spec.options = options;
    Frame(0, TcpFrame(spec));
    spec.from_client = false;
    spec.sequence = kServer - 1;
    spec.acknowledgment = kClient;
    spec.flags = "SA";
    spec.window = 65000;
    Frame(4 * kMs, TcpFrame(spec));
    Client(5 * kMs, {0, 0, 0});
  }

  struct Sent {
    std::int64_t offset = 0;
    std::size_t payload = 0;
    std::int64_t acknowledged = 0;
  };
  TimelineSegment Client(std::int64_t time_ns, const Sent& sent,
                         const std::string& flags = "A",
                         const std::string& options = "") {
    TcpSpec spec;
    spec.sequence = kClient + static_cast<std::uint32_t>(sent.offset);
    spec.acknowledgment =
        kServer + static_cast<std::uint32_t>(sent.acknowledged);
    spec.payload = sent.payload;
    spec.flags = flags;
    spec.options = options;
    return Frame(time_ns, TcpFrame(spec));
  }

  TimelineSegment Server(std::int64_t time_ns, const Sent& sent,
                         std::uint16_t window = 1000,
                         const std::string& flags = "A") {
    TcpSpec spec;
    spec.from_client = false;
    spec.sequence = kServer + static_cast<std::uint32_t>(sent.offset);
    spec.acknowledgment =
        kClient + static_cast<std::uint32_t>(sent.acknowledged);
    spec.payload = sent.payload;
    spec.window = window;
    spec.flags = flags;
    return Frame(time_ns, TcpFrame(spec));
  }

  std::vector<Flow> Finish() { return table_.Finish(); }
  Flow Only() {
    std::vector<Flow> flows = table_.Finish();
    EXPECT_EQ(flows.size(), 1U);
    return flows.at(0);
  }
  const CaptureTotals& totals() const { return table_.totals(); }

 private:
  FlowTable table_;
  std::deque<std::string> bytes_;
};

// 1000 and 200 bytes from the client, 300 from the server, each closes.
Flow WholeConnection() {
  Conversation talk;
  talk.Open();
  talk.Client(10 * kMs, {0, 1000, 0});
  talk.Server(12 * kMs, {0, 0, 1000});
  talk.Client(20 * kMs, {1000, 200, 0}, "AP");
  talk.Server(21 * kMs, {0, 300, 1200});
  talk.Client(22 * kMs, {1200, 0, 300});
  talk.Client(30 * kMs, {1200, 0, 300}, "FA");
  talk.Server(31 * kMs, {300, 0, 1201}, 1000, "FA");
  talk.Client(32 * kMs, {1201, 0, 301});
  return talk.Only();
}

TEST(Flows, AConnectionFromItsOpeningToItsEnd) {
  const Flow flow = WholeConnection();
  EXPECT_EQ(EndpointText(flow.client), "10.0.0.1:40000");
  EXPECT_EQ(EndpointText(flow.server), "10.0.0.2:80");
  EXPECT_TRUE(flow.begin_seen);
  EXPECT_TRUE(flow.scale_known);
  EXPECT_EQ(flow.server_round_trip_ns, 4 * kMs);
  EXPECT_EQ(flow.client_round_trip_ns, 1 * kMs);
  EXPECT_EQ(flow.last_ns - flow.first_ns, 32 * kMs);
  const DirectionFigures& server = flow.from_server;
  EXPECT_EQ(server.segments, 4);
  EXPECT_EQ(server.data_segments, 1);
  EXPECT_EQ(server.pure_acks, 1);
  EXPECT_EQ(server.window_initial, 65000);  // A SYN's is not scaled,
  EXPECT_EQ(server.window_min, 4000);       // the others' are, by 2 bits.
  EXPECT_EQ(server.window_max, 4000);
}

TEST(Flows, WhatEachSegmentOfAnEndWasFor) {
  const DirectionFigures client = WholeConnection().from_client;
  EXPECT_EQ(client.segments, 7);
  EXPECT_EQ(client.data_segments, 2);
  EXPECT_EQ(client.payload_bytes, 1200);
  EXPECT_EQ(client.unique_bytes, 1200);
  EXPECT_EQ(client.missing_bytes, 0);
  EXPECT_EQ(client.pure_acks, 3);  // Of the handshake, at 22 and 32 ms.
  EXPECT_EQ(client.syns, 1);
  EXPECT_EQ(client.fins, 1);
  EXPECT_EQ(client.mss, 1460);
  EXPECT_EQ(client.scale, 2);
  EXPECT_EQ(client.data_to_ack.samples, 2);
  EXPECT_EQ(client.data_to_ack.min_ns, 1 * kMs);
  EXPECT_EQ(client.data_to_ack.max_ns, 2 * kMs);
  EXPECT_EQ(client.data_to_ack.sum_ns, 3 * kMs);
  EXPECT_THAT(client.sizes.Bins(),
              ElementsAre(Bin{200, 200, 1}, Bin{1000, 1000, 1}));
}

TEST(Flows, BytesOfTheLayersAreOfTrueEthernet) {
  Conversation talk;
  talk.Open("");
  talk.Client(10 * kMs, {0, 100, 0});
  const DirectionFigures client = talk.Only().from_client;
  // SYN and ACK are 40 bytes of IP, 14 + 40 + 4 padded to 64; the data is 140,
  // 158 on layer 2. Preamble and gap are 20 more each.
  EXPECT_EQ(client.layer3_bytes, 40 + 40 + 140);
  EXPECT_EQ(client.layer2_bytes, 64 + 64 + 158);
  EXPECT_EQ(client.layer1_bytes, 84 + 84 + 178);
  EXPECT_TRUE(client.framing_known);
}

TEST(Flows, WithoutEthernetNobodyKnowsTheFraming) {
  FlowTable table;
  const std::string bytes = Ipv4({}, TcpSegment({}));
  const CapturedFrame frame = FrameOf(bytes, 101);
  table.Add(frame, Dissect(frame));
  const Flow flow = table.Finish().at(0);
  EXPECT_FALSE(flow.from_client.framing_known);
  EXPECT_EQ(flow.from_client.layer3_bytes, 40);
}

TEST(Flows, SequenceNumbersThatStartOverCountOn) {
  Conversation talk;
  talk.Open();
  // The client's numbers start over at offset 501.
  EXPECT_EQ(talk.Client(10 * kMs, {0, 400, 0}).offset, 0);
  EXPECT_EQ(talk.Client(11 * kMs, {400, 400, 0}).offset, 400);
  EXPECT_EQ(talk.Client(12 * kMs, {800, 400, 0}).offset, 800);
  EXPECT_EQ(talk.Server(13 * kMs, {0, 0, 1200}).acknowledged, 1200);
  const Flow flow = talk.Only();
  EXPECT_EQ(flow.from_client.unique_bytes, 1200);
  EXPECT_EQ(flow.from_client.retransmissions, 0);
  EXPECT_EQ(flow.from_client.missing_bytes, 0);
}

TEST(Flows, AStreamOfMoreThanFourGibibytesHasOneOffsetEach) {
  // Segments of 1 MiB, as no capture has them, but the headers allow.
  SequenceSpace space;
  space.Start(123, true);
  constexpr std::int64_t kMebibyte = 1 << 20;
  for (std::int64_t i = 0; i < 9000; ++i) {
    const std::int64_t offset = i * kMebibyte;
    const auto sequence = static_cast<std::uint32_t>(123 + offset);
    ASSERT_EQ(space.OffsetOf(sequence), offset);
    ASSERT_EQ(space.Place(offset, kMebibyte, i).fresh, kMebibyte);
  }
  EXPECT_EQ(space.next(), 9000 * kMebibyte);  // 8.8 GiB.
  // What is repeated now is not what was sent 4 GiB before.
  EXPECT_EQ(space.OffsetOf(static_cast<std::uint32_t>(123 + 8999 * kMebibyte)),
            8999 * kMebibyte);
}

TEST(Flows, WhatWasSentBeforeIsARetransmission) {
  Conversation talk;
  talk.Open();
  talk.Client(10 * kMs, {0, 100, 0});
  talk.Client(11 * kMs, {100, 100, 0});
  EXPECT_TRUE(talk.Client(300 * kMs, {0, 100, 0}).retransmission);
  talk.Server(301 * kMs, {0, 0, 200});
  // Acknowledged already: for nothing.
  EXPECT_TRUE(talk.Client(302 * kMs, {100, 100, 0}).retransmission);
  // Half old, half new.
  EXPECT_TRUE(talk.Client(303 * kMs, {150, 100, 0}).retransmission);
  const DirectionFigures client = talk.Only().from_client;
  EXPECT_EQ(client.data_segments, 5);
  EXPECT_EQ(client.payload_bytes, 500);
  EXPECT_EQ(client.unique_bytes, 250);
  EXPECT_EQ(client.retransmissions, 3);
  EXPECT_EQ(client.retransmitted_bytes, 100 + 100 + 50);
  EXPECT_EQ(client.spurious_retransmissions, 1);
  EXPECT_EQ(client.resent, 3);
  // Karn: the first was sent twice, the second was never timed.
  EXPECT_EQ(client.data_to_ack.samples, 0);
}

TEST(Flows, WhatFillsAGapWasOvertakenOrLostBeforeHere) {
  Conversation talk;
  talk.Open();  // A round trip of 5 ms.
  talk.Client(10 * kMs, {0, 100, 0});
  talk.Client(11 * kMs, {200, 100, 0});
  const TimelineSegment overtaken = talk.Client(12 * kMs, {100, 100, 0});
  EXPECT_TRUE(overtaken.out_of_order);
  EXPECT_FALSE(overtaken.retransmission);
  talk.Client(20 * kMs, {400, 100, 0});
  talk.Client(40 * kMs, {300, 100, 0});  // 20 ms after the gap had opened.
  const DirectionFigures client = talk.Only().from_client;
  EXPECT_EQ(client.out_of_order, 2);
  EXPECT_EQ(client.late_fills, 1);
  EXPECT_EQ(client.resent, 1);
  EXPECT_EQ(client.retransmissions, 0);
  EXPECT_EQ(client.unique_bytes, 500);
  EXPECT_EQ(client.missing_bytes, 0);
}

TEST(Flows, WithoutARoundTripOvertakingTakes3MsAtMost) {
  Conversation talk;
  talk.Client(10 * kMs, {0, 100, 0});
  talk.Client(11 * kMs, {200, 100, 0});
  talk.Client(13 * kMs, {100, 50, 0});  // 2 ms after the gap had opened,
  talk.Client(14 * kMs, {150, 50, 0});  // 3 ms.
  const DirectionFigures client = talk.Only().from_client;
  EXPECT_EQ(client.out_of_order, 2);
  EXPECT_EQ(client.late_fills, 1);
}

TEST(Flows, WhatTheCaptureMissedIsKnownFromLaterSegmentsAndAcks) {
  Conversation talk;
  talk.Open();
  talk.Client(10 * kMs, {0, 100, 0});
  talk.Client(11 * kMs, {250, 50, 0});  // 150 bytes were not seen.
  talk.Server(12 * kMs, {0, 0, 400});   // Nor the last 100.
  talk.Client(13 * kMs, {400, 10, 0});
  const DirectionFigures client = talk.Only().from_client;
  EXPECT_EQ(client.missing_bytes, 250);
  EXPECT_EQ(client.unique_bytes, 160);
}

TEST(Flows, DuplicateAcksAndWindowUpdatesAreToldApart) {
  Conversation talk;
  talk.Open();
  talk.Client(10 * kMs, {0, 100, 0});
  talk.Client(10 * kMs, {100, 100, 0});
  talk.Server(11 * kMs, {0, 0, 100});
  talk.Server(12 * kMs, {0, 0, 100});        // Duplicate: 100 bytes are out.
  talk.Server(13 * kMs, {0, 0, 100}, 1001);  // Another window.
  talk.Server(14 * kMs, {0, 0, 200}, 1001);
  talk.Server(15 * kMs, {0, 0, 200}, 1001);  // Nothing is out.
  const DirectionFigures server = talk.Only().from_server;
  EXPECT_EQ(server.pure_acks, 5);
  EXPECT_EQ(server.duplicate_acks, 1);
  EXPECT_EQ(server.window_updates, 1);
}

TEST(Flows, AClosedWindowIsProbed) {
  Conversation talk;
  talk.Open();
  talk.Client(10 * kMs, {0, 100, 0});
  talk.Server(11 * kMs, {0, 0, 100}, 0);
  // As Linux does: nothing, one below what is acknowledged.
  EXPECT_TRUE(talk.Client(300 * kMs, {99, 0, 0}).probe);
  talk.Server(301 * kMs, {0, 0, 100}, 0);
  // As Windows does: the next byte. It is refused, and sent again as data.
  EXPECT_TRUE(talk.Client(900 * kMs, {100, 1, 0}).probe);
  talk.Server(901 * kMs, {0, 0, 100}, 0);
  talk.Server(950 * kMs, {0, 0, 100}, 500);
  const TimelineSegment data = talk.Client(951 * kMs, {100, 50, 0});
  EXPECT_FALSE(data.probe || data.retransmission);
  const Flow flow = talk.Only();
  EXPECT_EQ(flow.from_client.probes, 2);
  EXPECT_EQ(flow.from_client.data_segments, 2);
  EXPECT_EQ(flow.from_client.payload_bytes, 150);
  EXPECT_EQ(flow.from_client.unique_bytes, 150);
  EXPECT_EQ(flow.from_server.zero_windows, 3);
  EXPECT_EQ(flow.from_server.window_min, 0);
  EXPECT_EQ(flow.from_server.window_max, 2000);
}

TEST(Flows, AProbesByteThatWasTakenIsData) {
  Conversation talk;
  talk.Open();
  talk.Client(10 * kMs, {0, 100, 0});
  talk.Server(11 * kMs, {0, 0, 100}, 0);
  talk.Client(300 * kMs, {100, 1, 0});
  talk.Server(301 * kMs, {0, 0, 101}, 500);
  EXPECT_FALSE(talk.Client(302 * kMs, {101, 50, 0}).retransmission);
  const DirectionFigures client = talk.Only().from_client;
  EXPECT_EQ(client.probes, 1);
  EXPECT_EQ(client.data_segments, 2);
  EXPECT_EQ(client.unique_bytes, 151);
  EXPECT_EQ(client.missing_bytes, 0);
}

TEST(Flows, AKeepAliveIsAProbeAndALateRepetitionIsNot) {
  Conversation talk;
  talk.Open();
  talk.Client(10 * kMs, {0, 1, 0});
  talk.Server(11 * kMs, {0, 0, 1});
  // The lone byte once more, 20 ms later; then a keep-alive with a byte.
  EXPECT_TRUE(talk.Client(30 * kMs, {0, 1, 0}).retransmission);
  EXPECT_TRUE(talk.Client(5000 * kMs, {0, 1, 0}).probe);
  EXPECT_TRUE(talk.Client(6000 * kMs, {0, 0, 0}).probe);
  const DirectionFigures client = talk.Only().from_client;
  EXPECT_EQ(client.probes, 2);
  EXPECT_EQ(client.retransmissions, 1);
}

TEST(Flows, AStallIsOver30MsBetweenTwoDataSegments) {
  Conversation talk;
  talk.Open();
  talk.Client(100 * kMs, {0, 1, 0});  // Before the first there is none.
  talk.Client(130 * kMs, {1, 1, 0});  // 30 ms.
  talk.Client(171 * kMs, {2, 1, 0});  // 41 ms.
  talk.Client(190 * kMs, {3, 0, 0});  // An ACK is no data.
  talk.Client(221 * kMs, {3, 1, 0});  // 50 ms.
  talk.Client(900 * kMs, {4, 0, 0}, "FA");
  const Stalls stalls = talk.Only().from_client.stalls;
  EXPECT_EQ(stalls.count, 2);
  EXPECT_EQ(stalls.total_ns, 91 * kMs);
  EXPECT_EQ(stalls.longest_ns, 50 * kMs);
  EXPECT_EQ(stalls.longest_at_ns, 171 * kMs);
}

TEST(Flows, ASuperFrameCountsAsTheSegmentsThatTheMssMakesOfIt) {
  Conversation talk;
  talk.Open();
  // 12 bytes of timestamps leave 1448 of 1460: 3 x 1448 + 656 = 5000.
  const TimelineSegment seen =
      talk.Client(10 * kMs, {0, 5000, 0}, "A", TimestampOption());
  EXPECT_EQ(seen.frames, 4);
  // As long as the MSS allows: one.
  EXPECT_EQ(
      talk.Client(11 * kMs, {5000, 1448, 0}, "A", TimestampOption()).frames, 1);
  const Flow flow = talk.Only();
  const DirectionFigures& client = flow.from_client;
  EXPECT_FALSE(flow.mss_assumed);
  EXPECT_EQ(client.frames, 2 + 2);  // With the handshake's two.
  EXPECT_EQ(client.segments, 2 + 5);
  EXPECT_EQ(client.data_segments, 5);
  EXPECT_EQ(client.super_frames, 1);
  EXPECT_EQ(client.super_segments, 4);
  EXPECT_THAT(client.sizes.Bins(),
              ElementsAre(Bin{656, 656, 1}, Bin{1448, 1448, 4}));
  // SYN 52 of IP, ACK 40; then 1500 four times and 52 + 656.
  EXPECT_EQ(client.layer3_bytes, 52 + 40 + 4 * 1500 + 708);
  EXPECT_EQ(client.layer2_bytes, 70 + 64 + 4 * 1518 + 726);
  EXPECT_EQ(client.layer1_bytes, client.layer2_bytes + 140);  // 7 x 20.
}

TEST(Flows, TheSmallerMssOfBothEndsCuts) {
  Conversation talk;
  TcpSpec spec;
  spec.flags = "S";
  spec.options = SynOptions(8960, 2);
  talk.Frame(0, TcpFrame(spec));
  spec.from_client = false;
  spec.flags = "SA";
  spec.acknowledgment = 1;
  spec.options = SynOptions(1000, 2);
  talk.Frame(1, TcpFrame(spec));
  TcpSpec data;
  data.sequence = 1;
  data.acknowledgment = 1;
  data.payload = 2000;
  EXPECT_EQ(talk.Frame(2, TcpFrame(data)).frames, 2);
}

TEST(Flows, APeerThatTellsNoMssTakes536Bytes) {
  Conversation talk;
  talk.Open("");
  EXPECT_EQ(talk.Client(10 * kMs, {0, 1072, 0}).frames, 2);
}

TEST(Flows, WithoutASynTheMssOfAnEthernetIsAssumedAndSaid) {
  Conversation talk;
  talk.Client(0, {0, 1460, 0});
  EXPECT_EQ(talk.Client(1, {1460, 2920, 0}).frames, 2);
  const Flow flow = talk.Only();
  EXPECT_TRUE(flow.mss_assumed);
  EXPECT_FALSE(flow.begin_seen);
  EXPECT_FALSE(flow.scale_known);
  EXPECT_EQ(flow.from_client.data_segments, 3);
}

TEST(Flows, AConnectionUnderWayIsTakenUpWhereItIs) {
  Conversation talk;
  talk.Server(0, {500, 0, 100});  // Before any of the client's bytes.
  EXPECT_EQ(talk.Client(1, {100, 50, 500}).offset, 0);
  EXPECT_EQ(talk.Server(2, {500, 0, 150}).acknowledged, 50);
  // What was sent before the capture began was not seen before.
  EXPECT_FALSE(talk.Client(3, {40, 60, 500}).retransmission);
  EXPECT_TRUE(talk.Client(4, {100, 50, 500}).retransmission);
  const Flow flow = talk.Only();
  EXPECT_EQ(EndpointText(flow.client), "10.0.0.1:40000");  // The higher port.
  EXPECT_EQ(flow.from_client.missing_bytes, 0);
  EXPECT_EQ(flow.from_client.window_max, 1000);  // As in the header.
  EXPECT_EQ(flow.server_round_trip_ns, std::nullopt);
}

TEST(Flows, AnotherSynOnTheSamePortsIsAnotherConnection) {
  Conversation talk;
  talk.Open();
  talk.Client(10 * kMs, {0, 100, 0});
  talk.Server(11 * kMs, {0, 0, 100}, 1000, "RA");
  TcpSpec syn;
  syn.flags = "S";
  syn.sequence = 42;
  talk.Frame(20 * kMs, TcpFrame(syn));
  talk.Frame(21 * kMs, TcpFrame(syn));  // Sent again: the same one.
  TcpSpec data;
  data.sequence = 43;
  data.payload = 7;
  EXPECT_EQ(talk.Frame(22 * kMs, TcpFrame(data)).offset, 0);
  const std::vector<Flow> flows = talk.Finish();
  ASSERT_EQ(flows.size(), 2U);
  EXPECT_EQ(flows[0].payload_bytes(), 100);
  EXPECT_EQ(flows[0].from_server.resets, 1);
  EXPECT_EQ(flows[1].payload_bytes(), 7);
  EXPECT_EQ(flows[1].from_client.syns, 2);
  EXPECT_EQ(flows[1].order, 1U);
}

TEST(Flows, AHandshakeThatWasSentTwiceGivesNoRoundTrip) {
  Conversation talk;
  TcpSpec syn;
  syn.flags = "S";
  syn.sequence = Conversation::kClient - 1;
  talk.Frame(0, TcpFrame(syn));
  talk.Open();
  const Flow flow = talk.Only();
  EXPECT_EQ(flow.from_client.syns, 2);
  EXPECT_EQ(flow.server_round_trip_ns, std::nullopt);
  EXPECT_EQ(flow.client_round_trip_ns, std::nullopt);
}

TEST(Flows, WindowsAreScaledOnlyIfBothEndsOfferIt) {
  Conversation talk;
  TcpSpec spec;
  spec.flags = "S";
  spec.options = SynOptions(1460, 7);
  talk.Frame(0, TcpFrame(spec));
  spec.from_client = false;
  spec.flags = "SA";
  spec.options = "";
  spec.acknowledgment = 1;
  talk.Frame(1, TcpFrame(spec));
  TcpSpec ack;
  ack.sequence = ack.acknowledgment = 1;
  EXPECT_EQ(talk.Frame(2, TcpFrame(ack)).window_bytes, 1000);
  EXPECT_TRUE(talk.Only().scale_known);
}

TEST(Flows, AScaleBeyond14Is14) {
  Conversation talk;
  talk.Open(SynOptions(1460, 200));
  EXPECT_EQ(talk.Client(10 * kMs, {0, 1, 0}).window_bytes, 1000 << 14);
}

TEST(Flows, UdpCountsDatagramsAndTheirFragments) {
  Conversation talk;
  Ipv4Spec ip;
  ip.protocol = 17;
  talk.Frame(0, Ethernet(0x0800, Ipv4(ip, UdpDatagram(5000, 53, 0))));
  const std::string datagram = UdpDatagram(5000, 53, 3000);  // 3008 bytes.
  ip.id = 9;
  ip.fragment = 0x2000;
  talk.Frame(1, Ethernet(0x0800, Ipv4(ip, datagram.substr(0, 1480))));
  ip.fragment = 0x2000 | 185;
  talk.Frame(2, Ethernet(0x0800, Ipv4(ip, datagram.substr(1480, 1480))));
  ip.fragment = 370;
  talk.Frame(3, Ethernet(0x0800, Ipv4(ip, datagram.substr(2960))));
  ip.id = 10;  // Nobody saw its first one.
  talk.Frame(4, Ethernet(0x0800, Ipv4(ip, "stray")));
  const Flow flow = talk.Only();
  EXPECT_FALSE(flow.tcp);
  EXPECT_EQ(flow.from_client.frames, 4);
  EXPECT_EQ(flow.from_client.data_segments, 2);
  EXPECT_EQ(flow.from_client.payload_bytes, 3000);
  EXPECT_EQ(flow.from_client.fragments, 3);
  EXPECT_THAT(flow.from_client.sizes.Bins(),
              ElementsAre(Bin{0, 0, 1}, Bin{3000, 3000, 1}));
  EXPECT_EQ(flow.from_client.layer3_bytes, 28 + 1500 + 1500 + 20 + 48);
  EXPECT_EQ(talk.totals().later_fragments, 3);
  EXPECT_EQ(talk.totals().stray_fragments, 1);
}

TEST(Flows, BeyondTheLimitAreCountedTogether) {
  Conversation talk(2);
  TcpSpec spec;
  spec.payload = 10;
  for (std::uint16_t port = 1; port <= 4; ++port) {
    spec.client_port = static_cast<std::uint16_t>(50000 + port);
    talk.Frame(port, TcpFrame(spec));
    talk.Frame(port, TcpFrame(spec));
  }
  EXPECT_EQ(talk.totals().untracked_frames, 4);
  EXPECT_EQ(talk.totals().untracked_payload_bytes, 40);
  EXPECT_EQ(talk.Finish().size(), 2U);
}

TEST(Flows, APortUsedAgainBeyondTheLimitIsNotTheOldConnection) {
  Conversation talk(1);
  talk.Open();
  TcpSpec spec;
  spec.flags = "S";
  spec.sequence = 1;
  talk.Frame(10 * kMs, TcpFrame(spec));
  spec.flags = "A";
  spec.payload = 500;
  talk.Frame(11 * kMs, TcpFrame(spec));
  EXPECT_EQ(talk.totals().untracked_frames, 2);
  EXPECT_EQ(talk.Only().payload_bytes(), 0);
}

TEST(Flows, ThousandsComeBiggestFirst) {
  Conversation talk;
  for (int i = 0; i < 5000; ++i) {
    TcpSpec spec;
    spec.client_port = static_cast<std::uint16_t>(10000 + i);
    spec.payload = static_cast<std::size_t>(i * 7919 % 1000);
    talk.Frame(i, TcpFrame(spec));
  }
  const std::vector<Flow> flows = talk.Finish();
  ASSERT_EQ(flows.size(), 5000U);
  for (std::size_t i = 1; i < flows.size(); ++i) {
    ASSERT_GE(flows[i - 1].payload_bytes(), flows[i].payload_bytes());
    if (flows[i - 1].payload_bytes() == flows[i].payload_bytes()) {
      ASSERT_LT(flows[i - 1].order, flows[i].order);
    }
  }
}

TEST(SizeDistribution, GoesOverToPowersOfTwoWhereSizesAreMany) {
  SizeDistribution sizes;
  for (int size = 1; size <= 16; ++size) sizes.Add(size, 1);
  EXPECT_EQ(sizes.Bins().size(), 16U);
  sizes.Add(0, 3);
  EXPECT_THAT(sizes.Bins(),
              ElementsAre(Bin{0, 0, 3}, Bin{1, 1, 1}, Bin{2, 3, 2},
                          Bin{4, 7, 4}, Bin{8, 15, 8}, Bin{16, 31, 1}));
}

TEST(SequenceSpace, FillsAGapFromAnySide) {
  SequenceSpace space;
  space.Start(0, true);
  space.Place(100, 10, 5);  // 0 to 100 is missing since 5.
  EXPECT_EQ(space.Missing(), 100);
  const auto middle = space.Place(40, 20, 25);
  EXPECT_EQ(middle.filled, 20);
  EXPECT_EQ(middle.waited_ns, 20);
  EXPECT_EQ(space.Missing(), 80);
  const auto over = space.Place(30, 40, 30);  // 20 of its 40 were there.
  EXPECT_EQ(over.filled, 20);
  EXPECT_EQ(over.repeated, 20);
  const auto all = space.Place(0, 110, 40);
  EXPECT_EQ(all.filled, 60);
  EXPECT_EQ(all.repeated, 50);
  EXPECT_EQ(all.fresh, 0);
  EXPECT_EQ(space.Missing(), 0);
}

TEST(SequenceSpace, StaysBoundedAndCountsWhatItForgot) {
  SequenceSpace space;
  space.Start(0, true);
  for (std::int64_t i = 0; i < 1000; ++i) space.Place(20 * i + 10, 10, i);
  EXPECT_EQ(space.Missing(), 10'000);
  // The first gap is forgotten: what fills it counts as sent before.
  EXPECT_EQ(space.Place(0, 10, 2000).repeated, 10);
  EXPECT_EQ(space.Place(19'980, 10, 2000).filled, 10);
  EXPECT_EQ(space.Missing(), 9990);
}

}  // namespace
}  // namespace wiretoll
