// What `wiretoll theory --window --rtt` prints.
#include <fmt/format.h>

#include <iterator>
#include <nlohmann/json.hpp>

#include "harness/theory/windows.h"

namespace wiretoll {
namespace {

const char* NameOfLimit(PathLimit limit) {
  switch (limit) {
    case PathLimit::kWindow:
      return "window";
    case PathLimit::kLine:
      return "line";
    case PathLimit::kNone:
      break;
  }
  return "";
}

std::string Megabytes(double rate) { return fmt::format("{:.4g}", rate / 1e6); }

double Milliseconds(Nanoseconds time) {
  return std::chrono::duration<double, std::milli>(time).count();
}

std::string CourseText(const SlowStartCourse& course) {
  return fmt::format("{} / {:.4g}", course.round_trips,
                     Milliseconds(course.time));
}

}  // namespace

std::string WindowText(const WindowTable& table) {
  const bool line = table.options.link.has_value();
  std::string text =
      fmt::format("{:>9} {:>9} {:>9}", "window B", "rtt ms", "W/RTT");
  const auto out = std::back_inserter(text);
  if (line) fmt::format_to(out, " {:>9} {:>7} {:>9}", "line", "limit", "BDP B");
  fmt::format_to(out, " {:>9} {:>6} {:>14} {:>14} {:>9}\n", "unscaled", "shift",
                 "doubling", "by half", "SO_RCVBUF");
  for (const WindowRow& row : table.rows) {
    fmt::format_to(out, "{:>9} {:>9.4g} {:>9}", row.window.count,
                   Milliseconds(row.rtt), Megabytes(row.window_rate));
    if (line) {
      fmt::format_to(out, " {:>9} {:>7} {:>9}", Megabytes(*row.line_rate),
                     NameOfLimit(row.limit), row.product->count);
    }
    fmt::format_to(out, " {:>9} {:>6} {:>14} {:>14} {:>9}\n",
                   Megabytes(row.unscaled_rate), row.shift,
                   CourseText(row.doubling), CourseText(row.by_ack),
                   row.linux_buffer.count);
  }
  text +=
      "\nRates are MB/s of payload; doubling and by half: round trips / ms "
      "until slow start is there.\n";
  for (const std::string& note : table.notes) text += note + '\n';
  return text;
}

std::string WindowCsv(const WindowTable& table) {
  std::string text =
      "window_bytes,rtt_ns,window_bytes_per_s,line_bytes_per_s,limit,"
      "limit_bytes_per_s,bandwidth_delay_bytes,unscaled_bytes_per_s,"
      "window_shift,doubling_round_trips,doubling_ns,doubling_sent_bytes,"
      "by_ack_round_trips,by_ack_ns,by_ack_sent_bytes,linux_rcvbuf_bytes\n";
  for (const WindowRow& row : table.rows) {
    fmt::format_to(
        std::back_inserter(text),
        "{},{},{:.3f},{},{},{:.3f},{},{:.3f},{},{},{},{},{},{},{},{}\n",
        row.window.count, row.rtt.count(), row.window_rate,
        row.line_rate ? fmt::format("{:.3f}", *row.line_rate) : std::string(),
        NameOfLimit(row.limit), row.rate,
        row.product ? fmt::format("{}", row.product->count) : std::string(),
        row.unscaled_rate, row.shift, row.doubling.round_trips,
        row.doubling.time.count(), row.doubling.sent.count,
        row.by_ack.round_trips, row.by_ack.time.count(), row.by_ack.sent.count,
        row.linux_buffer.count);
  }
  return text;
}

std::string WindowJson(const WindowTable& table) {
  using Json = nlohmann::ordered_json;
  const auto course = [](const SlowStartCourse& taken) {
    return Json{{"round_trips", taken.round_trips},
                {"time_ns", taken.time.count()},
                {"sent_bytes", taken.sent.count}};
  };
  Json rows = Json::array();
  for (const WindowRow& row : table.rows) {
    rows.push_back(
        {{"window_bytes", row.window.count},
         {"rtt_ns", row.rtt.count()},
         {"window_bytes_per_s", row.window_rate},
         {"line_bytes_per_s", row.line_rate ? Json(*row.line_rate) : Json()},
         {"limit", row.line_rate ? Json(NameOfLimit(row.limit)) : Json()},
         {"limit_bytes_per_s", row.rate},
         {"bandwidth_delay_bytes",
          row.product ? Json(row.product->count) : Json()},
         {"unscaled_bytes_per_s", row.unscaled_rate},
         {"window_shift", row.shift},
         {"slow_start_doubling", course(row.doubling)},
         {"slow_start_by_ack", course(row.by_ack)},
         {"linux_rcvbuf_bytes", row.linux_buffer.count}});
  }
  const WindowOptions& options = table.options;
  const Json json = {
      {"ip", options.ip_version},
      {"timestamps", options.timestamps},
      {"mtu_bytes", options.mtu.count},
      {"mss_bytes", table.mss.count},
      {"initial_window_segments", table.initial},
      {"link_bits_per_s", options.link ? Json(options.link->value) : Json()},
      {"notes", table.notes},
      {"rows", rows}};
  return json.dump(2) + '\n';
}

}  // namespace wiretoll
