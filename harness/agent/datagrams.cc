#include "harness/agent/datagrams.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "harness/agent/workload_json.h"
#include "platform/clock.h"

namespace wiretoll {
namespace {

namespace errc = boost::system::errc;
using namespace std::chrono_literals;

// A receiver's patience once it knows what was sent: for duplicates when all
// is there, and for what is missing.
constexpr Nanoseconds kQuietAfterAll = 20ms;
constexpr Nanoseconds kQuietAfterLast = 500ms;

// Between two calls when the host had no room: twice as long each time.
constexpr Nanoseconds kFirstBackOff = 10us;
constexpr int kMostDoublings = 7;  // 1.3 ms.

// A router's word about its smaller MTU comes once, as the error of whichever
// call is next, and the host goes by it from then on (RFC 1191).
constexpr int kMostTooLargeInARow = 3;

static_assert(kMaxBatch == kMostInBatch);

std::int64_t HeaderBytes(const DatagramKind& kind) {
  if (kind.timed) return kTimedBytes;
  return kind.numbered ? kNumberedBytes : 0;
}

// An ICMP port unreachable had come; Windows calls it a reset.
bool Refused(const Error& error) {
  return error == errc::connection_refused || error == errc::connection_reset;
}

// Bytes of each datagram of a batch, one behind another: the same for all.
LoopBuffer Copies(const LoopBuffer& datagram, int count) {
  LoopBuffer copies(datagram.size() * static_cast<std::size_t>(count));
  for (std::size_t at = 0; at < copies.size(); at += datagram.size()) {
    std::memcpy(&copies[at], datagram.data(), datagram.size());
  }
  return copies;
}

// Of a batch's datagrams, which lie side by side: no more than they need, and
// a little, which shows one that is no datagram of ours.
std::int64_t RoomFor(const Workload& workload) {
  if (workload.batch == 1) return workload.read.count;
  constexpr std::int64_t kLine = kCacheLine;
  const std::int64_t needed = workload.write.count + 2 * kLine;
  return std::min(workload.read.count, needed - needed % kLine);
}

std::string TooFew(const DatagramKind& kind, std::int64_t needed) {
  return fmt::format("a datagram of {} bytes has no room for it; {} have",
                     kind.shortest, needed);
}

}  // namespace

DatagramKind::DatagramKind(const TrialRequest& request)
    : tag(TrialTag(request.payload_seed)),
      shortest(std::min(ShortestWrite(request.workload),
                        request.workload.read.count)),
      numbered(shortest >= kNumberedBytes),
      timed(shortest >= kTimedBytes) {}

DatagramSender::DatagramSender(const TrialRequest& request, CallRecorder& calls)
    : workload_(request.workload),
      kind_(request),
      calls_(calls),
      plan_(workload_),
      pacer_(workload_),
      data_(Copies(MakePayload(request.payload_seed,
                               static_cast<std::size_t>(workload_.write.count)),
                   workload_.batch)) {}

TrialOutcomeAtEnd DatagramSender::Run(Socket& socket, TrialControl& control) {
  const CpuSpan cpu;
  begun_ = MonotonicNow();
  if (workload_.stop_time) control.StopAt(begun_ + *workload_.stop_time);
  const bool went_on = SendAll(socket, control);
  const SteadyTime ended = MonotonicNow();
  const auto cpu_used = cpu.Elapsed();
  if (!went_on || control.cut() != Cut::kNone) return Failure(socket, control);
  EndReport report = Report(socket, ended);
  FillCpu(cpu_used, report);
  return report;
}

bool DatagramSender::SendAll(Socket& socket, TrialControl& control) {
  std::optional<FineTimers> fine;
  if (pacer_.paced()) fine.emplace();
  pacer_.Begin(begun_);
  while (true) {
    if (!SendNext(socket) && !GoesOnAfter(error_, control)) return false;
    if (!More() || !control.GoesOn(socket)) return true;
    if (!pacer_.Await(control, plan_)) return true;
  }
}

// A number is used up by a datagram that was sent, so that the receiver counts
// as missing only what was.
bool DatagramSender::SendNext(Socket& socket) {
  const std::int64_t size = plan_.Next();
  const int most = workload_.batch == 1 ? 1 : plan_.Alike(workload_.batch);
  Head(size, most);
  const SteadyTime began = calls_.Begin();
  const Result<int> sent = Call(socket, size, most);
  if (!sent.has_value()) {
    plan_.Take(size);
    error_ = sent.error();
    return false;
  }
  const int count = sent.value();
  plan_.Take(size, count);
  next_number_ += count;
  failed_in_a_row_ = 0;
  calls_.Add(began, size * count);
  tally_.Add(size * count);
  return true;
}

Result<int> DatagramSender::Call(Socket& socket, std::int64_t size, int count) {
  const std::span data(data_.data(), static_cast<std::size_t>(size * count));
  if (workload_.batch > 1) {
    return SendDatagrams(socket, data, Bytes{size}, count);
  }
  const Result<Bytes> sent = socket.Send(data);
  if (!sent.has_value()) return sent.error();
  return 1;
}

void DatagramSender::Head(std::int64_t size, int count) {
  if (!kind_.numbered) return;
  const auto now =
      kind_.timed ? static_cast<std::uint64_t>(
                        Nanoseconds{MonotonicNow().time_since_epoch()}.count())
                  : std::uint64_t{0};
  for (int i = 0; i < count; ++i) {
    std::byte* const head = data_.data() + size * i;
    PutNetworkOrder(kind_.tag, head + kTagAt);
    PutNetworkOrder(static_cast<std::uint32_t>(next_number_ + i),
                    head + kNumberAt);
    if (kind_.timed) PutNetworkOrder(now, head + kTimeAt);
  }
}

// What a call did not get away may be too much at once; then the host is given
// a moment, or it would be asked without end.
bool DatagramSender::GoesOnAfter(const Error& error, TrialControl& control) {
  if (control.cut() != Cut::kNone) return false;  // Our own interrupt.
  if (!CountNotSent(error)) return false;
  const int doublings = std::min(failed_in_a_row_++, kMostDoublings);
  // Time to stop ends the pause, and the caller sees it.
  control.PauseUntil(MonotonicNow() + kFirstBackOff * (1 << doublings));
  return true;
}

// False: and it will be so for the next one.
bool DatagramSender::CountNotSent(const Error& error) {
  if (error == errc::no_buffer_space) {
    ++not_sent_.no_buffers;
  } else if (error == errc::operation_would_block ||
             error == errc::resource_unavailable_try_again) {
    ++not_sent_.would_block;
  } else if (error == errc::message_size) {
    ++not_sent_.too_large;
    return workload_.dont_fragment != true &&
           failed_in_a_row_ < kMostTooLargeInARow;
  } else if (Refused(error)) {
    ++not_sent_.refused;
    return false;
  } else {
    if (not_sent_.other++ == 0) not_sent_.first_other = error.message();
  }
  return true;
}

TrialFailure DatagramSender::Failure(const Socket& socket,
                                     const TrialControl& control) const {
  const std::string sent =
      fmt::format("{} datagrams had been sent", next_number_);
  const bool ours = control.cut() != Cut::kNone;
  if (!ours && error_ == errc::message_size) {
    return {.message = TooLarge(socket)};
  }
  if (!ours && Refused(error_)) {
    return {.message = fmt::format(
                "the receiver's port is closed: ICMP port unreachable came "
                "back; {}; is the agent there still running?",
                sent)};
  }
  return Explain({"sending did not end", "send", sent}, control, error_);
}

std::string DatagramSender::TooLarge(const Socket& socket) const {
  const Result<std::int64_t> fits = ReadPathMtu(socket);
  const std::string path =
      fits.has_value()
          ? fmt::format("its path takes {} bytes in one packet", fits.value())
          : std::string("it does not fit one packet of its path");
  return fmt::format(
      "a datagram of {} bytes was refused as too large: {}; choose a smaller "
      "write, or dont_fragment off",
      std::min(workload_.write, BlockOf(workload_)).count, path);
}

EndReport DatagramSender::Report(const Socket& socket, SteadyTime ended) const {
  EndReport report;
  FillTally(tally_, report);
  report.elapsed_ns = Nanoseconds{ended - begun_}.count();
  pacer_.Fill(report);
  DatagramReport& datagrams = report.datagrams.emplace();
  datagrams.sent = next_number_;
  datagrams.not_sent = not_sent_;
  const Result<std::int64_t> fits = ReadPathMtu(socket);
  if (fits.has_value()) {
    datagrams.path_payload_bytes = fits.value();
  } else {
    report.why_null["datagrams.path_payload_bytes"] =
        "not to be read: " + fits.error().message();
  }
  return report;
}

DatagramReceiver::DatagramReceiver(const TrialRequest& request,
                                   CallRecorder& calls)
    : workload_(request.workload),
      kind_(request),
      calls_(calls),
      room_bytes_(RoomFor(workload_)),
      room_(static_cast<std::size_t>(room_bytes_ * workload_.batch)),
      got_(static_cast<std::size_t>(workload_.batch)),
      marks_(PlannedBytes(workload_), workload_.warmup),
      order_(kind_.numbered ? PlannedWrites(workload_) : 0),
      delays_(request.sender_clock) {
  if (workload_.verify) {
    pattern_ = MakePayload(request.payload_seed,
                           static_cast<std::size_t>(kMostDatagramBytes));
  }
}

TrialOutcomeAtEnd DatagramReceiver::Run(Socket& socket, TrialControl& control) {
  const CpuSpan cpu;
  const Error error = ReceiveToEnd(socket, control);
  const auto cpu_used = cpu.Elapsed();
  // The deadline ends a trial in which all may have been lost, and that is a
  // finding.
  if (error || control.cut() == Cut::kAborted) {
    return Explain(
        {"no end", "receive", fmt::format("{} datagrams had come", received_)},
        control, error);
  }
  if (ended_.empty()) ended_ = "deadline";
  EndReport report = Report();
  FillCpu(cpu_used, report);
  return report;
}

Error DatagramReceiver::ReceiveToEnd(Socket& socket, TrialControl& control) {
  while (true) {
    const SteadyTime began = calls_.Begin();
    const Result<int> came = Call(socket);
    if (came.has_value()) {
      Take(came.value(), began, control);
    } else {
      const Error error = came.error();
      // Nothing for a while; or a word about what was never sent from here.
      const bool passes = error == errc::operation_would_block ||
                          error == errc::resource_unavailable_try_again ||
                          Refused(error) || error == errc::interrupted;
      if (!passes && control.cut() == Cut::kNone) return error;
    }
    if (!control.GoesOn(socket)) return {};
    if (control.told() && Over(control)) return {};
  }
}

Result<int> DatagramReceiver::Call(Socket& socket) {
  if (workload_.batch > 1) {
    return ReceiveDatagrams(socket, room_, Bytes{room_bytes_}, got_);
  }
  const Result<Datagram> got = ReceiveDatagram(socket, room_);
  if (!got.has_value()) return got.error();
  got_.front() = got.value();
  return 1;
}

// One look at the clock for all that one call brought.
void DatagramReceiver::Take(int count, SteadyTime began,
                            const TrialControl& control) {
  const SteadyTime now = MonotonicNow();
  std::int64_t moved = 0;
  for (int i = 0; i < count; ++i) {
    const Datagram& datagram = got_[static_cast<std::size_t>(i)];
    moved += datagram.kept.count;
    // An interrupted call looks like an empty datagram.
    if (datagram.kept.count == 0 && control.stop()) continue;
    TakeOne(datagram, room_.data() + i * room_bytes_, now);
  }
  if (moved == 0) return;
  calls_.Add(began, moved);
  tally_.Add(moved);
}

void DatagramReceiver::TakeOne(const Datagram& datagram, const std::byte* data,
                               SteadyTime now) {
  const Arrival arrival = Judge(datagram, data);
  if (arrival == Arrival::kAbsurd) {
    ++stale_;
    return;
  }
  ++received_;
  last_ = now;
  if (datagram.cut) ++cut_;
  if (arrival == Arrival::kAgain) return;
  bytes_ += datagram.kept.count;
  if (marks_.Due(bytes_)) marks_.Mark(bytes_, now);
  if (kind_.timed) {
    delays_.Add(GetNetworkOrder<std::uint64_t>(data + kTimeAt), now);
  }
  if (workload_.verify) Verify(datagram.kept.count, data);
}

Arrival DatagramReceiver::Judge(const Datagram& datagram,
                                const std::byte* data) {
  if (!kind_.numbered) {
    return datagram.kept.count > 0 ? Arrival::kNew : Arrival::kAbsurd;
  }
  if (datagram.kept.count < kind_.shortest ||
      GetNetworkOrder<std::uint32_t>(data + kTagAt) != kind_.tag) {
    return Arrival::kAbsurd;
  }
  return order_.Add(GetNetworkOrder<std::uint32_t>(data + kNumberAt));
}

void DatagramReceiver::Verify(std::int64_t size, const std::byte* data) {
  if (first_wrong_byte_) return;
  const std::int64_t from = HeaderBytes(kind_);
  const std::int64_t end = std::min(size, kMostDatagramBytes);
  const auto wrong =
      std::mismatch(data + from, data + end, pattern_.data() + from).first;
  if (wrong != data + end) first_wrong_byte_ = bytes_ - size + (wrong - data);
}

// Only once it is told what was sent.
bool DatagramReceiver::Over(const TrialControl& control) {
  const SentWord word = control.sent();
  const bool all = Unique() >= word.notice.datagrams;
  const SteadyTime since = std::max(last_, word.at);
  if (MonotonicNow() - since < (all ? kQuietAfterAll : kQuietAfterLast)) {
    return false;
  }
  ended_ = all ? "all came" : "nothing came for 500 ms";
  return true;
}

EndReport DatagramReceiver::Report() const {
  EndReport report;
  FillTally(tally_, report);
  report.bytes = bytes_;
  marks_.Fill(bytes_, last_, report);
  if (Unique() == 1) {
    report.elapsed_ns.reset();
    report.why_null["elapsed_ns"] = "one datagram takes no time";
  }
  DatagramReport& datagrams = report.datagrams.emplace();
  datagrams.received = received_;
  datagrams.cut = cut_;
  datagrams.ended = ended_;
  FillNumbers(report);
  if (kind_.timed) {
    delays_.Fill(report);
  } else {
    for (const char* field :
         {"delay", "delay_error_ns", "jitter_mean_ns", "jitter_rfc3550_ns"}) {
      report.why_null[std::string("datagrams.") + field] =
          TooFew(kind_, kTimedBytes);
    }
  }
  FillVerification(workload_.verify, first_wrong_byte_, report);
  return report;
}

void DatagramReceiver::FillNumbers(EndReport& report) const {
  DatagramReport& datagrams = *report.datagrams;
  if (!kind_.numbered) {
    for (const char* field : {"duplicated", "reordered", "late", "stale"}) {
      report.why_null[std::string("datagrams.") + field] =
          TooFew(kind_, kNumberedBytes);
    }
    return;
  }
  datagrams.duplicated = order_.duplicated();
  datagrams.reordered = order_.reordered();
  datagrams.late = order_.late();
  datagrams.stale = stale_;
}

}  // namespace wiretoll
