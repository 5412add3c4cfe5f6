#include "harness/agent/workload_json.h"

#include <array>
#include <limits>
#include <nlohmann/json.hpp>
#include <string_view>
#include <utility>

#include "harness/agent/json_fields.h"

namespace wiretoll {
namespace {

using nlohmann::json;

template <class Enum, std::size_t kCount>
using Names = std::array<std::pair<std::string_view, Enum>, kCount>;

constexpr Names<Transport, 2> kTransports{
    {{"tcp", Transport::kTcp}, {"udp", Transport::kUdp}}};
constexpr Names<Pattern, 2> kPatterns{
    {{"stream", Pattern::kStream},
     {"request-response", Pattern::kRequestResponse}}};
constexpr Names<Quickack, 4> kQuickacks{{{"unset", Quickack::kUnset},
                                         {"off", Quickack::kOff},
                                         {"on", Quickack::kOn},
                                         {"each", Quickack::kEach}}};

constexpr Bounds kCall{1, kMaxCallBytes};
constexpr Bounds kBuffer{1, kMaxBufferBytes};
constexpr Bounds kCpu{0, 4095};
constexpr Bounds kMss{1, 65535};
constexpr Bounds kBlock{1, kMaxBlockBytes};
constexpr Bounds kBatch{1, kMaxBatch};
constexpr Bounds kStreams{1, 1024};
constexpr Bounds kCount{1, std::numeric_limits<std::int64_t>::max()};
constexpr std::int64_t kDayNs = std::int64_t{24} * 3600 * 1'000'000'000;
constexpr Bounds kPause{0, kDayNs};
constexpr Bounds kDuration{1, kDayNs};
constexpr double kMaxRate = 1e13;  // Bits a second; no line is faster.
constexpr std::size_t kMaxNameBytes = 64;

template <class Enum, std::size_t kCount>
std::string_view NameOf(Enum value, const Names<Enum, kCount>& names) {
  for (const auto& [name, candidate] : names) {
    if (candidate == value) return name;
  }
  return names.front().first;
}

template <class T>
json OrNull(const std::optional<T>& value) {
  return value ? json(*value) : json(nullptr);
}

json OrNull(const std::optional<Bytes>& value) {
  return value ? json(value->count) : json(nullptr);
}

json ListOf(const std::vector<Bytes>& sizes) {
  json list = json::array();
  for (const Bytes size : sizes) list.push_back(size.count);
  return list;
}

std::vector<Bytes> SizesIn(FieldReader& fields, const char* name) {
  std::vector<Bytes> sizes;
  for (const std::int64_t size :
       fields.Integers(name, kMaxWritesInMessage, kCall)) {
    sizes.push_back(Bytes{size});
  }
  return sizes;
}

std::optional<Bytes> SizeIn(FieldReader& fields, const char* name,
                            Bounds bounds) {
  const auto size = fields.MaybeInteger(name, bounds);
  return size ? std::optional(Bytes{*size}) : std::nullopt;
}

std::optional<int> CpuIn(FieldReader& fields, const char* name) {
  const auto cpu = fields.MaybeInteger(name, kCpu);
  return cpu ? std::optional(static_cast<int>(*cpu)) : std::nullopt;
}

void ReadShape(FieldReader& fields, Workload& workload) {
  workload.transport = fields.Choice("transport", kTransports);
  workload.pattern = fields.Choice("pattern", kPatterns);
  workload.write = Bytes{fields.Integer("write", kCall)};
  workload.read = Bytes{fields.Integer("read", kCall)};
  workload.request = SizesIn(fields, "request");
  workload.reply = SizesIn(fields, "reply");
  workload.gap = Nanoseconds(fields.Integer("gap_ns", kPause));
  workload.warmup = Nanoseconds(fields.Integer("warmup_ns", kPause));
  if (const auto rate =
          fields.MaybePositive("rate_bits_per_second", kMaxRate)) {
    workload.rate = BitsPerSecond{*rate};
  }
  workload.sender_cpu = CpuIn(fields, "sender_cpu");
  workload.receiver_cpu = CpuIn(fields, "receiver_cpu");
  workload.streams = static_cast<int>(fields.Integer("streams", kStreams));
  workload.verify = fields.Flag("verify");
  workload.block = SizeIn(fields, "block", kBlock);
  workload.batch = static_cast<int>(fields.Integer("batch", kBatch));
}

void ReadOptions(FieldReader& fields, Workload& workload) {
  workload.nagle = fields.Flag("nagle");
  workload.rcvbuf = SizeIn(fields, "rcvbuf", kBuffer);
  workload.sndbuf = SizeIn(fields, "sndbuf", kBuffer);
  workload.congestion = fields.MaybeText("congestion", kMaxNameBytes);
  workload.quickack = fields.Choice("quickack", kQuickacks);
  workload.cork = fields.Flag("cork");
  workload.mss = SizeIn(fields, "mss", kMss);
  workload.dont_fragment = fields.MaybeFlag("dont_fragment");
}

void ReadStop(FieldReader& fields, Workload& workload) {
  workload.stop_bytes = SizeIn(fields, "stop_bytes", kCount);
  workload.stop_messages = fields.MaybeInteger("stop_messages", kCount);
  if (const auto time = fields.MaybeInteger("stop_time_ns", kDuration)) {
    workload.stop_time = Nanoseconds(*time);
  }
}

void CheckWhole(FieldReader& fields, const Workload& workload) {
  if (!workload.stop_bytes && !workload.stop_messages && !workload.stop_time) {
    fields.Fail(
        "would never stop; set stop_bytes, stop_messages or stop_time_ns");
  }
  if (workload.pattern == Pattern::kRequestResponse &&
      (workload.request.empty() || workload.reply.empty())) {
    fields.Fail("a request-response needs sizes in \"request\" and \"reply\"");
  }
}

}  // namespace

json WorkloadToJson(const Workload& workload) {
  json out;
  out["transport"] = NameOf(workload.transport, kTransports);
  out["pattern"] = NameOf(workload.pattern, kPatterns);
  out["write"] = workload.write.count;
  out["read"] = workload.read.count;
  out["request"] = ListOf(workload.request);
  out["reply"] = ListOf(workload.reply);
  out["gap_ns"] = workload.gap.count();
  out["warmup_ns"] = workload.warmup.count();
  out["rate_bits_per_second"] =
      workload.rate ? json(workload.rate->value) : json(nullptr);
  out["sender_cpu"] = OrNull(workload.sender_cpu);
  out["receiver_cpu"] = OrNull(workload.receiver_cpu);
  out["streams"] = workload.streams;
  out["verify"] = workload.verify;
  out["block"] = OrNull(workload.block);
  out["batch"] = workload.batch;
  out["nagle"] = workload.nagle;
  out["rcvbuf"] = OrNull(workload.rcvbuf);
  out["sndbuf"] = OrNull(workload.sndbuf);
  out["congestion"] = OrNull(workload.congestion);
  out["quickack"] = NameOf(workload.quickack, kQuickacks);
  out["cork"] = workload.cork;
  out["mss"] = OrNull(workload.mss);
  out["dont_fragment"] = OrNull(workload.dont_fragment);
  out["stop_bytes"] = OrNull(workload.stop_bytes);
  out["stop_messages"] = OrNull(workload.stop_messages);
  out["stop_time_ns"] =
      workload.stop_time ? json(workload.stop_time->count()) : json(nullptr);
  return out;
}

Outcome<Workload> WorkloadFromJson(const json& json) {
  FieldReader fields(json, "workload");
  Workload workload;
  ReadShape(fields, workload);
  ReadOptions(fields, workload);
  ReadStop(fields, workload);
  CheckWhole(fields, workload);
  if (const auto wrong = fields.Finish()) return Failure{.message = *wrong};
  return workload;
}

}  // namespace wiretoll
