#include "harness/ns3/agent_options.h"

#include <fmt/format.h>

#include <charconv>
#include <cstdint>
#include <functional>
#include <optional>

#include "harness/base/units.h"

namespace wiretoll {
namespace {

using sim::LinkKind;

// `take` gives what is wrong with a text, or nothing.
CLI::Option* AddTaken(
    CLI::App* app, const char* name, const char* text,
    const std::function<std::string(const std::string&)>& take) {
  const auto callback = [take](const CLI::results_t& given) {
    const std::string wrong = take(given.front());
    if (!wrong.empty()) throw CLI::ValidationError(wrong);
    return true;
  };
  return app->add_option(name, callback, text)->expected(1);
}

std::string TakeRate(const std::string& text, double& bits_per_second) {
  const auto rate = ParseRate(text);
  if (!rate || rate->value > 1e12)
    return "--rate: \"" + text + "\" is no rate up to 1000gbit; say 1gbit";
  bits_per_second = rate->value;
  return {};
}

std::string TakeDelay(const std::string& text, std::int64_t& ns) {
  constexpr Nanoseconds kLongest = std::chrono::seconds(10);
  const auto delay = ParseDuration(text);
  if (!delay || *delay > kLongest)
    return "--delay: \"" + text + "\" is no time up to 10s; say 2us";
  ns = delay->count();
  return {};
}

std::string TakeLoss(const std::string& text, double& share) {
  const auto loss = ParsePercent(text);
  if (!loss) return "--loss: \"" + text + "\" is no percentage; say 0.1%";
  share = *loss;
  return {};
}

std::string TakeLink(const std::string& text, LinkKind& kind) {
  if (text != "csma" && text != "p2p")
    return "--link: \"" + text + "\" is no link; there are csma and p2p";
  kind = text == "csma" ? LinkKind::kCsma : LinkKind::kPointToPoint;
  return {};
}

std::string TakeRun(const std::string& text, std::uint64_t& run) {
  if (text == "each") {
    run = kRunOfEachTrial;
    return {};
  }
  std::uint64_t number = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, number);
  if (error != std::errc{} || stop != end || number == 0)
    return "--rng-run: \"" + text + "\" is no number from 1 on, nor each";
  run = number;
  return {};
}

}  // namespace

void AddWorldOptions(CLI::App* app, sim::WorldSpec& world) {
  sim::LinkSpec& link = world.link;
  AddTaken(app, "--link",
           "csma (half-duplex Ethernet with ARP) or p2p (full duplex)",
           [&link](const auto& text) { return TakeLink(text, link.kind); })
      ->default_str("csma");
  AddTaken(app, "--rate", "Of the link, as 1gbit", [&link](const auto& text) {
    return TakeRate(text, link.bits_per_second);
  })->default_str("1gbit");
  AddTaken(app, "--delay", "Of the link, each way, as 2us",
           [&link](const auto& text) { return TakeDelay(text, link.delay_ns); })
      ->default_str("2us");
  AddTaken(app, "--loss", "Of frames, each way, as 0.1%",
           [&link](const auto& text) { return TakeLoss(text, link.loss); })
      ->default_str("0%");
  app->add_option("--mtu", link.mtu_bytes, "Bytes of an IP packet")
      ->check(CLI::Range(std::int64_t{576}, std::int64_t{65535}))
      ->capture_default_str();
  app->add_option("--arp-queue", world.arp_queue,
                  "Packets that wait for an ARP answer; ns-3's own is 3")
      ->check(CLI::Range(std::uint32_t{1}, std::uint32_t{1'000'000}));
  AddTaken(app, "--rng-run",
           "Run of ns-3's random numbers, from 1: the same run, the same "
           "figures; or each: every trial has its own, by its payload's seed",
           [&world](const auto& text) { return TakeRun(text, world.rng_run); })
      ->default_str("1");
}

std::vector<std::string> WorldArguments(const sim::WorldSpec& world) {
  const sim::LinkSpec& link = world.link;
  std::vector<std::string> arguments = {
      "--link",
      link.kind == LinkKind::kCsma ? "csma" : "p2p",
      "--rate",
      fmt::format("{:.0f}bit", link.bits_per_second),
      "--delay",
      SpellDuration(Nanoseconds(link.delay_ns)),
      "--loss",
      fmt::format("{:.9f}%", link.loss * 100),
      "--mtu",
      fmt::format("{}", link.mtu_bytes),
      "--rng-run",
      world.rng_run == kRunOfEachTrial ? "each"
                                       : fmt::format("{}", world.rng_run)};
  if (world.arp_queue) {
    arguments.emplace_back("--arp-queue");
    arguments.push_back(fmt::format("{}", *world.arp_queue));
  }
  return arguments;
}

}  // namespace wiretoll
