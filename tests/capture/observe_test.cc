#include "harness/capture/observe.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>

#include "tests/capture/frames.h"

namespace wiretoll {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

Observation ObserveBytes(const std::string& file) {
  auto reader = CaptureReader::Read(std::make_unique<std::istringstream>(file),
                                    "t.pcapng");
  return Observe(std::move(reader).value(), "t.pcapng", nullptr);
}

// Frames of flows from port 50001 on: the n-th, from 0, sends n x 100 bytes.
std::string Flows(int count) {
  std::string file = PcapHead();
  for (int i = 0; i < count; ++i) {
    TcpSpec spec;
    spec.client_port = static_cast<std::uint16_t>(50001 + i);
    spec.payload = 100 * static_cast<std::size_t>(i);
    file += PcapRecord(100, static_cast<std::uint32_t>(i), TcpFrame(spec));
  }
  return file;
}

TEST(Choose, TakesAPortBeforeANumber) {
  const Observation seen = ObserveBytes(Flows(3));
  EXPECT_THAT(Choose(seen, {}), testing::ElementsAre(0, 1, 2));
  EXPECT_THAT(Choose(seen, {std::nullopt, 2}), testing::ElementsAre(0, 1));
  // Flow 1 is the biggest, of port 50003.
  EXPECT_THAT(Choose(seen, {50003, {}}), testing::ElementsAre(0));
  EXPECT_THAT(Choose(seen, {80, {}}), testing::ElementsAre(0, 1, 2));
  EXPECT_THAT(Choose(seen, {3, {}}), testing::ElementsAre(2));
  EXPECT_THAT(Choose(seen, {4, {}}), IsEmpty());
}

TEST(ObservationText, ShowsTheBiggestFirstAndWhatIsLeftOut) {
  const std::string text =
      ObservationText(ObserveBytes(Flows(5)), {std::nullopt, 2});
  EXPECT_THAT(text, AllOf(HasSubstr("t.pcapng: pcap, 5 frames"),
                          HasSubstr("1970-01-01 00:01:40.000000000 UTC"),
                          HasSubstr("and 3 flows more; --top 5 shows all"),
                          HasSubstr("Flow 1: TCP 10.0.0.1:50005")));
  EXPECT_LT(text.find("50005"), text.find("50004"));
  EXPECT_THAT(text, Not(HasSubstr("50003")));
}

TEST(ObservationText, FitsEightyColumns) {
  std::istringstream lines(ObservationText(ObserveBytes(Flows(12)), {80, {}}));
  for (std::string line; std::getline(lines, line);)
    EXPECT_LE(line.size(), 80U) << line;
}

TEST(ObservationText, OfNoFramesSaysSo) {
  EXPECT_THAT(ObservationText(ObserveBytes(PcapHead()), {}),
              HasSubstr("t.pcapng: pcap, 0 frames\n"));
}

TEST(ObservationText, NeverLetsNamesOutOfFilesReachATerminalRaw) {
  const std::string text =
      ObservationText(ObserveBytes(SectionBlock() +
                                   InterfaceBlock(1, Option(2, "\x1b[31meth"))),
                      {});
  EXPECT_THAT(text, AllOf(HasSubstr("\\x1b[31meth"), Not(HasSubstr("\x1b"))));
}

std::string NotesText(const std::string& file) {
  std::string text;
  for (const std::string& note : ObserveBytes(file).notes) text += note + "\n";
  return text;
}

TEST(Notes, SayWhatIsMissingDoubtfulOrAssumed) {
  const std::string frame = TcpFrame({});
  EXPECT_THAT(NotesText(PcapHead() + "torn"),
              HasSubstr("Partial: the file is torn before its first frame"));
  EXPECT_THAT(NotesText(PcapHead(147) + PcapRecord(1, 0, frame)),
              AllOf(HasSubstr("1 frame was left out for link type 147"),
                    HasSubstr("Ethernet (1)")));
  EXPECT_THAT(
      NotesText(PcapHead() + PcapRecord(1, 0, frame.substr(0, 30), false, 54)),
      HasSubstr("1 frame was left out, cut inside the headers"));
  EXPECT_THAT(NotesText(PcapHead() + PcapRecord(1, 0, frame.substr(0, 30))),
              HasSubstr("malformed, first frame 1: IPv4 header"));
  EXPECT_THAT(
      NotesText(PcapHead() + PcapRecord(2, 0, frame) + PcapRecord(1, 0, frame)),
      AllOf(HasSubstr("clock of interface 0 went back 1 time, by up to "
                      "1.00 s"),
            HasSubstr("1 connection had begun before the capture")));
  EXPECT_THAT(NotesText(SectionBlock() + InterfaceBlock() +
                        Block(5, Little(0, 12) + Option(5, Little(7, 8)))),
              HasSubstr("the capture lost 7 frames on interface 0"));
  TcpSpec big;
  big.payload = 4000;
  EXPECT_THAT(NotesText(PcapHead() + PcapRecord(1, 0, TcpFrame(big))),
              AllOf(HasSubstr("1 frame was longer than the MSS"),
                    HasSubstr("Counted by the MSS: 3 segments"),
                    HasSubstr("taken to be that of an Ethernet of MTU 1500")));
  Ipv4Spec zero;
  zero.length = 0;
  EXPECT_THAT(
      NotesText(PcapHead() +
                PcapRecord(1, 0, Ethernet(0x0800, Ipv4(zero, TcpSegment({}))))),
      HasSubstr(
          "Length 0, as before an offload has cut a packet: 1 IP packet"));
  EXPECT_THAT(
      NotesText(PcapHead() + PcapRecord(1, 0,
                                        std::string(12, '\0') + Big(0x0800, 2) +
                                            Ipv4({}, TcpSegment({})))),
      HasSubstr("Loopback, which is no network: 1 frame"));
}

TEST(Notes, AreNoneWhereNothingIsMissing) {
  TcpSpec syn;
  syn.flags = "S";
  syn.options = SynOptions(1460, 7);
  TcpSpec answer = syn;
  answer.from_client = false;
  answer.flags = "SA";
  answer.acknowledgment = 1;
  EXPECT_THAT(ObserveBytes(PcapHead() + PcapRecord(1, 0, TcpFrame(syn)) +
                           PcapRecord(1, 1, TcpFrame(answer)))
                  .notes,
              IsEmpty());
}

TEST(ObservationJson, HasEveryFigureAndAReasonForEachThatIsNot) {
  const auto json = nlohmann::json::parse(
      ObservationJson(ObserveBytes(Flows(2)), {std::nullopt, 1}));
  EXPECT_EQ(json["format"], "pcap");
  EXPECT_EQ(json["frames"], 2);
  EXPECT_EQ(json["whole"], true);
  EXPECT_EQ(json["flow_count"], 2);
  ASSERT_EQ(json["flows"].size(), 1U);
  const auto& flow = json["flows"][0];
  EXPECT_EQ(flow["client_port"], 50002);
  EXPECT_EQ(flow["from_client"]["payload_bytes"], 100);
  EXPECT_EQ(flow["from_client"]["layer3_bytes"], 140);
  EXPECT_EQ(flow["from_client"]["payload_sizes"][0]["low_bytes"], 100);
  EXPECT_TRUE(json["interfaces"][0]["dropped_frames"].is_null());
  EXPECT_EQ(json["interfaces"][0]["why_null"]["dropped_frames"],
            "the file does not tell");
  const auto& client = flow["from_client"];
  for (const auto& [name, value] : client.items()) {
    if (value.is_null()) {
      EXPECT_TRUE(client["why_null"].contains(name)) << name;
    }
  }
  EXPECT_TRUE(client["mss_bytes"].is_null());
}

TEST(ObservationJson, OfNamesThatAreNoUtf8IsStillJson) {
  const std::string text = ObservationJson(
      ObserveBytes(SectionBlock() + InterfaceBlock(1, Option(2, "\xff\xfe"))),
      {});
  EXPECT_TRUE(nlohmann::json::accept(text));
}

TEST(ObservationCsv, HasAsManyFieldsInEachLineAsTheHeader) {
  std::string file = Flows(2);
  Ipv4Spec ip;
  ip.protocol = 17;
  file += PcapRecord(101, 0,
                     Ethernet(0x0800, Ipv4(ip, UdpDatagram(5000, 53, 700))));
  Observation seen = ObserveBytes(file);
  seen.file = "odd \" name.pcap";
  const auto commas = [](const std::string& line) {
    return std::count(line.begin(), line.end(), ',');
  };
  const std::string header = ObservationCsvHeader();
  std::istringstream lines(ObservationCsv(seen, {}));
  int count = 0;
  for (std::string line; std::getline(lines, line); ++count) {
    EXPECT_EQ(commas(line), commas(header)) << line;
    EXPECT_THAT(line, testing::StartsWith("\"odd \"\" name.pcap\","));
  }
  EXPECT_EQ(count, 6);  // Three flows, both directions.
}

TEST(FlowLife, IsWhatWasSeenOfBeginAndEnd) {
  Flow flow;
  EXPECT_EQ(FlowLife(flow), "begun before the capture, not closed");
  flow.begin_seen = true;
  flow.from_client.fins = 1;
  EXPECT_EQ(FlowLife(flow), "opened, closed by the client alone");
  flow.from_server.fins = 1;
  EXPECT_EQ(FlowLife(flow), "opened, closed by both ends");
  flow.from_server.resets = 1;
  EXPECT_EQ(FlowLife(flow), "opened, reset by the server");
}

TEST(EndpointText, PutsIpv6InBrackets) {
  const Packet packet =
      DissectBytes(Ethernet(0x86DD, Ipv6(17, UdpDatagram(5000, 53, 1))));
  EXPECT_EQ(EndpointText({packet.source, packet.source_port}),
            "[2001:db8::1]:5000");
}

}  // namespace
}  // namespace wiretoll
