// What the files that gather host facts share. Included by platform/win32/
// only.
#ifndef WIRETOLL_PLATFORM_WIN32_FACTS_H_
#define WIRETOLL_PLATFORM_WIN32_FACTS_H_

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "harness/base/result.h"
#include "platform/facts.h"
#include "platform/host_facts.h"
#include "platform/win32/native.h"

namespace wiretoll {

// What Windows has as UTF-16 is UTF-8 with us.
std::string Utf8(std::wstring_view text);

// Text that holds a whole number and nothing else.
std::optional<std::int64_t> WholeNumber(std::string_view text);

// A value below HKEY_LOCAL_MACHINE. `key` as "SOFTWARE\\Microsoft\\...".
struct RegistryValue {
  std::wstring key;
  std::wstring value;
};

// A number (REG_DWORD, REG_QWORD) or text (REG_SZ, REG_EXPAND_SZ; at most
// 4 KiB). Errors: no_such_file_or_directory if there is none.
Result<Fact::Value> ReadRegistry(const RegistryValue& where);

// Its text; empty if it is none.
std::string RegistryText(const RegistryValue& where);

// The value as a fact: a number also where the registry has it as text.
Fact FromRegistry(std::string name, const RegistryValue& where);

// Of the interface that carries `address`; interface_facts.cc.
std::vector<Fact> ReadInterfaceFacts(const std::string& address);

// Of TCP as a whole, by WMI; tcp_settings.cc.
std::vector<Fact> ReadTcpSettings();

}  // namespace wiretoll

#endif  // WIRETOLL_PLATFORM_WIN32_FACTS_H_
