// Captured connections out of a few words, for tests of replays and stories.
#ifndef WIRETOLL_TESTS_ANALYSIS_TIMELINES_H_
#define WIRETOLL_TESTS_ANALYSIS_TIMELINES_H_

#include <cstdint>
#include <initializer_list>

#include "harness/capture/call_log.h"
#include "harness/capture/timeline.h"

namespace wiretoll {

inline constexpr std::int64_t kMicro = 1000;
inline constexpr std::int64_t kMilli = 1000 * kMicro;
// The handshake is at 0, in 2026.
inline constexpr std::int64_t kEpoch = 1'796'112'000'000'000'000;

// Builds a Timeline and its CallLog; times are since the SYN, in ns. MSS 1448
// with timestamps, a window of 65,160 at both ends, until it is changed.
class TimelineMaker {
 public:
  // SYN at 0, SYN-ACK at `syn_ack_ns`, the client's ACK at `ack_ns`.
  explicit TimelineMaker(std::int64_t syn_ack_ns = 20 * kMicro,
                         std::int64_t ack_ns = 40 * kMicro) {
    timeline_.client = {"10.0.0.1", 40'000};
    timeline_.server = {"10.0.0.2", 7001};
    timeline_.client_mss = timeline_.server_mss = 1460;
    timeline_.client_scale = timeline_.server_scale = 7;
    timeline_.timestamps = true;
    TimelineSegment& syn = Add(0, true);
    syn.syn = true;
    syn.acknowledged.reset();
    Add(syn_ack_ns, false).syn = true;
    Add(ack_ns, true);
  }

  // The client writes, which takes 5 us.
  TimelineMaker& Write(std::int64_t at, std::int64_t bytes) {
    calls_.sender.calls.push_back(
        {kEpoch + at, kEpoch + at + 5 * kMicro, bytes});
    return *this;
  }
  // The server's call: a read of a stream, or its reply.
  TimelineMaker& ServerCall(std::int64_t at, std::int64_t bytes) {
    calls_.receiver.calls.push_back(
        {kEpoch + at, kEpoch + at + 5 * kMicro, bytes});
    return *this;
  }
  TimelineMaker& Data(std::int64_t at, std::int64_t bytes) {
    TimelineSegment& segment = Add(at, true);
    segment.payload_bytes = bytes;
    segment.ip_bytes += bytes;
    sent_ += bytes;
    return *this;
  }
  // The server acknowledges all up to `acknowledged`, with `bytes` of its own.
  TimelineMaker& Ack(std::int64_t at, std::int64_t acknowledged,
                     std::int64_t bytes = 0) {
    received_ = acknowledged;
    TimelineSegment& segment = Add(at, false);
    segment.payload_bytes = bytes;
    segment.ip_bytes += bytes;
    replied_ += bytes;
    return *this;
  }
  TimelineMaker& Window(std::int64_t bytes) {
    window_ = bytes;
    return *this;
  }
  TimelineMaker& Fin(std::int64_t at) {
    Add(at, true).fin = true;
    return *this;
  }
  // The last segment, to change what the above do not.
  TimelineSegment& last() { return timeline_.segments.back(); }
  Timeline& timeline() { return timeline_; }
  CallLog& calls() { return calls_; }

 private:
  TimelineSegment& Add(std::int64_t at, bool from_client) {
    TimelineSegment segment;
    segment.time_ns = kEpoch + at;
    segment.from_client = from_client;
    segment.offset = from_client ? sent_ : replied_;
    segment.acknowledged = from_client ? replied_ : received_;
    segment.window_bytes = from_client ? 65'160 : window_;
    segment.ip_bytes = 52;
    timeline_.segments.push_back(segment);
    return timeline_.segments.back();
  }

  Timeline timeline_;
  CallLog calls_;
  std::int64_t sent_ = 0, replied_ = 0, received_ = 0, window_ = 65'160;
};

}  // namespace wiretoll

#endif  // WIRETOLL_TESTS_ANALYSIS_TIMELINES_H_
