#include "reports/csv.h"

#include <fmt/format.h>

#include <array>
#include <functional>
#include <ostream>
#include <type_traits>

#include "harness/samples/fields.h"
#include "harness/samples/run_folder.h"
#include "harness/study/study.h"
#include "reports/text.h"

namespace wiretoll {
namespace {

// Factors with a column of their own; another one goes to other_factors.
constexpr std::array<const char*, 17> kFactors{
    "transport", "pattern", "write",  "read",    "request", "reply",
    "nagle",     "rcvbuf",  "sndbuf", "gap",     "rate",    "congestion",
    "quickack",  "cork",    "mss",    "streams", "pin"};

// Options whose effect is of interest at one end.
struct EndOption {
  const char* column;
  const char* option;
  bool receiver;
};
constexpr std::array<EndOption, 5> kOptions{{
    {"sender_nagle_effective", "nagle", false},
    {"sender_sndbuf_effective_bytes", "sndbuf", false},
    {"sender_congestion_effective", "congestion", false},
    {"sender_mss_effective_bytes", "mss", false},
    {"receiver_rcvbuf_effective_bytes", "rcvbuf", true},
}};

// Of datagrams; empty over TCP.
struct FateColumn {
  const char* column;
  const char* meaning;
  std::int64_t Datagrams::*member;
};
constexpr std::array<FateColumn, 4> kFateColumns{{
    {"datagrams_sent", "got to the network layer of the sending host",
     &Datagrams::sent},
    {"datagrams_received", "duplicates included", &Datagrams::received},
    {"datagrams_lost", "sent and never received", &Datagrams::lost},
    {"datagrams_not_sent", "their calls failed; not among those sent",
     &Datagrams::not_sent},
}};
struct FateCount {
  const char* column;
  const char* meaning;
  std::optional<std::int64_t> Datagrams::*member;
};
constexpr std::array<FateCount, 6> kFateCounts{{
    {"datagrams_duplicated", "came once more", &Datagrams::duplicated},
    {"datagrams_reordered", "RFC 4737 4.1", &Datagrams::reordered},
    {"datagrams_late", "behind three or more sent after it", &Datagrams::late},
    {"datagrams_lost_at_receiver", "its buffer had no room",
     &Datagrams::lost_at_receiver},
    {"datagrams_lost_on_path", "the rest of those lost",
     &Datagrams::lost_on_path},
    {"datagrams_fragments_each", "of one datagram, by the sender's MTU",
     &Datagrams::fragments_each},
}};

struct CaptureText {
  const char* column;
  const char* meaning;
  std::string CaptureRecord::*member;
};
constexpr std::array<CaptureText, 4> kCaptureTexts{{
    {"capture_file", "in the run folder", &CaptureRecord::file},
    {"capture_followed_rule", "rule of sending that the packets show",
     &CaptureRecord::followed_rule},
    {"capture_partial", "what of the capture is missing",
     &CaptureRecord::partial},
    {"capture_reason", "why fields are empty, or there is no capture",
     &CaptureRecord::reason},
}};

struct CaptureCount {
  const char* column;
  const char* meaning;
  std::optional<std::int64_t> CaptureRecord::*member;
};
constexpr std::array<CaptureCount, 13> kCaptureCounts{{
    {"capture_frames", "both directions", &CaptureRecord::frames},
    {"capture_dropped_frames", "seen by the kernel and not kept",
     &CaptureRecord::dropped},
    {"capture_data_segments", "data direction, as on the wire",
     &CaptureRecord::data_segments},
    {"capture_ack_segments", "without payload, the other way",
     &CaptureRecord::ack_segments},
    {"capture_retransmitted_segments", "data direction",
     &CaptureRecord::retransmitted_segments},
    {"capture_payload_bytes", "data direction, retransmissions included",
     &CaptureRecord::payload_bytes},
    {"capture_joined_packets", "longer than the MSS: joined by an offload",
     &CaptureRecord::joined_packets},
    {"capture_replay_at_once_segments",
     "that the same writes would make with Nagle's rule off",
     &CaptureRecord::replay_at_once},
    {"capture_replay_classic_segments", "by the classic rule of Nagle",
     &CaptureRecord::replay_classic},
    {"capture_replay_minshall_segments", "by Minshall's variant",
     &CaptureRecord::replay_minshall},
    {"capture_window_reopened_bytes", "least window that opened a closed one",
     &CaptureRecord::window_reopened_bytes},
    {"capture_silly_wait_ns",
     "shortest wait for a larger window that the sender's timer ended",
     &CaptureRecord::silly_wait_ns},
    {"capture_persist_wait_ns",
     "shortest time from a window's closing to the first probe",
     &CaptureRecord::persist_wait_ns},
}};

using Out = std::string;
using Getter = std::function<void(const Sample&, Out&)>;

struct FilledColumn {
  CsvColumn head;
  Getter append;
};

void Append(Out& out, std::int64_t number) {
  const fmt::format_int text(number);
  out.append(text.data(), text.size());
}
void Append(Out& out, const std::optional<std::int64_t>& number) {
  if (number.has_value()) Append(out, *number);
}
void AppendText(Out& out, std::string_view text) {
  if (CsvNeedsCare(text)) {
    out += CsvField(text);
  } else {
    out += text;
  }
}

std::string OptionText(const OptionValue& value) {
  if (const auto* flag = std::get_if<bool>(&value)) return *flag ? "on" : "off";
  if (const auto* number = std::get_if<std::int64_t>(&value)) {
    return fmt::format("{}", *number);
  }
  if (const auto* text = std::get_if<std::string>(&value)) return *text;
  return {};
}

const std::optional<EndReport>& EndOf(const Sample& sample, bool receiver) {
  return receiver ? sample.receiver : sample.sender;
}

class ColumnList {
 public:
  ColumnList() {
    Trial();
    FactorColumns();
    for (const bool receiver : {false, true}) End(receiver);
    Options();
    Latency();
    WireColumns();
    for (const bool receiver : {false, true}) Counters(receiver);
    Reasons();
    CaptureColumns();
    FlowColumns();
    DatagramColumns();
  }
  std::vector<FilledColumn> Take() { return std::move(columns_); }

