#include "harness/run/hosts.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <boost/asio/ip/address.hpp>
#include <filesystem>
#include <fstream>
#include <optional>
#include <sstream>
#include <utility>

#define TOML_EXCEPTIONS 0
#include <toml++/toml.h>

#include "harness/base/units.h"

namespace wiretoll {
namespace {

constexpr std::size_t kLargestFile = 1 << 20;
constexpr std::size_t kMaxNameBytes = 100;
constexpr std::size_t kMaxHosts = 1000;

// Empty if a host may have it.
std::string WhyNoHostHasIt(const boost::asio::ip::address& address) {
  if (address.is_unspecified())
    return "no address of a host; give the one that data goes to";
  if (address.is_multicast() ||
      (address.is_v4() &&
       address.to_v4() == boost::asio::ip::address_v4::broadcast())) {
    return "the address of many hosts; give the host's own";
  }
  if (address.is_v6() && address.to_v6().is_link_local())
    return "link-local, which needs an interface beside it and is not "
           "supported; give an address of wider scope";
  return {};
}

class HostsParser {
 public:
  explicit HostsParser(std::string file) : file_(std::move(file)) {}

  Outcome<HostsFile> Parse(const std::string& text) {
    const toml::parse_result parsed = toml::parse(text, file_);
    if (!parsed) {
      const auto& error = parsed.error();
      return Complain(error.source().begin.line, "",
                      std::string(error.description()));
    }
    return Read(parsed.table());
  }

 private:
  Failure Complain(std::uint32_t line, const std::string& key,
                   const std::string& what) const {
    return {ExitCode::kUsage, fmt::format("{}:{}: {}{}{}", file_, line, key,
                                          key.empty() ? "" : ": ", what)};
  }

  Failure Complain(const toml::node& node, const std::string& key,
                   const std::string& what) const {
    return Complain(node.source().begin.line, key, what);
  }

  Outcome<HostsFile> Read(const toml::table& root) {
    HostsFile file;
    file.link.kind = "hosts";
    file.link.description = "the hosts' own network";
    for (const auto& [key, node] : root) {
      Outcome<Done> read = Done{};
      if (key == "hosts") {
        read = ReadHosts(node, file);
      } else if (key == "path") {
        read = ReadPath(node, file.link);
      } else {
        read = Complain(node, std::string(key.str()),
                        "unknown key; there are [hosts.NAME] and [path]");
      }
      if (!read.has_value()) return read.error();
    }
    if (file.hosts.size() < 2) {
      return Complain(1, "hosts",
                      "at least two hosts are needed, each as [hosts.NAME]");
    }
    return file;
  }

  Outcome<Done> ReadHosts(const toml::node& node, HostsFile& file) {
    const toml::table* table = node.as_table();
    if (table == nullptr)
      return Complain(node, "hosts", "write each host as [hosts.NAME]");
    if (table->size() > kMaxHosts)
      return Complain(node, "hosts", "more than 1000 hosts");
    for (const auto& [name, host_node] : *table) {
      auto host = ReadHost(std::string(name.str()), host_node);
      if (!host.has_value()) return host.error();
      file.hosts.push_back(std::move(host).value());
      lines_.push_back(host_node.source().begin.line);
    }
    SortByLine(file.hosts);
    return Done{};
  }

  // toml++ orders tables by name; people expect the file's order.
  void SortByLine(std::vector<Host>& hosts) {
    std::vector<std::pair<std::uint32_t, Host>> keyed;
    for (std::size_t i = 0; i < hosts.size(); ++i) {
      keyed.emplace_back(lines_[i], std::move(hosts[i]));
    }
    std::stable_sort(keyed.begin(), keyed.end(),
                     [](auto& a, auto& b) { return a.first < b.first; });
    for (std::size_t i = 0; i < hosts.size(); ++i) {
      hosts[i] = std::move(keyed[i].second);
    }
  }

  Outcome<Host> ReadHost(const std::string& name, const toml::node& node) {
    const std::string key = "hosts." + name;
    const toml::table* table = node.as_table();
    if (table == nullptr)
      return Complain(node, key, "write it as [hosts." + name + "]");
    if (name.empty() || name.size() > kMaxNameBytes ||
        name.find_first_of(":,\n") != std::string::npos) {
      return Complain(node, key,
                      "a host's name has 1 to 100 bytes and no ':', ',' or "
                      "line break (--pairs a:b needs them)");
    }
    Host host;
    host.name = name;
    for (const auto& [field, value] : *table) {
      const std::string inner = key + "." + std::string(field.str());
      Outcome<Done> read = Done{};
      if (field == "agent") {
        read = ReadAgent(value, inner, host);
      } else if (field == "address") {
        read = ReadAddress(value, inner, host);
      } else {
        read = Complain(value, inner, "unknown key; there are agent, address");
      }
      if (!read.has_value()) return read.error();
    }
    if (host.agent.empty())
      return Complain(node, key + ".agent",
                      R"(missing; for example ["ssh", "me@192.0.2.7", )"
                      R"("wiretoll-agent"])");
    if (host.address.empty())
      return Complain(node, key + ".address",
                      "missing: the numeric address that data goes to");
    return host;
  }

  Outcome<Done> ReadAgent(const toml::node& node, const std::string& key,
                          Host& host) const {
    const toml::array* list = node.as_array();
    const char* const kShape =
        R"(a list of program and arguments, such as ["wiretoll-agent"])";
    if (list == nullptr || list->empty()) return Complain(node, key, kShape);
    for (const toml::node& part : *list) {
      const auto text = part.value<std::string>();
      if (!part.is_string() || !text) return Complain(part, key, kShape);
      if (text->find('\0') != std::string::npos)
        return Complain(part, key, "no argument of a program holds a NUL byte");
      host.agent.push_back(*text);
    }
    if (host.agent.front().empty()) return Complain(node, key, kShape);
    return Done{};
  }

