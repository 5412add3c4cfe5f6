// How a connection went on in a trial: windows, flight and round trip over
// time, at both ends. `series/TRIAL.csv`, one row a moment and end, the
// sender's first; times ascend within an end:
//
//   end,at_ns,state,loss_state,cwnd_segments,...
//   sender,1796112000000000000,established,open,10,...
//   receiver,1796112000000412345,established,open,10,...
//
// at_ns is since 1970-01-01T00:00:00Z by the end's own wall clock, as in call
// logs and captures. An empty field was not told by that end's system. Which
// rate was asked for and which came of it is in the sample (EndReport::series).
#ifndef WIRETOLL_HARNESS_SAMPLES_SERIES_H_
#define WIRETOLL_HARNESS_SAMPLES_SERIES_H_

#include <array>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "harness/base/result.h"
#include "harness/base/tcp_moment.h"

namespace wiretoll {

struct SeriesMoment {
  std::int64_t at_ns = 0;
  TcpMoment tcp;
  bool operator==(const SeriesMoment&) const = default;
};

struct TimeSeries {
  std::vector<SeriesMoment> sender;
  std::vector<SeriesMoment> receiver;
  // A kill tore the last line; it was left out.
  bool torn_last_line = false;
};

struct MomentField {
  std::string_view name;  // Of the column; the unit stands at its end.
  TcpMoment::Figure TcpMoment::*member;
};

// The columns behind end, at_ns, state and loss_state.
inline constexpr std::array<MomentField, 23> kMomentFields{{
    {"cwnd_segments", &TcpMoment::cwnd_segments},
    {"cwnd_bytes", &TcpMoment::cwnd_bytes},
    {"ssthresh_bytes", &TcpMoment::ssthresh_bytes},
    {"peer_window_bytes", &TcpMoment::peer_window_bytes},
    {"own_window_bytes", &TcpMoment::own_window_bytes},
    {"in_flight_bytes", &TcpMoment::in_flight_bytes},
    {"not_sent_bytes", &TcpMoment::not_sent_bytes},
    {"rtt_ns", &TcpMoment::rtt_ns},
    {"rtt_variation_ns", &TcpMoment::rtt_variation_ns},
    {"min_rtt_ns", &TcpMoment::min_rtt_ns},
    {"receiver_rtt_ns", &TcpMoment::receiver_rtt_ns},
    {"sent_bytes", &TcpMoment::sent_bytes},
    {"acked_bytes", &TcpMoment::acked_bytes},
    {"received_bytes", &TcpMoment::received_bytes},
    {"retransmitted_bytes", &TcpMoment::retransmitted_bytes},
    {"retransmitted_segments", &TcpMoment::retransmitted_segments},
    {"busy_ns", &TcpMoment::busy_ns},
    {"window_limited_ns", &TcpMoment::window_limited_ns},
    {"sndbuf_limited_ns", &TcpMoment::sndbuf_limited_ns},
    {"pacing_bytes_per_s", &TcpMoment::pacing_bytes_per_s},
    {"delivery_bytes_per_s", &TcpMoment::delivery_bytes_per_s},
    {"mss_bytes", &TcpMoment::mss_bytes},
    {"path_mtu_bytes", &TcpMoment::path_mtu_bytes},
}};

// The first line of the file, without its end.
std::string SeriesHead();
// The lines of one end, which is "sender" or "receiver", as its agent gives
// them.
std::string EndSeriesText(std::string_view end,
                          const std::vector<SeriesMoment>& moments);
// The text of the file.
std::string SeriesText(const TimeSeries& series);

// kUsage: cannot be read, is no such file, or line N is no such line or
// earlier than the one before; names file and line. Columns that are missing
// (an older file's) are empty in every moment, unknown ones are passed over.
Outcome<TimeSeries> ReadSeries(const std::filesystem::path& file);

}  // namespace wiretoll

#endif  // WIRETOLL_HARNESS_SAMPLES_SERIES_H_
