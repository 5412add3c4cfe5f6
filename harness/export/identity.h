// Keys that are the same whenever and wherever something is exported.
#ifndef WIRETOLL_HARNESS_EXPORT_IDENTITY_H_
#define WIRETOLL_HARNESS_EXPORT_IDENTITY_H_

#include <cstdint>
#include <string_view>

#include "harness/samples/run_folder.h"
#include "harness/samples/sample.h"

namespace wiretoll {

// FNV-1a in 64 bits, of which the lower 53 are the key: a double holds them,
// as pandas makes of integers beside a null.
class KeyMaker {
 public:
  void Add(std::string_view text);
  void Add(std::int64_t number);
  void AddValue(const OptionValue& value);
  [[nodiscard]] std::int64_t key() const;

 private:
  void AddByte(unsigned char byte);
  std::uint64_t hash_ = 14695981039346656037U;
};

// Of what run.json says and a resumed run keeps: start, seed, filter, studies
// with their text, hosts with their addresses, pairs. Not the folder's name.
std::int64_t RunKey(const RunRecord& record);

}  // namespace wiretoll

#endif  // WIRETOLL_HARNESS_EXPORT_IDENTITY_H_
