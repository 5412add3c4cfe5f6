#include "harness/lab/router.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

namespace wiretoll {
namespace {

// What waits before a line unless told: what it carries in that time, and room
// for a burst of full frames however slow it is.
constexpr double kQueueSeconds = 0.1;
constexpr std::int64_t kLeastFrames = 30;
// Preamble 8, header 14, FCS 4, gap 12 (IEEE 802.3).
constexpr std::int64_t kFrameHeaders = 38;

Failure Misused(std::string message) {
  return {ExitCode::kUsage, std::move(message)};
}

using Pace = std::optional<BitsPerSecond>;

Pace Slower(const Pace& one, const Pace& other) {
  if (!one || !other) return one ? one : other;
  return one->value < other->value ? one : other;
}

bool IsShapeable(const Pace& rate) {
  return !rate || (rate->value >= 1000 && rate->value <= 1e11);
}

Outcome<Done> CheckRates(const RouterSpec& router) {
  for (const auto& [option, rate] : {std::pair{"--far-link", router.far_rate},
                                     {"--router-link", router.rate}}) {
    if (IsShapeable(rate)) continue;
    return Misused(fmt::format("{} {}: a lab shapes 1 kbit/s to 100 Gbit/s",
                               option, FormatBitRate(*rate)));
  }
  return Done{};
}

Outcome<Done> CheckPassing(const LinkSpec& link) {
  const RouterSpec& router = *link.router;
  if (router.mtu && (*router.mtu < 68 || *router.mtu > link.mtu)) {
    return Misused(
        fmt::format("--router-mtu {}: 68 (RFC 791) to the lines' own MTU, {}; "
                    "--mtu sets that",
                    *router.mtu, link.mtu));
  }
  if (!router.queue) return Done{};
  const std::int64_t frame = link.mtu + kFrameHeaders;
  if (router.queue->count < frame) {
    return Misused(fmt::format(
        "--router-queue {}: a full frame takes {} bytes and would never pass",
        router.queue->count, frame));
  }
  if (!PathOf(link).rate) {
    return Misused(
        "--router-queue: a queue forms before a line that has a rate only; "
        "say --router-link 10mbit, or --link with a rate");
  }
  return Done{};
}

std::string SpellQueue(const std::optional<RouterLine>& line) {
  return line ? fmt::format("{} bytes at {}", line->queue.count,
                            FormatBitRate(line->rate))
              : std::string("none: it sends as fast as the machine does");
}

const char* InterfaceTo(std::size_t host) {
  return host == 0 ? kRouterNear : kRouterFar;
}

}  // namespace

Outcome<Done> CheckRouter(const LabSpec& spec) {
  if (!spec.link.router) return Done{};
  if (spec.kinds.size() != 2) {
    return Misused(fmt::format(
        "--router needs a lab of two hosts, one on each side, this one has {}: "
        "a run holds all its pairs against one line, and hosts on the same "
        "side would have another. Say --lab linux,linux",
        spec.kinds.size()));
  }
  Outcome<Done> rates = CheckRates(*spec.link.router);
  return rates.has_value() ? CheckPassing(spec.link) : rates;
}

std::optional<BitsPerSecond> HostRate(const LinkSpec& link, std::size_t host) {
  const bool far = link.router && host == 1 && link.router->far_given;
  return far ? link.router->far_rate : link.rate;
}

std::optional<RouterLine> RouterLineTo(const LinkSpec& link, std::size_t host) {
  if (!link.router) return std::nullopt;
  const Pace rate = Slower(HostRate(link, host), link.router->rate);
  if (!rate) return std::nullopt;
  const auto usual =
      std::max<std::int64_t>(std::llround(kQueueSeconds * rate->value / 8),
                             kLeastFrames * (link.mtu + kFrameHeaders));
  return RouterLine{*rate, link.router->queue.value_or(Bytes{usual})};
}

LinkSpec PathOf(const LinkSpec& link) {
  LinkSpec path = link;
  if (!link.router) return path;
  path.rate =
      Slower(Slower(HostRate(link, 0), HostRate(link, 1)), link.router->rate);
  path.mtu = std::min(link.mtu, link.router->mtu.value_or(link.mtu));
  return path;
}

std::string RouterNamespace(const Layout& layout) {
  return layout.prefix + "-router";
}

std::string NetworkOf(const Layout& layout, std::size_t host) {
  return layout.routed && host == 1 ? "10.77.1.0/24" : "10.77.0.0/24";
}

std::string RouterAddress(std::size_t host) {
  return fmt::format("10.77.{}.254", host);
}

std::string RouterMac(std::size_t host) {
  return fmt::format("02:77:00:00:01:{:02x}", host + 1);
}

std::string RouterBatch(const Layout& layout, const LinkSpec& link) {
  std::string batch = "link set lo up\n";
  for (std::size_t host = 0; host < layout.hosts.size(); ++host) {
    batch += fmt::format(
        "link set {0} address {1} mtu {2} gso_max_segs 1 txqueuelen 10000\n"
        "link set {0} up\n"
        "addr add {3}/24 dev {0}\n"
        "neigh replace {4} lladdr {5} nud permanent dev {0}\n",
        InterfaceTo(host), RouterMac(host), layout.mtu, RouterAddress(host),
        layout.hosts[host].address, HostMac(host));
    // Of the route and not of the interface, which would drop what comes in,
    // and say nothing.
    if (link.router->mtu) {
      batch += fmt::format(
          "route replace {} dev {} proto kernel scope link src {} mtu lock "
          "{}\n",
          NetworkOf(layout, host), InterfaceTo(host), RouterAddress(host),
          *link.router->mtu);
    }
  }
  // What the router itself would say; what it forwards comes in elsewhere.
  // ICMP by its number: its name stands in /etc/protocols, which a bare Debian
  // does not have (package netbase).
  if (!link.router->icmp) batch += "rule add iif lo ipproto 1 blackhole\n";
  return batch;
}

std::vector<std::string> RouterShaperWords(const RouterLine& line, int mtu) {
  Shaper shaper = MakeShaper(line.rate, mtu, Nanoseconds{0});
  shaper.limit_bytes = line.queue.count;
  return ShaperWords(shaper);
}

std::string SpellRouter(const LinkSpec& link) {
  if (!link.router) return {};
  const RouterSpec& router = *link.router;
  std::string text = ", a router";
  if (router.rate) text += " that passes " + FormatBitRate(*router.rate);
  if (router.mtu)
    text += fmt::format(", packets of at most {} bytes", *router.mtu);
  if (!router.icmp) text += ", and sends no ICMP";
  const Pace far = HostRate(link, 1);
  text += far ? ", " + FormatBitRate(*far) + " Ethernet" : ", veth";
  return text;
}

Settings RouterSettings(const LinkSpec& link) {
  if (!link.router) return {};
  const RouterSpec& router = *link.router;
  const auto spelled = [](const Pace& rate) {
    return rate ? FormatBitRate(*rate) : std::string("as fast as the machine");
  };
  return {
      {"router",
       "Linux, between 10.77.0.0/24 and 10.77.1.0/24, in a namespace of its "
       "own"},
      {"router queue, near", SpellQueue(RouterLineTo(link, 0))},
      {"router queue, far", SpellQueue(RouterLineTo(link, 1))},
      {"router rate", spelled(router.rate)},
      {"router mtu",
       router.mtu ? std::to_string(*router.mtu) : "that of the lines"},
      {"router icmp", router.icmp ? "sent" : "none: it drops without a word"},
      {"line rate, near", spelled(HostRate(link, 0))},
      {"line rate, far", spelled(HostRate(link, 1))}};
}

}  // namespace wiretoll