  // Taken in the one spelling that systems give back (RFC 5952): an agent knows
  // its peer by that.
  Outcome<Done> ReadAddress(const toml::node& node, const std::string& key,
                            Host& host) const {
    const auto text = node.value<std::string>();
    boost::system::error_code error;
    const auto address =
        boost::asio::ip::make_address(text.value_or(""), error);
    if (!node.is_string() || error) {
      return Complain(node, key,
                      "not a numeric IPv4 or IPv6 address (names are not "
                      "looked up)");
    }
    const std::string why = WhyNoHostHasIt(address);
    if (!why.empty()) return Complain(node, key, *text + " is " + why);
    host.address = address.to_string();
    return Done{};
  }

  Outcome<Done> ReadPath(const toml::node& node, RecordedLink& link) const {
    const toml::table* table = node.as_table();
    if (table == nullptr) return Complain(node, "path", "write it as [path]");
    for (const auto& [field, value] : *table) {
      auto read = ReadPathField(std::string(field.str()), value, link);
      if (!read.has_value()) return read;
    }
    return Done{};
  }

  Outcome<Done> ReadPathField(const std::string& field, const toml::node& node,
                              RecordedLink& link) const {
    const std::string wrong =
        field == "mtu" ? TakeMtu(node, link) : TakeText(field, node, link);
    if (wrong.empty()) return Done{};
    return Complain(node, "path." + field, wrong);
  }

  // What is wrong; empty: taken.
  static std::string TakeMtu(const toml::node& node, RecordedLink& link) {
    const auto mtu = node.value<std::int64_t>();
    if (!node.is_integer() || !mtu || *mtu < 68 || *mtu > 65535)
      return "bytes, from 68 to 65535";
    link.mtu = *mtu;
    return {};
  }

  static std::string TakeText(const std::string& field, const toml::node& node,
                              RecordedLink& link) {
    const std::string text =
        node.is_string() ? node.value<std::string>().value_or("") : "";
    if (field == "rate") return TakeRate(text, link);
    if (field == "delay") return TakeDelay(text, link);
    if (field == "loss") return TakeLoss(text, link);
    if (field == "framing") {
      if (text != "ethernet") return R"(this version knows "ethernet")";
      link.framing = text;
      return {};
    }
    if (field == "description") {
      if (text.empty()) return "a line of text";
      link.description = text;
      return {};
    }
    if (field == "router") {
      if (text.empty()) return "what routes between the hosts, a line of text";
      link.settings["router"] = text;
      return {};
    }
    return "unknown key; there are rate, delay, loss, mtu, framing, router, "
           "description";
  }

  static std::string TakeRate(const std::string& text, RecordedLink& link) {
    const auto rate = ParseRate(text);
    if (!rate) return R"(a rate such as "100mbit")";
    link.rate_bits_per_second = rate->value;
    return {};
  }

  static std::string TakeDelay(const std::string& text, RecordedLink& link) {
    const auto delay = ParseDuration(text);
    if (!delay) return R"(each way, such as "5ms")";
    link.delay_ns = delay->count();
    return {};
  }

  static std::string TakeLoss(const std::string& text, RecordedLink& link) {
    const auto loss = ParsePercent(text);
    if (!loss || *loss >= 1) return R"(a share of the frames, such as "1%")";
    link.loss = *loss;
    return {};
  }

  std::string file_;
  std::vector<std::uint32_t> lines_;
};

}  // namespace

Outcome<HostsFile> ParseHosts(const std::string& text,
                              const std::string& file) {
  return HostsParser(file).Parse(text);
}

Outcome<HostsFile> LoadHosts(const std::string& path) {
  const auto no = [&](const char* what) {
    return Failure{
        ExitCode::kUsage,
        fmt::format("{}: {}; --hosts takes a TOML file", path, what)};
  };
  std::error_code unknown;
  if (std::filesystem::is_directory(path, unknown)) return no("is a folder");
  std::ifstream in(path, std::ios::binary);
  if (!in) return no("cannot be read");
  // Pipes are welcome, but none without an end.
  std::string text(kLargestFile + 1, '\0');
  in.read(text.data(), static_cast<std::streamsize>(text.size()));
  if (in.bad()) return no("cannot be read");
  text.resize(static_cast<std::size_t>(in.gcount()));
  if (text.size() > kLargestFile) return no("is larger than 1 MiB");
  return ParseHosts(text, path);
}

std::string WriteHosts(const HostsFile& file) {
  toml::table hosts;
  for (const Host& host : file.hosts) {
    toml::array agent;
    for (const std::string& part : host.agent) agent.push_back(part);
    hosts.insert(host.name, toml::table{{"agent", std::move(agent)},
                                        {"address", host.address}});
  }
  toml::table path{{"description", file.link.description}};
  if (file.link.rate_bits_per_second) {
    path.insert("rate",
                fmt::format("{:.0f}bit", *file.link.rate_bits_per_second));
  }
  if (file.link.delay_ns) {
    path.insert("delay", FormatDuration(Nanoseconds{*file.link.delay_ns}));
  }
  if (file.link.loss) {
    path.insert("loss", fmt::format("{}%", 100 * *file.link.loss));
  }
  if (file.link.mtu) path.insert("mtu", *file.link.mtu);
  const auto router = file.link.settings.find("router");
  if (router != file.link.settings.end()) path.insert("router", router->second);
  std::ostringstream text;
  text << toml::table{{"hosts", std::move(hosts)}, {"path", std::move(path)}};
  return text.str() + "\n";
}

}  // namespace wiretoll
