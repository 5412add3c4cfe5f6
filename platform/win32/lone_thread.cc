#include "platform/lone_thread.h"

#include <thread>

#include "platform/win32/native.h"

namespace wiretoll {

// Windows' handle table costs a thread the same whether others use it or not.
// But unlike on Linux a new thread is not kept where its maker was.
void RunAlone(const std::function<void()>& work) {
  GROUP_AFFINITY ours{};
  const bool known = ::GetThreadGroupAffinity(::GetCurrentThread(), &ours) != 0;
  std::thread([&work, &ours, known] {
    if (known) {
      ::SetThreadGroupAffinity(::GetCurrentThread(), &ours, nullptr);
    }
    work();
  }).join();
}

}  // namespace wiretoll