 private:
  void Add(std::string name, std::string meaning, Getter append) {
    columns_.push_back(
        {{std::move(name), std::move(meaning)}, std::move(append)});
  }

  void AddText(std::string name, std::string meaning,
               std::string Sample::*member) {
    Add(std::move(name), std::move(meaning),
        [member](const Sample& s, Out& out) { AppendText(out, s.*member); });
  }

  void Trial() {
    AddText("trial", "name of the trial, unique in its run", &Sample::trial);
    AddText("study", "study it belongs to", &Sample::study);
    AddText("case", "case of the study", &Sample::case_id);
    Add("repeat", "block, from 0",
        [](const Sample& s, Out& out) { Append(out, s.repeat); });
    Add("order", "position in the run, from 0",
        [](const Sample& s, Out& out) { Append(out, s.order); });
    AddText("started", "RFC 3339, UTC", &Sample::started);
    Add("outcome", "ok, failed or skipped", [](const Sample& s, Out& out) {
      out += kOutcomeNames[static_cast<std::size_t>(s.outcome)];
    });
    AddText("reason", "why it failed or was skipped", &Sample::reason);
    AddText("link", "the link it ran over", &Sample::link);
  }

  static bool HasColumn(const std::string& factor) {
    for (const char* name : kFactors) {
      if (factor == name) return true;
    }
    return false;
  }

  void FactorColumns() {
    for (const char* name : kFactors) {
      Add(name,
          "factor as the study spells it; write, read, buffers and mss in "
          "bytes",
          [key = std::string(name)](const Sample& s, Out& out) {
            for (const auto& [factor, value] : s.factors) {
              if (factor == key) AppendText(out, SpellFactor(value));
            }
          });
    }
    OtherFactors();
  }

  void OtherFactors() {
    Add("other_factors", "factors without a column: name=value;...",
        [](const Sample& s, Out& out) {
          std::string text;
          for (const auto& [factor, value] : s.factors) {
            if (HasColumn(factor)) continue;
            text += fmt::format("{}{}={}", text.empty() ? "" : ";", factor,
                                SpellFactor(value));
          }
          AppendText(out, text);
        });
  }

  // Of an end that may be missing altogether.
  template <class Use>
  void AddEnd(bool receiver, std::string_view name, const std::string& meaning,
              Use use) {
    Add(fmt::format("{}_{}", receiver ? "receiver" : "sender", name), meaning,
        [receiver, use](const Sample& s, Out& out) {
          const auto& end = EndOf(s, receiver);
          if (end.has_value()) use(*end, out);
        });
  }

