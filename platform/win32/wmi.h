// Windows Management Instrumentation: what Windows tells of its settings that
// no other call tells. Included by platform/win32/ and its tests only.
#ifndef WIRETOLL_PLATFORM_WIN32_WMI_H_
#define WIRETOLL_PLATFORM_WIN32_WMI_H_

#include <map>
#include <string>
#include <vector>

#include "harness/base/result.h"
#include "platform/host_facts.h"

namespace wiretoll {

struct WmiQuery {
  std::wstring space;                    // "ROOT\\StandardCimv2"
  std::wstring text;                     // "SELECT * FROM ..."
  std::vector<std::wstring> properties;  // Of the first row; what is wanted.
};

// The wanted properties that the first row has; numbers, switches, text.
using WmiRow = std::map<std::wstring, Fact::Value>;

// The failure names what was asked and what the system said. Waits at most
// ten seconds.
Outcome<WmiRow> AskWmi(const WmiQuery& query);

}  // namespace wiretoll

#endif  // WIRETOLL_PLATFORM_WIN32_WMI_H_
