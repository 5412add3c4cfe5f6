// What coordinator and agent say to each other: JSON lines over a pipe.
// The page to read is docs/protocol.md.
//
//   coordinator                          agent
//   {"v":1,"id":1,"do":"hello"}          {"v":1,"id":1,"ok":{"agent":...}}
//   {"v":1,"id":2,"do":"facts",...}      {"v":1,"id":2,"ok":{"facts":[...]}}
//   {"v":1,"id":9,"do":"clock"}          {"v":1,"id":9,"ok":{"clock":{...}}}
//   {"v":1,"id":3,"do":"trial",...}      {"v":1,"id":3,"ready":{"port":N}}
//   {"v":1,"id":3,"do":"go","port":N}    (sender only: where to connect)
//                                        {"v":1,"id":3,"ok":{"end":{...}}}
//   {"v":1,"id":3,"do":"sent",...}       (UDP receiver only: it was all sent)
//   {"v":1,"id":3,"do":"abort"}          {"v":1,"id":3,"error":"aborted"}
//   {"v":1,"id":4,"do":"capture",...}    {"v":1,"id":4,"ok":{"capturing":...}}
//   {"v":1,"id":5,"do":"capture-end"}    {"v":1,"id":5,"ok":{"captured":...}}
//   {"v":1,"id":6,"do":"part",...}       {"v":1,"id":6,"ok":{"part":...}}
//
// One trial at a time, or those of one group. Any request may be answered by
// {"v":1,"id":N,"error":"...","skip":false}; skip true says this host cannot
// do what was asked (an option it does not have), which is no failure. A trial
// is answered once, after its "ready": "go", "sent" and "abort" have no answer
// of their own, and none at all once the trial has been answered.
// A capture stands beside a trial: begun before, ended after it; its file, and
// the trial's list of calls and its time series, are taken in parts.
// End of standard input ends the agent, whatever it was doing.
#ifndef WIRETOLL_HARNESS_AGENT_PROTOCOL_H_
#define WIRETOLL_HARNESS_AGENT_PROTOCOL_H_

#include <chrono>
#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "harness/base/result.h"
#include "harness/base/units.h"
#include "harness/samples/run_folder.h"
#include "harness/samples/sample.h"
#include "harness/study/study.h"

namespace wiretoll {

inline constexpr int kProtocolVersion = 1;
inline constexpr std::size_t kMaxLineBytes = std::size_t{256} * 1024;

enum class Role { kSender, kReceiver };

// The sender's monotonic clock as the receiver is to read it.
struct SenderClock {
  Nanoseconds offset{0};  // The sender's minus the receiver's.
  Nanoseconds error{0};   // At most this far off; 0: it is the same clock.
};

// One end's part in a trial.
struct TrialRequest {
  std::string trial;
  Role role = Role::kSender;
  Workload workload;
  std::string local_address;    // Bind to this only.
  std::string peer_address;     // Receiver: take this peer only,
  std::uint16_t peer_port = 0;  // from this port. Sender: 0, "go" tells.
  // The range of data ports: a receiver listens on one of them, a sender
  // names them in messages. Both 0: the system chooses.
  std::uint16_t first_port = 0;
  std::uint16_t last_port = 0;
  std::uint64_t payload_seed = 0;  // Of the pattern to send and verify.
  std::chrono::milliseconds deadline{30'000};  // For the whole trial.
  // UDP receiver: what one-way delays need. Empty: they are not given.
  std::optional<SenderClock> sender_clock;
  // Trials of one group run at once on this agent; empty: it runs alone.
  std::string group;
  bool log_calls = false;  // Keep the list of calls, to be taken in parts.
  // Look at the connection this often, for a time series that is taken in
  // parts. Over TCP only.
  std::optional<Nanoseconds> series;
};

// What to capture on this host: see platform/packet_capture.h.
struct CaptureRequest {
  std::string local_address;
  std::string peer_address;
  std::uint16_t first_port = 0;
  std::uint16_t last_port = 0;
  std::uint32_t snap_bytes = 128;
};

// A capture that has ended.
struct CaptureEnd {
  std::int64_t frames = 0;              // In the file.
  std::optional<std::int64_t> dropped;  // By the kernel; empty: not told.
  std::int64_t bytes = 0;               // Of the file.
  std::string partial;                  // What is missing in it, and why.
};

// What can be taken in parts: the last capture's file, the list of calls of
// the trial that ended last (lines of harness/capture/call_log.h, without the
// head), its time series (harness/samples/series.h, likewise).
enum class PartOf { kCapture, kCalls, kSeries };
// Of one part, before it is made text; a line holds it.
inline constexpr std::size_t kPartBytes = 150'000;

struct PartRequest {
  PartOf of = PartOf::kCapture;
  std::int64_t offset = 0;
};

struct Part {
  std::string data;
  std::int64_t left = 0;  // Bytes behind it.
};

// What a UDP sender's report says, told to its receiver.
struct SentNotice {
  std::int64_t datagrams = 0;
  std::int64_t bytes = 0;
};

struct Request {
  std::int64_t id = 0;
  std::string verb;                   // hello, facts, clock, trial, go, sent,
                                      // abort, capture, capture-end, part
  std::string address;                // facts
  std::optional<TrialRequest> trial;  // trial
  std::uint16_t port = 0;             // go
  SentNotice sent;                    // sent
  CaptureRequest capture;             // capture
  PartRequest part;                   // part
};

struct Hello {
  std::string version;
  std::string os;
  std::string stack;
  std::string description;
};

// An agent's clocks at one moment.
struct ClockReading {
  Nanoseconds wall{0};       // Since 1970-01-01T00:00:00Z.
  Nanoseconds monotonic{0};  // Since a moment of the host's choosing.
  // The same for two agents only if they read the same monotonic clock (Linux:
  // boot id and time namespace). Empty: not known.
  std::string identity;
};

struct Reply {
  std::int64_t id = 0;
  std::optional<Hello> hello;
  std::optional<std::vector<RecordedFact>> facts;
  std::optional<ClockReading> clock;  // When the request was read.
  std::optional<std::uint16_t> ready_port;
  std::optional<EndReport> end;
  std::optional<std::string> capturing;  // The interface.
  std::optional<CaptureEnd> captured;
  std::optional<Part> part;
  std::optional<std::string> error;
  bool skip = false;
};

// Each gives one line without its newline.
std::string EncodeRequest(const Request& request);
std::string EncodeReply(const Reply& reply, Role role);

// The failure says what is wrong: no JSON, another version, a field missing,
// of the wrong type, out of range. Nothing is taken from a line that does not
// check out. A reply carrying an end report needs the role it is for.
Outcome<Request> DecodeRequest(const std::string& line);
Outcome<Reply> DecodeReply(const std::string& line, Role role);

// The id of a request that does not check out, to answer it by; 0 if it has
// none that can be read.
std::int64_t IdOf(const std::string& line);

}  // namespace wiretoll

#endif  // WIRETOLL_HARNESS_AGENT_PROTOCOL_H_
