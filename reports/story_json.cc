#include <array>
#include <ostream>

#include "reports/json_parts.h"
#include "reports/story_data.h"
#include "reports/story_report.h"

namespace wiretoll {
namespace {

Json EndJson(const ConnectionEnd& end, const std::optional<std::int64_t>& mss,
             const std::optional<std::int64_t>& scale) {
  Json json{{"address", end.address},
            {"port", end.port},
            {"mss_option_bytes", OrNull(mss)},
            {"window_scale", OrNull(scale)}};
  if (!mss || !scale) json["why_null"] = "the SYN was not seen, or has none";
  return json;
}

Json SegmentJson(const TimelineSegment& segment, std::int64_t start_ns) {
  Json json{{"at_ns", segment.time_ns - start_ns},
            {"from", segment.from_client ? "client" : "server"},
            {"offset", segment.offset},
            {"payload_bytes", segment.payload_bytes},
            {"acknowledged", OrNull(segment.acknowledged)},
            {"window_bytes", segment.window_bytes},
            {"ip_bytes", segment.ip_bytes},
            {"frames", segment.frames}};
  const std::array<std::pair<const char*, bool>, 7> flags{
      {{"syn", segment.syn},
       {"fin", segment.fin},
       {"rst", segment.rst},
       {"psh", segment.psh},
       {"retransmission", segment.retransmission},
       {"out_of_order", segment.out_of_order},
       {"probe", segment.probe}}};
  for (const auto& [name, set] : flags) {
    if (set) json[name] = true;
  }
  if (!segment.acknowledged) json["why_null"] = "it has no ACK flag";
  return json;
}

Json CallJson(const ProgramCall& call, std::int64_t start_ns) {
  return {{"began_ns", call.began_ns - start_ns},
          {"returned_ns", call.returned_ns - start_ns},
          {"bytes", call.bytes}};
}

Json StallJson(const Stall& stall) {
  return {{"at_ns", stall.began_ns},
          {"lasted_ns", stall.lasted_ns},
          {"mechanism", MechanismName(stall.mechanism)},
          {"words", stall.words}};
}

Json RuleJson(const Story& story) {
  if (!story.rule) {
    return {{"followed", nullptr}, {"why_null", story.why_no_rule}};
  }
  Json fits = Json::array();
  for (const RuleFit& fit : story.rule->fits) {
    fits.push_back({{"rule", SendRuleName(fit.rule)},
                    {"segments", fit.segments},
                    {"same_cuts", fit.same_cuts},
                    {"agreement_share", fit.agreement}});
  }
  const bool known = !story.rule->followed.empty();
  Json json{{"followed", known ? Json(story.rule->followed) : Json(nullptr)},
            {"why", story.rule->why},
            {"seen_segments", story.rule->seen},
            {"fits", std::move(fits)}};
  if (!known) json["why_null"] = story.rule->why;
  return json;
}

template <class List, class Make>
void WriteEvents(const char* name, const List& list, const Make& make,
                 std::ostream& out) {
  out << ",\n\"" << name << "\":[";
  const char* separator = "\n";
  for (const auto& entry : list) {
    out << separator << Dump(make(entry));
    separator = ",\n";
  }
  out << "]";
}

void WriteCalls(const Story& story, std::ostream& out) {
  out << ",\n\"calls\":"
      << Dump({{"sender_on_capture_clock", story.sender_calls_on_clock},
               {"receiver_on_capture_clock", story.receiver_calls_on_clock},
               {"sender_left_out", story.calls.sender.left_out},
               {"receiver_left_out", story.calls.receiver.left_out}});
  const auto make = [&story](const ProgramCall& call) {
    return CallJson(call, story.start_ns);
  };
  WriteEvents("sender_calls", story.calls.sender.calls, make, out);
  WriteEvents("receiver_calls", story.calls.receiver.calls, make, out);
}

}  // namespace

void WriteStoryJson(const Story& story, std::ostream& out) {
  const Timeline& timeline = story.timeline;
  out << "{\"v\":" << kStoryVersion;
  out << ",\n\"sample\":" << ToLine(story.sample);
  out << ",\n\"sender\":" << Dump(Json(story.sender))
      << ",\n\"receiver\":" << Dump(Json(story.receiver))
      << ",\n\"captured_at\":" << Dump(Json(story.captured_at))
      << ",\n\"start_ns\":" << story.start_ns << ",\n\"client\":"
      << Dump(EndJson(timeline.client, timeline.client_mss,
                      timeline.client_scale))
      << ",\n\"server\":"
      << Dump(EndJson(timeline.server, timeline.server_mss,
                      timeline.server_scale))
      << ",\n\"timestamps\":" << (timeline.timestamps ? "true" : "false")
      << ",\n\"dropped_frames\":" << timeline.dropped_frames
      << ",\n\"partial\":" << Dump(Json(timeline.partial));
  out << ",\n\"words\":" << Dump(Json(story.words))
      << ",\n\"notes\":" << Dump(Json(story.notes))
      << ",\n\"rule\":" << Dump(RuleJson(story));
  WriteEvents("stalls", story.stalls, StallJson, out);
  WriteEvents(
      "segments", timeline.segments,
      [&story](const TimelineSegment& segment) {
        return SegmentJson(segment, story.start_ns);
      },
      out);
  WriteCalls(story, out);
  out << "}\n";
}

}  // namespace wiretoll
