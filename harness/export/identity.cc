#include "harness/export/identity.h"

namespace wiretoll {

void KeyMaker::AddByte(unsigned char byte) {
  constexpr std::uint64_t kPrime = 1099511628211U;
  hash_ = (hash_ ^ byte) * kPrime;
}

void KeyMaker::Add(std::string_view text) {
  for (const char c : text) AddByte(static_cast<unsigned char>(c));
  // "a", "bc" and "ab", "c" are not the same; no text holds this byte, which
  // UTF-8 has no use for.
  AddByte(0xFF);
}

void KeyMaker::Add(std::int64_t number) {
  auto rest = static_cast<std::uint64_t>(number);
  for (int byte = 0; byte < 8; ++byte, rest >>= 8) {
    AddByte(static_cast<unsigned char>(rest & 0xFF));
  }
}

void KeyMaker::AddValue(const OptionValue& value) {
  AddByte(static_cast<unsigned char>(value.index()));
  if (const auto* flag = std::get_if<bool>(&value)) {
    AddByte(*flag ? 1 : 0);
  } else if (const auto* number = std::get_if<std::int64_t>(&value)) {
    Add(*number);
  } else if (const auto* text = std::get_if<std::string>(&value)) {
    Add(std::string_view(*text));
  }
}

std::int64_t KeyMaker::key() const {
  constexpr std::uint64_t kMask = (std::uint64_t{1} << 53) - 1;
  return static_cast<std::int64_t>(hash_ & kMask);
}

std::int64_t RunKey(const RunRecord& record) {
  KeyMaker key;
  key.Add(record.started);
  key.Add(static_cast<std::int64_t>(record.seed));
  key.Add(record.filter);
  for (const RecordedStudy& study : record.studies) {
    key.Add(study.name);
    key.Add(study.text);
  }
  for (const RecordedHost& host : record.hosts) {
    key.Add(host.name);
    key.Add(host.address);
  }
  for (const auto& [sender, receiver] : record.pairs) {
    key.Add(sender);
    key.Add(receiver);
  }
  return key.key();
}

}  // namespace wiretoll
