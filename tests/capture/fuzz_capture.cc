// For libFuzzer: any bytes at all, read as a capture. CMake's WIRETOLL_FUZZ
// builds it; tests/capture/mutation_test.cc does a little of it in each build.
#include <cstddef>
#include <cstdint>
#include <string>

#include "tests/capture/read_everything.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data,
                                      std::size_t size) {
  wiretoll::ReadEverything(
      std::string(reinterpret_cast<const char*>(data), size));
  return 0;
}
