// The fields of a sample, once: writing and reading go through these tables,
// so that what one writes the other reads.
#ifndef WIRETOLL_HARNESS_SAMPLES_FIELDS_H_
#define WIRETOLL_HARNESS_SAMPLES_FIELDS_H_

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "harness/samples/sample.h"

namespace wiretoll {

// Longer texts are cut when written and refused when read.
inline constexpr std::size_t kMaxTextBytes = 4096;
// Entries of a map (options, factors, reasons); more are refused.
inline constexpr std::size_t kMaxEntries = 256;

template <class Struct, class Member>
struct Field {
  std::string_view name;
  Member Struct::*member;
};

// Whose field it is: the other end leaves it out where it is empty.
// kTcpSender: and so does UDP's.
enum class Owner { kBoth, kSender, kReceiver, kTcpSender };

// A field of an end that may be empty, and why it is where nobody said.
struct EndCountField {
  std::string_view name;
  std::optional<std::int64_t> EndReport::*member;
  Owner owner;
  std::string_view why_empty;
};

inline constexpr std::array<EndCountField, 12> kEndCounts{{
    {"elapsed_ns", &EndReport::elapsed_ns, Owner::kBoth, "nothing was moved"},
    {"cpu_ns", &EndReport::cpu_ns, Owner::kBoth, "not observed"},
    {"first_read_bytes", &EndReport::first_read_bytes, Owner::kReceiver,
     "nothing was read"},
    {"steady_bytes", &EndReport::steady_bytes, Owner::kReceiver,
     "the trial's bytes were not known before"},
    {"steady_elapsed_ns", &EndReport::steady_elapsed_ns, Owner::kReceiver,
     "the trial's bytes were not known before"},
    {"gap_median_ns", &EndReport::gap_median_ns, Owner::kSender,
     "no gap was asked for"},
    {"first_wrong_byte", &EndReport::first_wrong_byte, Owner::kReceiver,
     "no wrong byte was seen"},
    {"connect_ns", &EndReport::connect_ns, Owner::kTcpSender,
     "no connection was made"},
    {"rtt_handshake_ns", &EndReport::rtt_handshake_ns, Owner::kTcpSender,
     "this system did not tell of it"},
    {"rtt_min_ns", &EndReport::rtt_min_ns, Owner::kTcpSender,
     "this system did not tell of it"},
    {"rtt_median_ns", &EndReport::rtt_median_ns, Owner::kTcpSender,
     "no time series was taken"},
    {"rtt_p99_ns", &EndReport::rtt_p99_ns, Owner::kTcpSender,
     "no time series was taken"},
}};

inline constexpr std::array<Field<EndReport, std::string>, 3> kEndTexts{{
    {"host", &EndReport::host},
    {"os", &EndReport::os},
    {"stack", &EndReport::stack},
}};

inline constexpr std::array<Field<EndReport, std::int64_t>, 3> kEndTotals{{
    {"calls", &EndReport::calls},
    {"bytes", &EndReport::bytes},
    {"strangers_refused", &EndReport::strangers_refused},
}};

using CounterField = Field<TcpCounters, TcpCounters::Count>;
inline constexpr std::array<CounterField, 26> kCounterFields{{
    {"data_segments_out", &TcpCounters::data_segments_out},
    {"data_segments_in", &TcpCounters::data_segments_in},
    {"segments_out", &TcpCounters::segments_out},
    {"segments_in", &TcpCounters::segments_in},
    {"retransmitted_segments", &TcpCounters::retransmitted_segments},
    {"bytes_acked", &TcpCounters::bytes_acked},
    {"bytes_received", &TcpCounters::bytes_received},
    {"bytes_retransmitted", &TcpCounters::bytes_retransmitted},
    {"dsack_duplicates", &TcpCounters::dsack_duplicates},
    {"out_of_order_segments", &TcpCounters::out_of_order_segments},
    {"rtt_ns", &TcpCounters::rtt_ns},
    {"rtt_variation_ns", &TcpCounters::rtt_variation_ns},
    {"min_rtt_ns", &TcpCounters::min_rtt_ns},
    {"cwnd_segments", &TcpCounters::cwnd_segments},
    {"mss_bytes", &TcpCounters::mss_bytes},
    {"received_mss_bytes", &TcpCounters::received_mss_bytes},
    {"path_mtu_bytes", &TcpCounters::path_mtu_bytes},
    {"peer_window_bytes", &TcpCounters::peer_window_bytes},
    {"peer_window_initial_bytes", &TcpCounters::peer_window_initial_bytes},
    {"peer_window_peak_bytes", &TcpCounters::peer_window_peak_bytes},
    {"peer_window_scale", &TcpCounters::peer_window_scale},
    {"busy_ns", &TcpCounters::busy_ns},
    {"window_limited_ns", &TcpCounters::window_limited_ns},
    {"sndbuf_limited_ns", &TcpCounters::sndbuf_limited_ns},
    {"timestamps", &TcpCounters::timestamps},
    {"sack", &TcpCounters::sack},
}};

inline constexpr std::array<Field<LatencySummary, std::int64_t>, 8>
    kLatencyFields{{
        {"count", &LatencySummary::count},
        {"min_ns", &LatencySummary::min_ns},
        {"p50_ns", &LatencySummary::p50_ns},
        {"p90_ns", &LatencySummary::p90_ns},
        {"p99_ns", &LatencySummary::p99_ns},
        {"p999_ns", &LatencySummary::p999_ns},
        {"max_ns", &LatencySummary::max_ns},
        {"over_30ms", &LatencySummary::over_30ms},
    }};

// A field of a DatagramReport that may be empty, and why it is where nobody
// said.
struct DatagramCountField {
  std::string_view name;
  std::optional<std::int64_t> DatagramReport::*member;
  Owner owner;
  std::string_view why_empty;
};

inline constexpr std::array<DatagramCountField, 11> kDatagramCounts{{
    {"sent", &DatagramReport::sent, Owner::kSender, "not observed"},
    {"path_payload_bytes", &DatagramReport::path_payload_bytes, Owner::kSender,
     "not observed"},
    {"received", &DatagramReport::received, Owner::kReceiver, "not observed"},
    {"duplicated", &DatagramReport::duplicated, Owner::kReceiver,
     "not observed"},
    {"reordered", &DatagramReport::reordered, Owner::kReceiver, "not observed"},
    {"late", &DatagramReport::late, Owner::kReceiver, "not observed"},
    {"cut", &DatagramReport::cut, Owner::kReceiver, "not observed"},
    {"stale", &DatagramReport::stale, Owner::kReceiver, "not observed"},
    {"strangers", &DatagramReport::strangers, Owner::kReceiver, "not observed"},
    {"receive_buffer_drops", &DatagramReport::receive_buffer_drops,
     Owner::kReceiver, "not observed"},
    {"delay_error_ns", &DatagramReport::delay_error_ns, Owner::kReceiver,
     "no delay was measured"},
}};

inline constexpr std::array<Field<NotSent, std::int64_t>, 5> kNotSentFields{{
    {"no_buffers", &NotSent::no_buffers},
    {"would_block", &NotSent::would_block},
    {"too_large", &NotSent::too_large},
    {"refused", &NotSent::refused},
    {"other", &NotSent::other},
}};

inline constexpr std::array<Field<DelaySummary, std::int64_t>, 7> kDelayFields{{
    {"count", &DelaySummary::count},
    {"min_ns", &DelaySummary::min_ns},
    {"p50_ns", &DelaySummary::p50_ns},
    {"p90_ns", &DelaySummary::p90_ns},
    {"p99_ns", &DelaySummary::p99_ns},
    {"p999_ns", &DelaySummary::p999_ns},
    {"max_ns", &DelaySummary::max_ns},
}};

inline constexpr std::array<Field<Datagrams, std::int64_t>, 4> kDatagramTotals{{
    {"sent", &Datagrams::sent},
    {"received", &Datagrams::received},
    {"lost", &Datagrams::lost},
    {"not_sent", &Datagrams::not_sent},
}};
inline constexpr std::array<Field<Datagrams, std::optional<std::int64_t>>, 7>
    kDatagramFates{{
        {"duplicated", &Datagrams::duplicated},
        {"reordered", &Datagrams::reordered},
        {"late", &Datagrams::late},
        {"lost_at_receiver", &Datagrams::lost_at_receiver},
        {"lost_on_path", &Datagrams::lost_on_path},
        {"fragments_each", &Datagrams::fragments_each},
        {"mtu_bytes", &Datagrams::mtu_bytes},
    }};

inline constexpr std::array<Field<SeriesSummary, std::int64_t>, 3>
    kSeriesTotals{{
        {"period_ns", &SeriesSummary::period_ns},
        {"moments", &SeriesSummary::moments},
        {"left_out", &SeriesSummary::left_out},
    }};
inline constexpr std::array<Field<SeriesSummary, std::optional<std::int64_t>>,
                            3>
    kSeriesCounts{{
        {"period_median_ns", &SeriesSummary::period_median_ns},
        {"period_longest_ns", &SeriesSummary::period_longest_ns},
        {"cpu_ns", &SeriesSummary::cpu_ns},
    }};

using WireField = Field<Wire, std::optional<std::int64_t>>;
inline constexpr std::array<WireField, 13> kWireFields{{
    {"data_segments", &Wire::data_segments},
    {"ack_segments", &Wire::ack_segments},
    {"retransmitted_segments", &Wire::retransmitted_segments},
    {"payload_bytes", &Wire::payload_bytes},
    {"header_bytes", &Wire::header_bytes},
    {"l3_bytes", &Wire::l3_bytes},
    {"l2_bytes", &Wire::l2_bytes},
    {"l1_bytes", &Wire::l1_bytes},
    {"l1_bytes_low", &Wire::l1_bytes_low},
    {"l1_bytes_high", &Wire::l1_bytes_high},
    {"ack_l1_bytes", &Wire::ack_l1_bytes},
    {"sender_data_segments", &Wire::sender_data_segments},
    {"receiver_data_segments", &Wire::receiver_data_segments},
}};

inline constexpr std::array<Field<CaptureRecord, std::string>, 7> kCaptureTexts{
    {
        {"file", &CaptureRecord::file},
        {"calls", &CaptureRecord::calls},
        {"host", &CaptureRecord::host},
        {"interface", &CaptureRecord::interface},
        {"followed_rule", &CaptureRecord::followed_rule},
        {"partial", &CaptureRecord::partial},
        {"reason", &CaptureRecord::reason},
    }};
using CaptureField = Field<CaptureRecord, std::optional<std::int64_t>>;
inline constexpr std::array<CaptureField, 15> kCaptureCounts{{
    {"frames", &CaptureRecord::frames},
    {"dropped", &CaptureRecord::dropped},
    {"data_segments", &CaptureRecord::data_segments},
    {"ack_segments", &CaptureRecord::ack_segments},
    {"retransmitted_segments", &CaptureRecord::retransmitted_segments},
    {"payload_bytes", &CaptureRecord::payload_bytes},
    {"joined_packets", &CaptureRecord::joined_packets},
    {"l3_bytes", &CaptureRecord::l3_bytes},
    {"l1_bytes", &CaptureRecord::l1_bytes},
    {"replay_at_once", &CaptureRecord::replay_at_once},
    {"replay_classic", &CaptureRecord::replay_classic},
    {"replay_minshall", &CaptureRecord::replay_minshall},
    {"window_reopened_bytes", &CaptureRecord::window_reopened_bytes},
    {"silly_wait_ns", &CaptureRecord::silly_wait_ns},
    {"persist_wait_ns", &CaptureRecord::persist_wait_ns},
}};

// "1", "2-3", "4-7": the sizes that bin k of SizeBins counts.
// Requires k < kMostBins.
inline constexpr std::size_t kMostBins = 63;
std::string SizeBinLabel(std::size_t bin);
// Empty if `label` is no label of a bin.
std::optional<std::size_t> SizeBinFromLabel(std::string_view label);

inline constexpr std::array<std::string_view, 3> kOutcomeNames{"ok", "failed",
                                                               "skipped"};

}  // namespace wiretoll

#endif  // WIRETOLL_HARNESS_SAMPLES_FIELDS_H_
