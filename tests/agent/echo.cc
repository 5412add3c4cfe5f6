// Standard output is what came on standard input, byte for byte, until that
// ends. "failed" if the process cannot be prepared.
#include <cstdio>

#include "platform/process.h"

int main() {
  if (!wiretoll::PrepareProcess().has_value()) {
    std::puts("failed");
    return 1;
  }
  for (int byte = std::getchar(); byte != EOF; byte = std::getchar()) {
    std::putchar(byte);
    if (byte == '\n') std::fflush(stdout);
  }
  return 0;
}