  void End(bool receiver) {
    for (const auto& field : kEndTexts) {
      AddEnd(receiver, field.name, "of the end",
             [member = field.member](const EndReport& end, Out& out) {
               AppendText(out, end.*member);
             });
    }
    for (const auto& field : kEndTotals) {
      AddEnd(receiver, field.name,
             "total: calls, payload bytes, connections refused",
             [member = field.member](const EndReport& end, Out& out) {
               Append(out, end.*member);
             });
    }
    for (const auto& field : kEndCounts) {
      const Owner other = receiver ? Owner::kSender : Owner::kReceiver;
      if (field.owner == other) continue;
      AddEnd(receiver, field.name, "by this end's own clock and count",
             [member = field.member](const EndReport& end, Out& out) {
               Append(out, end.*member);
             });
    }
    AddEnd(receiver, "disturbed", "1: load, steal or a clock step disturbed it",
           [](const EndReport& end, Out& out) {
             out += end.disturbance.disturbed ? '1' : '0';
           });
  }

  void Options() {
    for (const EndOption& option : kOptions) {
      Add(option.column, "socket option as read back",
          [option](const Sample& s, Out& out) {
            const auto& end = EndOf(s, option.receiver);
            if (!end.has_value()) return;
            const auto place = end->options.find(option.option);
            if (place == end->options.end()) return;
            AppendText(out, OptionText(place->second.effective));
          });
    }
    Add("receiver_verified", "1: every payload byte was as sent",
        [](const Sample& s, Out& out) {
          if (!s.receiver.has_value() || !s.receiver->verified.has_value()) {
            return;
          }
          out += *s.receiver->verified ? '1' : '0';
        });
  }

  void Latency() {
    for (const auto& field : kLatencyFields) {
      Add(fmt::format("latency_{}", field.name),
          "round trips of request and response, at the client",
          [member = field.member](const Sample& s, Out& out) {
            if (!s.sender.has_value() || !s.sender->latency.has_value()) return;
            Append(out, (*s.sender->latency).*member);
          });
    }
  }

  void WireColumns() {
    Add("wire_observer", "who saw the wire", [](const Sample& s, Out& out) {
      if (s.wire.has_value()) AppendText(out, s.wire->observer);
    });
    for (const auto& field : kWireFields) {
      Add(fmt::format("wire_{}", field.name),
          "data direction; l1 counts preamble and gap",
          [member = field.member](const Sample& s, Out& out) {
            if (s.wire.has_value()) Append(out, (*s.wire).*member);
          });
    }
    Add("wire_agreement", "whether both ends counted the same",
        [](const Sample& s, Out& out) {
          if (s.wire.has_value()) AppendText(out, s.wire->agreement);
        });
  }

  void Counters(bool receiver) {
    for (const auto& field : kCounterFields) {
      AddEnd(receiver, fmt::format("tcp_{}", field.name),
             "the kernel's count for the connection",
             [member = field.member](const EndReport& end, Out& out) {
               Append(out, end.counters.*member);
             });
    }
  }

  static void AddReason(std::string& text, std::string_view where,
                        const std::string& reason) {
    if (reason.empty()) return;
    text += fmt::format("{}{}: {}", text.empty() ? "" : "; ", where, reason);
  }

  void Reasons() {
    Add("why_null", "why empty fields are empty: field: reason; ...",
        [](const Sample& s, Out& out) {
          std::string text;
          for (const bool receiver : {false, true}) {
            const auto& end = EndOf(s, receiver);
            const std::string name = receiver ? "receiver" : "sender";
            if (!end.has_value()) {
              AddReason(text, name, s.reason);
              continue;
            }
            for (const auto& [field, reason] : end->why_null) {
              AddReason(text, fmt::format("{}_{}", name, field), reason);
            }
            AddReason(text, name + "_tcp", end->counters.reason);
          }
          if (s.wire.has_value()) AddReason(text, "wire", s.wire->reason);
          AppendText(out, text);
        });
  }

  void CaptureColumns() {
    for (const CaptureText& text : kCaptureTexts) {
      Add(text.column, text.meaning,
          [member = text.member](const Sample& s, Out& out) {
            if (s.capture.has_value()) AppendText(out, (*s.capture).*member);
          });
    }
    for (const CaptureCount& count : kCaptureCounts) {
      Add(count.column, count.meaning,
          [member = count.member](const Sample& s, Out& out) {
            if (s.capture.has_value()) Append(out, (*s.capture).*member);
          });
    }
  }

