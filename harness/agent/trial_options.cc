#include "harness/agent/trial_options.h"

#include <fmt/format.h>

#include <functional>

#include "platform/options.h"

namespace wiretoll {
namespace {

bool Unsupported(const Error& error) {
  return error == boost::system::errc::operation_not_supported;
}

std::string NoOption(const std::string& name) {
  return fmt::format("this host has no option {}; leave it out of the study",
                     name);
}

std::optional<std::string> Set(const Socket& socket, SocketOption option,
                               std::int64_t value, const std::string& name) {
  const Result<Done> set = SetOption(socket, option, value);
  if (set.has_value()) return std::nullopt;
  if (Unsupported(set.error())) return NoOption(name);
  return fmt::format("{} {} cannot be set on this host: {}", name, value,
                     set.error().message());
}

std::optional<std::string> SetCongestionOption(const Socket& socket,
                                               const std::string& name) {
  const Result<Done> set = SetCongestion(socket, name);
  if (set.has_value()) return std::nullopt;
  const Error error = set.error();
  if (Unsupported(error)) {
    return "this host does not let a program choose the congestion control";
  }
  if (error == boost::system::errc::no_such_file_or_directory) {
    return fmt::format(
        "congestion \"{}\" is not available on this host; see "
        "net.ipv4.tcp_available_congestion_control",
        name);
  }
  return fmt::format(
      "congestion \"{}\" cannot be set on this host: {}; see "
      "net.ipv4.tcp_allowed_congestion_control",
      name, error.message());
}

// A route's own choice (Linux: congctl) goes over what a socket was set to
// before it was connected, so that it is set once more.
std::optional<std::string> HoldCongestion(const Socket& socket,
                                          const std::string& name) {
  if (auto reason = SetCongestionOption(socket, name)) return reason;
  const Result<std::string> held = GetCongestion(socket);
  if (!held.has_value() || held.value() == name) return std::nullopt;
  return fmt::format(
      "congestion \"{}\" was set and \"{}\" is in force: the route to the peer "
      "may lock it (ip route show; congctl)",
      name, held.value());
}

// Keeps the first reason of several steps.
void Step(std::optional<std::string>& reason,
          const std::function<std::optional<std::string>()>& step) {
  if (!reason) reason = step();
}

std::optional<std::string> SetSenderOptions(const Socket& socket,
                                            const Workload& workload) {
  std::optional<std::string> reason;
  if (workload.sndbuf) {
    reason =
        Set(socket, SocketOption::kSndbuf, workload.sndbuf->count, "sndbuf");
  }
  if (workload.cork) {
    Step(reason, [&] { return Set(socket, SocketOption::kCork, 1, "cork"); });
  }
  if (workload.mss) {
    Step(reason, [&] {
      return Set(socket, SocketOption::kMss, workload.mss->count, "mss");
    });
  }
  return reason;
}

// What is set on the connection later is asked for now: a receiver that broke
// off then would look to its peer like one that failed.
std::optional<std::string> SetReceiverOptions(const Socket& socket,
                                              const Workload& workload) {
  const bool tcp = workload.transport == Transport::kTcp;
  if (tcp && workload.quickack != Quickack::kUnset &&
      Unsupported(GetOption(socket, SocketOption::kQuickack).error())) {
    return NoOption("quickack");
  }
  if (!workload.rcvbuf) return std::nullopt;
  return Set(socket, SocketOption::kRcvbuf, workload.rcvbuf->count, "rcvbuf");
}

OptionReading Read(const Socket& socket, SocketOption option,
                   OptionValue requested) {
  OptionReading reading{
      .requested = std::move(requested), .effective = {}, .reason = {}};
  const Result<std::int64_t> value = GetOption(socket, option);
  if (value.has_value()) {
    reading.effective = value.value();
  } else {
    reading.reason = "not to be read: " + value.error().message();
  }
  return reading;
}

OptionReading ReadSwitch(const Socket& socket, SocketOption option,
                         OptionValue requested) {
  OptionReading reading = Read(socket, option, std::move(requested));
  if (const auto* value = std::get_if<std::int64_t>(&reading.effective)) {
    reading.effective = *value != 0;
  }
  return reading;
}

OptionValue Asked(const std::optional<Bytes>& size, bool of_us) {
  return size && of_us ? OptionValue(size->count) : OptionValue();
}

OptionReading ReadBuffer(const Socket& socket, SocketOption option,
                         OptionValue requested, const std::string& os) {
  OptionReading reading = Read(socket, option, std::move(requested));
  const auto* asked = std::get_if<std::int64_t>(&reading.requested);
  const auto* seen = std::get_if<std::int64_t>(&reading.effective);
  if (asked != nullptr && seen != nullptr) {
    reading.reason =
        ExplainBuffer(*asked, *seen, os,
                      option == SocketOption::kRcvbuf ? "net.core.rmem_max"
                                                      : "net.core.wmem_max");
  }
  return reading;
}

std::optional<std::string> SetDatagramOptions(const Socket& socket, Role role,
                                              const Workload& workload) {
  std::optional<std::string> reason;
  if (workload.dont_fragment) {
    reason = Set(socket, SocketOption::kDontFragment,
                 *workload.dont_fragment ? 1 : 0, "dont_fragment");
  }
  if (role == Role::kSender && workload.sndbuf) {
    Step(reason, [&] {
      return Set(socket, SocketOption::kSndbuf, workload.sndbuf->count,
                 "sndbuf");
    });
  }
  if (role == Role::kReceiver) {
    Step(reason, [&] { return SetReceiverOptions(socket, workload); });
  }
  return reason;
}

std::map<std::string, OptionReading> ReadDatagramOptions(
    const Socket& socket, Role role, const Workload& workload,
    const std::string& os) {
  const bool sender = role == Role::kSender;
  std::map<std::string, OptionReading> read;
  read["rcvbuf"] = ReadBuffer(socket, SocketOption::kRcvbuf,
                              Asked(workload.rcvbuf, !sender), os);
  read["sndbuf"] = ReadBuffer(socket, SocketOption::kSndbuf,
                              Asked(workload.sndbuf, sender), os);
  read["dont_fragment"] =
      ReadSwitch(socket, SocketOption::kDontFragment,
                 workload.dont_fragment ? OptionValue(*workload.dont_fragment)
                                        : OptionValue());
  for (const char* name : {"nagle", "congestion", "quickack", "cork", "mss"}) {
    read[name].reason = "UDP has none";
  }
  return read;
}

OptionReading ReadMss(const Socket& socket, OptionValue requested) {
  OptionReading reading =
      Read(socket, SocketOption::kMss, std::move(requested));
  const auto* asked = std::get_if<std::int64_t>(&reading.requested);
  const auto* seen = std::get_if<std::int64_t>(&reading.effective);
  if (asked != nullptr && seen != nullptr && *seen < *asked) {
    reading.reason = fmt::format(
        "{} bytes less than asked: TCP options in each segment, the path's "
        "MTU or the peer's window take them",
        *asked - *seen);
  }
  return reading;
}

OptionReading ReadCongestion(const Socket& socket, const Workload& workload) {
  OptionReading reading;
  if (workload.congestion) reading.requested = *workload.congestion;
  const Result<std::string> name = GetCongestion(socket);
  if (name.has_value()) {
    reading.effective = name.value();
  } else {
    reading.reason = "not to be read: " + name.error().message();
  }
  return reading;
}

OptionValue AskedQuickack(Quickack quickack) {
  switch (quickack) {
    case Quickack::kUnset:
      return {};
    case Quickack::kOff:
      return false;
    case Quickack::kOn:
      return true;
    case Quickack::kEach:
      return std::string("each");
  }
  return {};
}

}  // namespace

std::optional<std::string> SetTrialOptions(const Socket& socket, Role role,
                                           const Workload& workload) {
  if (workload.transport == Transport::kUdp) {
    return SetDatagramOptions(socket, role, workload);
  }
  auto reason =
      Set(socket, SocketOption::kNagle, workload.nagle ? 1 : 0, "nagle");
  if (workload.congestion) {
    Step(reason,
         [&] { return SetCongestionOption(socket, *workload.congestion); });
  }
  Step(reason, [&] {
    return role == Role::kSender ? SetSenderOptions(socket, workload)
                                 : SetReceiverOptions(socket, workload);
  });
  return reason;
}

std::optional<std::string> SetConnectedOptions(const Socket& socket, Role role,
                                               const Workload& workload) {
  if (workload.transport == Transport::kTcp && workload.congestion) {
    auto reason = HoldCongestion(socket, *workload.congestion);
    if (reason) return reason;
  }
  if (role != Role::kReceiver || workload.quickack == Quickack::kUnset) {
    return std::nullopt;
  }
  const int value = workload.quickack == Quickack::kOff ? 0 : 1;
  return Set(socket, SocketOption::kQuickack, value, "quickack");
}

std::map<std::string, OptionReading> ReadTrialOptions(const Socket& socket,
                                                      Role role,
                                                      const Workload& workload,
                                                      const std::string& os) {
  const bool sender = role == Role::kSender;
  if (workload.transport == Transport::kUdp) {
    return ReadDatagramOptions(socket, role, workload, os);
  }
  std::map<std::string, OptionReading> read;
  read["nagle"] = ReadSwitch(socket, SocketOption::kNagle, workload.nagle);
  read["rcvbuf"] = ReadBuffer(socket, SocketOption::kRcvbuf,
                              Asked(workload.rcvbuf, !sender), os);
  read["sndbuf"] = ReadBuffer(socket, SocketOption::kSndbuf,
                              Asked(workload.sndbuf, sender), os);
  read["congestion"] = ReadCongestion(socket, workload);
  read["quickack"] =
      ReadSwitch(socket, SocketOption::kQuickack,
                 sender ? OptionValue() : AskedQuickack(workload.quickack));
  read["cork"] =
      ReadSwitch(socket, SocketOption::kCork,
                 sender ? OptionValue(workload.cork) : OptionValue());
  read["mss"] = ReadMss(socket, Asked(workload.mss, sender));
  return read;
}

std::string ExplainBuffer(std::int64_t requested, std::int64_t effective,
                          const std::string& os, const std::string& limit) {
  const std::int64_t expected = os == "linux" ? 2 * requested : requested;
  if (effective == expected) return {};
  if (effective > expected) return "rounded up to the system's minimum";
  if (os == "linux") return fmt::format("clamped by {}", limit);
  return "clamped by the system";
}

}  // namespace wiretoll
