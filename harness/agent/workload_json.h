// A workload as JSON, as a trial request carries it.
#ifndef WIRETOLL_HARNESS_AGENT_WORKLOAD_JSON_H_
#define WIRETOLL_HARNESS_AGENT_WORKLOAD_JSON_H_

#include <nlohmann/json_fwd.hpp>

#include "harness/base/result.h"
#include "harness/study/study.h"

namespace wiretoll {

// Limits of what an agent takes, whoever asks.
inline constexpr std::int64_t kMaxCallBytes = std::int64_t{16} << 20;
inline constexpr std::int64_t kMaxBufferBytes = std::int64_t{64} << 20;
inline constexpr std::size_t kMaxWritesInMessage = 64;
inline constexpr std::int64_t kMaxBlockBytes = std::int64_t{1} << 30;
inline constexpr int kMaxBatch = 1024;

// Every field is written; an empty one is null.
nlohmann::json WorkloadToJson(const Workload& workload);

// The failure names the field that is missing, unknown, of the wrong type or
// out of range. At least one stop condition must be set, and a
// request-response must have a request and a reply.
Outcome<Workload> WorkloadFromJson(const nlohmann::json& json);

}  // namespace wiretoll

#endif  // WIRETOLL_HARNESS_AGENT_WORKLOAD_JSON_H_