  // Of a trial that ran with others.
  template <class Use>
  void AddFlow(const char* name, const char* meaning, Use use) {
    Add(name, meaning, [use](const Sample& s, Out& out) {
      if (s.flow.has_value()) use(*s.flow, out);
    });
  }

  void FlowColumns() {
    AddFlow("flow_group", "the flows that ran at once have it in common",
            [](const TrialFlow& f, Out& out) { AppendText(out, f.group); });
    AddFlow("flow_topology", "pair, all-to-all, one-to-many or ring",
            [](const TrialFlow& f, Out& out) { AppendText(out, f.topology); });
    AddFlow("flow_flows", "how many ran at once",
            [](const TrialFlow& f, Out& out) { Append(out, f.flows); });
    AddFlow("flow_index", "which of them it is, from 0",
            [](const TrialFlow& f, Out& out) { Append(out, f.index); });
    AddFlow("flow_overlap_share",
            "of its time, with all flows of its group under way",
            [](const TrialFlow& f, Out& out) {
              if (f.overlap) out += fmt::format("{:.6g}", *f.overlap);
            });
  }

  void DatagramColumns() {
    for (const FateColumn& fate : kFateColumns) {
      Add(fate.column, fate.meaning,
          [member = fate.member](const Sample& s, Out& out) {
            if (s.datagrams) Append(out, (*s.datagrams).*member);
          });
    }
    for (const FateCount& fate : kFateCounts) {
      Add(fate.column, fate.meaning,
          [member = fate.member](const Sample& s, Out& out) {
            if (s.datagrams) Append(out, (*s.datagrams).*member);
          });
    }
    AddArrival("delay_p50_ns", "one way, half of the datagrams are faster",
               [](const DatagramReport& r, Out& out) {
                 if (r.delay) Append(out, r.delay->p50_ns);
               });
    AddArrival("delay_p99_ns", "one way, 99 % of the datagrams are faster",
               [](const DatagramReport& r, Out& out) {
                 if (r.delay) Append(out, r.delay->p99_ns);
               });
    AddArrival("delay_error_ns", "the clocks' offset is known to within this",
               [](const DatagramReport& r, Out& out) {
                 Append(out, r.delay_error_ns);
               });
    JitterColumns();
  }

  void JitterColumns() {
    AddArrival("jitter_mean_ns", "mean difference of delay to the next one's",
               [](const DatagramReport& r, Out& out) {
                 if (r.jitter_mean_ns) {
                   out += fmt::format("{:.0f}", *r.jitter_mean_ns);
                 }
               });
    AddArrival("jitter_rfc3550_ns", "RFC 3550 6.4.1, at the end",
               [](const DatagramReport& r, Out& out) {
                 if (r.jitter_rfc3550_ns) {
                   out += fmt::format("{:.0f}", *r.jitter_rfc3550_ns);
                 }
               });
  }

  // Of what the receiver of a UDP trial reported.
  template <class Use>
  void AddArrival(const char* name, const char* meaning, Use use) {
    Add(name, meaning, [use](const Sample& s, Out& out) {
      if (s.receiver && s.receiver->datagrams) use(*s.receiver->datagrams, out);
    });
  }

  std::vector<FilledColumn> columns_;
};

const std::vector<FilledColumn>& Columns() {
  static const std::vector<FilledColumn> columns = ColumnList().Take();
  return columns;
}

}  // namespace

const std::vector<CsvColumn>& CsvColumns() {
  static const std::vector<CsvColumn> heads = [] {
    std::vector<CsvColumn> list{{"run", "run folder, as given"}};
    for (const FilledColumn& column : Columns()) list.push_back(column.head);
    return list;
  }();
  return heads;
}

Outcome<Done> WriteSamplesCsv(const std::vector<std::filesystem::path>& runs,
                              std::ostream& out) {
  Out line;
  for (const CsvColumn& column : CsvColumns()) {
    line += line.empty() ? "" : ",";
    line += column.name;
  }
  // RFC 4180 ends a line with CR LF.
  line += "\r\n";
  out << line;
  for (const std::filesystem::path& run : runs) {
    const std::string name = CsvField(run.string());
    const auto read = ForEachSample(run, [&](Sample&& sample) {
      line = name;
      for (const FilledColumn& column : Columns()) {
        line += ',';
        column.append(sample, line);
      }
      line += "\r\n";
      out << line;
    });
    if (!read.has_value()) return read.error();
  }
  return Done{};
}

}  // namespace wiretoll
