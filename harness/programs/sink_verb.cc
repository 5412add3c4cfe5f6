#include "harness/programs/sink_verb.h"

#include <fmt/format.h>

#include <cstdio>
#include <string>

#include "harness/analysis/wire.h"
#include "harness/base/units.h"
#include "harness/base/words.h"
#include "harness/programs/standard_error.h"
#include "harness/programs/stop_signals.h"

namespace wiretoll {
namespace {

constexpr int kLabel = 18;  // Columns.

std::string Spelled(const Endpoint& endpoint) {
  const bool v6 = endpoint.address.find(':') != std::string::npos;
  return v6 ? fmt::format("[{}]:{}", endpoint.address, endpoint.port)
            : fmt::format("{}:{}", endpoint.address, endpoint.port);
}

std::string Row(const std::string& label, const std::string& text) {
  return fmt::format("  {:<{}}{}\n", label, kLabel, text);
}

// The clock starts when the first call has returned, so its bytes are left
// out.
std::string Speed(const EndReport& end) {
  const auto timed = end.bytes - end.first_read_bytes.value_or(0);
  if (!end.elapsed_ns || *end.elapsed_ns <= 0 || timed <= 0) {
    return "no throughput: too little came to time it";
  }
  const double rate =
      1e9 * static_cast<double>(timed) / static_cast<double>(*end.elapsed_ns);
  return fmt::format("{} ({}) over {}", FormatByteRate(rate),
                     FormatBitRate(BitsPerSecond{8 * rate}),
                     FormatDuration(Nanoseconds(*end.elapsed_ns)));
}

std::string Calls(const EndReport& end, const char* noun) {
  if (end.calls == 0) return "none";
  return fmt::format("{}, {} bytes each on average", Count(end.calls, noun),
                     FormatNumber(static_cast<double>(end.bytes) /
                                  static_cast<double>(end.calls)));
}

Sample AsSample(const SunkStream& stream) {
  Sample sample;
  sample.trial = "sink-" + Spelled(stream.sender);
  sample.started = stream.started;
  sample.outcome = stream.whole ? TrialOutcome::kOk : TrialOutcome::kFailed;
  sample.reason = stream.whole ? "" : stream.ended;
  sample.receiver = stream.end;
  sample.factors = {{"transport", stream.udp ? "udp" : "tcp"}};
  return sample;
}

// What this kernel's counters say of the wire; of the sender nothing is known.
Wire WireOf(const SunkStream& stream) {
  EndReport sender;
  sender.bytes = stream.end.bytes;
  sender.counters.reason = "the sender is not ours";
  const bool v6 = stream.sender.address.find(':') != std::string::npos;
  return AccountWire(sender, stream.end, v6 ? 6 : 4);
}

std::string TcpRows(const SunkStream& stream) {
  const Wire wire = WireOf(stream);
  std::string rows = Row("reads", Calls(stream.end, "read"));
  if (!wire.data_segments || *wire.data_segments == 0) {
    return rows + Row("data segments", "not observed: " + wire.reason);
  }
  rows +=
      Row("data segments",
          fmt::format("{}, {} bytes each on average (this kernel's count)",
                      *wire.data_segments,
                      FormatNumber(static_cast<double>(stream.end.bytes) /
                                   static_cast<double>(*wire.data_segments))));
  if (wire.l1_bytes_low && wire.l1_bytes_high && *wire.l1_bytes_high > 0) {
    const double line =
        static_cast<double>(*wire.l1_bytes_low + *wire.l1_bytes_high) / 2;
    rows += Row(
        "efficiency",
        fmt::format(
            "{} %: payload over bytes on an Ethernet's line",
            FormatNumber(100 * static_cast<double>(stream.end.bytes) / line)));
  }
  return rows;
}

std::string UdpRows(const SunkStream& stream) {
  const DatagramReport& datagrams = *stream.end.datagrams;
  std::string rows = Row("datagrams", Calls(stream.end, "datagram"));
  rows +=
      Row("no room for",
          datagrams.receive_buffer_drops
              ? fmt::format("{} in this host's receive buffer",
                            Count(*datagrams.receive_buffer_drops, "datagram"))
              : "not observed: " +
                    stream.end.why_null.at("datagrams.receive_buffer_drops"));
  if (!stream.numbered) {
    return rows + Row("lost",
                      "not known: the datagrams carry no number that is known "
                      "here (iperf 2's is)");
  }
  const NumberedDatagrams& numbers = *stream.numbered;
  return rows + Row("lost", fmt::format("{} of {} by iperf 2's numbers; {} "
                                        "duplicated, {} reordered",
                                        numbers.lost, numbers.sent,
                                        numbers.duplicated, numbers.reordered));
}

std::string BufferText(const EndReport& end) {
  const auto found = end.options.find("rcvbuf");
  if (found == end.options.end()) return "not read";
  const auto* bytes = std::get_if<std::int64_t>(&found->second.effective);
  return bytes == nullptr ? found->second.reason
                          : fmt::format("{} bytes, as read back", *bytes);
}

std::string AsText(const SunkStream& stream) {
  std::string text = fmt::format(
      "{} from {} to {}, {}\n", stream.udp ? "UDP" : "TCP",
      Spelled(stream.sender), Spelled(stream.local), stream.started);
  text += Row("received", GroupDigits(stream.end.bytes) + " bytes");
  text += Row("throughput", Speed(stream.end));
  text += stream.udp ? UdpRows(stream) : TcpRows(stream);
  text += Row("receive buffer", BufferText(stream.end));
  text += Row("ended", stream.ended);
  if (stream.strangers > 0) {
    text += Row("from others", Count(stream.strangers,
                                     stream.udp ? "datagram" : "connection"));
  }
  return text;
}

std::string AsLine(const SunkStream& stream) {
  Sample sample = AsSample(stream);
  if (!stream.udp) sample.wire = WireOf(stream);
  if (stream.numbered) {
    Datagrams& datagrams = sample.datagrams.emplace();
    datagrams.sent = stream.numbered->sent;
    datagrams.lost = stream.numbered->lost;
    datagrams.duplicated = stream.numbered->duplicated;
    datagrams.reordered = stream.numbered->reordered;
    datagrams.received =
        datagrams.sent - datagrams.lost + stream.numbered->duplicated;
    datagrams.reason = "counted from iperf 2's numbers, at the receiver alone";
  }
  return ToLine(sample) + "\n";
}

void SayThatWeListen(const SinkSpec& spec) {
  WriteError(fmt::format(
      "wiretoll: {} port {} on {}: waiting for {}, {} at most for each; "
      "Ctrl-C ends it\n",
      spec.tcp && spec.udp ? "TCP and UDP" : (spec.tcp ? "TCP" : "UDP"),
      spec.port, spec.address, Count(spec.streams, "stream"),
      FormatDuration(spec.wait)));
}

}  // namespace

Outcome<ExitCode> SinkVerb(const SinkOptions& options) {
  NoteStopSignals();
  bool cut = false;
  SinkHooks hooks;
  hooks.listening = [&options] {
    if (!options.quiet) SayThatWeListen(options.spec);
  };
  hooks.stop = [] { return StopRequested(); };
  hooks.sunk = [&](const SunkStream& stream) {
    cut = cut || !stream.whole;
    fmt::print("{}", options.json ? AsLine(stream) : AsText(stream));
    std::fflush(stdout);
  };
  const Outcome<int> taken = RunSink(options.spec, hooks);
  if (!taken.has_value()) return taken.error();
  if (taken.value() == 0 && StopRequested()) {
    return Failure{ExitCode::kNothingRan, "ended before anybody sent anything"};
  }
  if (taken.value() == 0) {
    return Failure{
        ExitCode::kNothingRan,
        fmt::format("nobody sent anything to port {} within {}; is "
                    "a firewall in the way, or the address another?",
                    options.spec.port, FormatDuration(options.spec.wait))};
  }
  return cut ? ExitCode::kSomeTrialsFailed : ExitCode::kDone;
}

}  // namespace wiretoll
