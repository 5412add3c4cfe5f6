// The figures of a direction by name: JSON and CSV have the same. For those
// two only.
#ifndef WIRETOLL_HARNESS_CAPTURE_OBSERVE_FIELDS_H_
#define WIRETOLL_HARNESS_CAPTURE_OBSERVE_FIELDS_H_

#include <array>
#include <cstdint>
#include <optional>

#include "harness/capture/flows.h"

namespace wiretoll {

using Figure = std::optional<std::int64_t>;

struct DirectionField {
  const char* name;  // Ends in the unit, where it is no count.
  bool tcp_only;
  Figure (*of)(const DirectionFigures&);
  const char* why_null;  // "": it is never null.
};

namespace direction_fields {

template <std::int64_t DirectionFigures::*kMember>
Figure Plain(const DirectionFigures& from) {
  return from.*kMember;
}

template <Figure DirectionFigures::*kMember>
Figure Maybe(const DirectionFigures& from) {
  return from.*kMember;
}

template <std::int64_t DirectionFigures::*kMember>
Figure Framed(const DirectionFigures& from) {
  return from.framing_known ? Figure{from.*kMember} : std::nullopt;
}

template <std::int64_t Stalls::*kMember>
Figure OfStalls(const DirectionFigures& from) {
  return from.stalls.*kMember;
}

template <std::int64_t RoundTrips::*kMember>
Figure OfAcks(const DirectionFigures& from) {
  const RoundTrips& trips = from.data_to_ack;
  return trips.samples > 0 ? Figure{trips.*kMember} : std::nullopt;
}

inline Figure MeanAck(const DirectionFigures& from) {
  const RoundTrips& trips = from.data_to_ack;
  return trips.samples > 0 ? Figure{trips.sum_ns / trips.samples}
                           : std::nullopt;
}

inline Figure LongestStallAt(const DirectionFigures& from) {
  return from.stalls.count > 0 ? Figure{from.stalls.longest_at_ns}
                               : std::nullopt;
}

inline Figure Mss(const DirectionFigures& from) {
  return from.mss ? Figure{*from.mss} : std::nullopt;
}

inline Figure Scale(const DirectionFigures& from) {
  return from.scale ? Figure{*from.scale} : std::nullopt;
}

inline constexpr char kNoData[] = "no payload was captured";
inline constexpr char kNoSegment[] = "no segment of it was captured";
inline constexpr char kNoAck[] =
    "no ACK of a segment that was sent once was captured";
inline constexpr char kNoOption[] =
    "its SYN was not captured, was cut, or has no such option";
inline constexpr char kNoFraming[] =
    "not captured with Ethernet headers of a network";

}  // namespace direction_fields

inline constexpr auto kDirectionFields = [] {
  using namespace direction_fields;
  using F = DirectionFigures;
  return std::to_array<DirectionField>({
      {"frames", false, Plain<&F::frames>, ""},
      {"segments", false, Plain<&F::segments>, ""},
      {"data_segments", false, Plain<&F::data_segments>, ""},
      {"payload_bytes", false, Plain<&F::payload_bytes>, ""},
      {"first_data_ns", false, Maybe<&F::first_data_ns>, kNoData},
      {"last_data_ns", false, Maybe<&F::last_data_ns>, kNoData},
      {"ip_fragments", false, Plain<&F::fragments>, ""},
      {"layer3_bytes", false, Plain<&F::layer3_bytes>, ""},
      {"layer2_bytes", false, Framed<&F::layer2_bytes>, kNoFraming},
      {"layer1_bytes", false, Framed<&F::layer1_bytes>, kNoFraming},
      {"super_frames", true, Plain<&F::super_frames>, ""},
      {"super_segments", true, Plain<&F::super_segments>, ""},
      {"unique_bytes", true, Plain<&F::unique_bytes>, ""},
      {"missing_bytes", true, Plain<&F::missing_bytes>, ""},
      {"pure_acks", true, Plain<&F::pure_acks>, ""},
      {"duplicate_acks", true, Plain<&F::duplicate_acks>, ""},
      {"window_updates", true, Plain<&F::window_updates>, ""},
      {"retransmissions", true, Plain<&F::retransmissions>, ""},
      {"retransmitted_bytes", true, Plain<&F::retransmitted_bytes>, ""},
      {"spurious_retransmissions", true, Plain<&F::spurious_retransmissions>,
       ""},
      {"out_of_order", true, Plain<&F::out_of_order>, ""},
      {"late_fills", true, Plain<&F::late_fills>, ""},
      {"resent", true, Plain<&F::resent>, ""},
      {"probes", true, Plain<&F::probes>, ""},
      {"zero_windows", true, Plain<&F::zero_windows>, ""},
      {"window_initial_bytes", true, Maybe<&F::window_initial>, kNoSegment},
      {"window_min_bytes", true, Maybe<&F::window_min>, kNoSegment},
      {"window_max_bytes", true, Maybe<&F::window_max>, kNoSegment},
      {"syns", true, Plain<&F::syns>, ""},
      {"fins", true, Plain<&F::fins>, ""},
      {"resets", true, Plain<&F::resets>, ""},
      {"mss_bytes", true, Mss, kNoOption},
      {"window_scale", true, Scale, kNoOption},
      {"ack_samples", true,
       [](const F& from) { return Figure{from.data_to_ack.samples}; }, ""},
      {"ack_min_ns", true, OfAcks<&RoundTrips::min_ns>, kNoAck},
      {"ack_mean_ns", true, MeanAck, kNoAck},
      {"ack_max_ns", true, OfAcks<&RoundTrips::max_ns>, kNoAck},
      {"stalls", true, OfStalls<&Stalls::count>, ""},
      {"stalled_ns", true, OfStalls<&Stalls::total_ns>, ""},
      {"longest_stall_ns", true, OfStalls<&Stalls::longest_ns>, ""},
      {"longest_stall_at_ns", true, LongestStallAt, "there was no stall"},
  });
}();

}  // namespace wiretoll

#endif  // WIRETOLL_HARNESS_CAPTURE_OBSERVE_FIELDS_H_
