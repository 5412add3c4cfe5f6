#include "platform/win32/wmi.h"

#include <memory>
#include <utility>

#include "platform/win32/facts.h"
#include "platform/win32/native.h"
// Each lacks what those before it bring.
// clang-format off
#include <objbase.h>
#include <oleauto.h>
#include <wbemidl.h>
// clang-format on

namespace wiretoll {
namespace {

struct Releaser {
  void operator()(IUnknown* object) const { object->Release(); }
};
template <class T>
using ComPtr = std::unique_ptr<T, Releaser>;

// COM on this thread, for as long as it lives. Declare it before any ComPtr.
class Com {
 public:
  Com() : status_(::CoInitializeEx(nullptr, COINIT_MULTITHREADED)) {}
  ~Com() {
    if (SUCCEEDED(status_)) ::CoUninitialize();
  }
  Com(const Com&) = delete;
  Com& operator=(const Com&) = delete;

 private:
  const HRESULT status_;
};

// BSTR: COM's string.
class Text {
 public:
  explicit Text(const std::wstring& text)
      : text_(::SysAllocString(text.c_str())) {}
  ~Text() { ::SysFreeString(text_); }
  Text(const Text&) = delete;
  Text& operator=(const Text&) = delete;

  [[nodiscard]] BSTR get() const { return text_; }

 private:
  BSTR text_;
};

class Variant {
 public:
  Variant() { ::VariantInit(&native_); }
  ~Variant() { ::VariantClear(&native_); }
  Variant(const Variant&) = delete;
  Variant& operator=(const Variant&) = delete;

  VARIANT* get() { return &native_; }

  // monostate for what is none of ours: null, arrays, objects.
  [[nodiscard]] Fact::Value value() const {
    switch (V_VT(&native_)) {
      case VT_BOOL:
        return V_BOOL(&native_) != VARIANT_FALSE;
      case VT_UI1:
        return std::int64_t{V_UI1(&native_)};
      case VT_I2:
        return std::int64_t{V_I2(&native_)};
      case VT_I4:
        return std::int64_t{V_I4(&native_)};
      case VT_BSTR:
        return Utf8({V_BSTR(&native_), ::SysStringLen(V_BSTR(&native_))});
      default:
        return {};
    }
  }

 private:
  VARIANT native_;
};

struct Trouble {
  const char* step;
  HRESULT status;
};

template <class T>
using Made = Result<std::shared_ptr<T>, Trouble>;

template <class T>
std::shared_ptr<T> Own(T* object) {
  return std::shared_ptr<T>(object, Releaser{});
}

// The provider acts with our rights. Where it is in our process (Wine) there
// is no proxy to say it to.
void LetActForUs(IUnknown& proxy) {
  ::CoSetProxyBlanket(&proxy, RPC_C_AUTHN_WINNT, RPC_C_AUTHZ_NONE, nullptr,
                      RPC_C_AUTHN_LEVEL_CALL, RPC_C_IMP_LEVEL_IMPERSONATE,
                      nullptr, EOAC_NONE);
}

Made<IWbemServices> Connect(const std::wstring& space) {
  IWbemLocator* locator = nullptr;
  HRESULT status =
      ::CoCreateInstance(CLSID_WbemLocator, nullptr, CLSCTX_INPROC_SERVER,
                         IID_IWbemLocator, reinterpret_cast<void**>(&locator));
  if (FAILED(status)) return Trouble{"WMI is not to be had", status};
  const ComPtr<IWbemLocator> releases(locator);
  IWbemServices* services = nullptr;
  status = locator->ConnectServer(Text(space).get(), nullptr, nullptr, nullptr,
                                  WBEM_FLAG_CONNECT_USE_MAX_WAIT, nullptr,
                                  nullptr, &services);
  if (FAILED(status)) return Trouble{"no such WMI namespace", status};
  LetActForUs(*services);
  return Own(services);
}

Made<IWbemClassObject> FirstRow(IWbemServices& services,
                                const std::wstring& text) {
  constexpr long kMostMilliseconds = 10'000;
  IEnumWbemClassObject* rows = nullptr;
  HRESULT status = services.ExecQuery(
      Text(L"WQL").get(), Text(text).get(),
      WBEM_FLAG_FORWARD_ONLY | WBEM_FLAG_RETURN_IMMEDIATELY, nullptr, &rows);
  if (FAILED(status)) return Trouble{"WMI refuses the query", status};
  const ComPtr<IEnumWbemClassObject> releases(rows);
  LetActForUs(*rows);
  IWbemClassObject* row = nullptr;
  ULONG returned = 0;
  status = rows->Next(kMostMilliseconds, 1, &row, &returned);
  if (FAILED(status)) return Trouble{"WMI has no such class", status};
  if (returned == 0 || row == nullptr) {
    return Trouble{"WMI has no such row, or gave none in time", status};
  }
  return Own(row);
}

WmiRow ReadProperties(IWbemClassObject& row, const WmiQuery& query) {
  WmiRow read;
  for (const std::wstring& property : query.properties) {
    Variant variant;
    if (SUCCEEDED(
            row.Get(property.c_str(), 0, variant.get(), nullptr, nullptr))) {
      read[property] = variant.value();
    }
  }
  return read;
}

Failure Explain(const WmiQuery& query, const Trouble& trouble) {
  constexpr const char* kDigits = "0123456789abcdef";
  std::string status = "0x";
  for (int shift = 28; shift >= 0; shift -= 4) {
    status += kDigits[(static_cast<ULONG>(trouble.status) >> shift) & 0xF];
  }
  return {ExitCode::kNothingRan, std::string{trouble.step} + ": " +
                                     Utf8(query.space) + ": " +
                                     Utf8(query.text) + ": " + status};
}

}  // namespace

Outcome<WmiRow> AskWmi(const WmiQuery& query) {
  const Com com;
  const Made<IWbemServices> services = Connect(query.space);
  if (!services.has_value()) return Explain(query, services.error());
  const Made<IWbemClassObject> row = FirstRow(*services.value(), query.text);
  if (!row.has_value()) return Explain(query, row.error());
  return ReadProperties(*row.value(), query);
}

}  // namespace wiretoll
