#include "harness/samples/run_folder.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>
#include <system_error>

#include "harness/samples/decode.h"
#include "harness/samples/json_value.h"

namespace wiretoll {
namespace {

using Json = nlohmann::ordered_json;
using Reader = ObjectReader<JsonValue>;

constexpr std::string_view kRecordName = "run.json";
constexpr std::string_view kSamplesName = "samples.jsonl";
// A study's text may be long, a run.json of this size is none of ours.
constexpr std::uintmax_t kMaxRecordBytes = std::uintmax_t{64} << 20;

// ---------------------------------------------------------------- writing

Json EncodeFact(const RecordedFact& fact) {
  Json json = Json::object();
  json["name"] = fact.name;
  json["value"] = nullptr;
  if (fact.number.has_value() && std::isfinite(*fact.number)) {
    json["value"] = *fact.number;
  } else if (const auto* flag = std::get_if<bool>(&fact.value)) {
    json["value"] = *flag;
  } else if (const auto* number = std::get_if<std::int64_t>(&fact.value)) {
    json["value"] = *number;
  } else if (const auto* text = std::get_if<std::string>(&fact.value)) {
    json["value"] = *text;
  }
  if (!fact.reason.empty()) {
    json["reason"] = fact.reason;
  } else if (json["value"].is_null()) {
    json["reason"] = "not observed";
  }
  return json;
}

Json EncodeHost(const RecordedHost& host) {
  Json facts = Json::array();
  for (const RecordedFact& fact : host.facts) facts.push_back(EncodeFact(fact));
  return Json{{"name", host.name},
              {"os", host.os},
              {"stack", host.stack},
              {"description", host.description},
              {"address", host.address},
              {"agent", host.agent},
              {"agent_version", host.agent_version},
              {"facts", std::move(facts)}};
}

// What the link does not have (no rate: as fast as the machine) is left out.
Json EncodeLink(const RecordedLink& link) {
  Json json{{"kind", link.kind},
            {"description", link.description},
            {"framing", link.framing},
            {"settings", link.settings}};
  if (link.rate_bits_per_second.has_value()) {
    json["rate_bits_per_second"] = *link.rate_bits_per_second;
  }
  if (link.mtu.has_value()) json["mtu"] = *link.mtu;
  if (link.delay_ns.has_value()) json["delay_ns"] = *link.delay_ns;
  if (link.loss.has_value()) json["loss"] = *link.loss;
  return json;
}

Json EncodeRecord(const RunRecord& record) {
  Json json{{"v", record.version},
            {"wiretoll_version", record.wiretoll_version},
            {"started", record.started},
            {"command", record.command},
            {"seed", record.seed},
            {"repeats", record.repeats},
            {"filter", record.filter},
            {"studies", Json::array()},
            {"hosts", Json::array()},
            {"pairs", Json::array()},
            {"link", EncodeLink(record.link)}};
  if (record.precision.has_value()) json["precision"] = *record.precision;
  if (!record.synthetic.empty()) json["synthetic"] = record.synthetic;
  for (const RecordedStudy& study : record.studies) {
    json["studies"].push_back(
        Json{{"name", study.name}, {"file", study.file}, {"text", study.text}});
  }
  for (const RecordedHost& host : record.hosts) {
    json["hosts"].push_back(EncodeHost(host));
  }
  for (const auto& [sender, receiver] : record.pairs) {
    json["pairs"].push_back(Json::array({sender, receiver}));
  }
  return json;
}

// ---------------------------------------------------------------- reading

void ReadLongText(Reader& reader, std::string_view key, std::string& out) {
  const auto value = reader.Required(key);
  if (!value.has_value()) return;
  if (const auto text = value->Text()) {
    out = *text;
  } else {
    reader.SayMember(key, "must be a text");
  }
}

// `read` gets each element and its path ("hosts[1]").
template <class Function>
void ReadArray(Reader& reader, std::string_view key, const Function& read) {
  const auto value = reader.Required(key);
  if (!value.has_value()) return;
  if (!value->IsArray()) return reader.SayMember(key, "must be a list");
  const JsonPath list{&reader.path(), key};
  std::size_t index = 0;
  value->ForEachElement([&](const JsonValue& element) {
    if (!reader.good()) return;
    const std::string name = fmt::format("[{}]", index++);
    read(element, JsonPath{&list, name});
  });
}

template <class Function>
void ReadObjects(Reader& reader, std::string_view key, const Function& read) {
  ReadArray(reader, key, [&](const JsonValue& value, const JsonPath& path) {
    Reader element(value, path, reader.problem());
    read(element);
  });
}

void ReadTexts(Reader& reader, std::string_view key,
               std::vector<std::string>& out) {
  ReadArray(reader, key, [&](const JsonValue& value, const JsonPath& path) {
    if (const auto text = value.Text()) {
      out.emplace_back(*text);
    } else {
      reader.problem() = SpellPath(path) + " must be a text";
    }
  });
}

void DecodeFact(Reader& reader, RecordedFact& out) {
  reader.Read("name", out.name);
  const auto value = reader.Required("value");
  if (!value.has_value()) return;
  if (value->Number().has_value() && !value->Integer().has_value()) {
    out.number = value->Number();
  } else {
    ReadOptionValue(reader, "value", out.value);
  }
  reader.ReadReason("reason", out.reason);
}

void DecodeHost(Reader& reader, RecordedHost& out) {
  reader.Read("name", out.name);
  reader.Read("os", out.os);
  reader.Read("stack", out.stack);
  reader.Read("description", out.description);
  reader.Read("address", out.address);
  ReadTexts(reader, "agent", out.agent);
  reader.Read("agent_version", out.agent_version);
  ReadObjects(reader, "facts", [&](Reader& fact) {
    DecodeFact(fact, out.facts.emplace_back());
  });
}

void DecodeLink(Reader& reader, RecordedLink& out) {
  reader.Read("kind", out.kind);
  reader.Read("description", out.description);
  reader.Read("framing", out.framing);
  reader.Read("rate_bits_per_second", out.rate_bits_per_second);
  reader.Read("mtu", out.mtu);
  reader.Read("delay_ns", out.delay_ns);
  reader.Read("loss", out.loss);
  reader.ReadObject("settings", [&](Reader& settings) {
    DecodeTexts(settings, out.settings);
  });
}

void ReadSeed(Reader& reader, std::uint64_t& out) {
  const auto value = reader.Required("seed");
  if (!value.has_value()) return;
  if (const auto seed = value->Unsigned()) {
    out = *seed;
  } else {
    reader.SayMember("seed", "must be an integer, not negative");
  }
}

void ReadPairs(Reader& reader, RunRecord& out) {
  ReadArray(reader, "pairs", [&](const JsonValue& value, const JsonPath& path) {
    std::vector<std::string> names;
    if (value.IsArray()) {
      value.ForEachElement([&](const JsonValue& name) {
        if (const auto text = name.Text()) names.emplace_back(*text);
      });
    }
    if (names.size() != 2) {
      reader.problem() = SpellPath(path) + " must be [sender, receiver]";
      return;
    }
    out.pairs.emplace_back(std::move(names[0]), std::move(names[1]));
  });
}

void DecodeStudy(Reader& reader, RecordedStudy& out) {
  reader.Read("name", out.name);
  reader.Read("file", out.file);
  ReadLongText(reader, "text", out.text);
}

void DecodeRecord(Reader& reader, RunRecord& out) {
  DecodeVersion(reader, out.version);
  reader.Read("wiretoll_version", out.wiretoll_version);
  reader.Read("started", out.started);
  ReadTexts(reader, "command", out.command);
  ReadSeed(reader, out.seed);
  std::int64_t repeats = 0;
  reader.Read("repeats", repeats);
  if (!std::in_range<int>(repeats)) reader.SayMember("repeats", "is absurd");
  out.repeats = static_cast<int>(repeats);
  reader.Read("precision", out.precision);
  ReadLongText(reader, "filter", out.filter);
  reader.ReadReason("synthetic", out.synthetic);
  ReadObjects(reader, "studies", [&](Reader& study) {
    DecodeStudy(study, out.studies.emplace_back());
  });
  ReadObjects(reader, "hosts", [&](Reader& host) {
    DecodeHost(host, out.hosts.emplace_back());
  });
  ReadPairs(reader, out);
  reader.ReadObject("link", [&](Reader& link) { DecodeLink(link, out.link); });
}

// Where the parser stopped. Not in its own words: those repeat what it read
// last, which may be a whole study.
std::string WhereItBreaks(const std::string& text, std::size_t byte) {
  // nlohmann counts from 1, and one past the end where there is too little.
  if (byte > text.size() || byte == 0) {
    return fmt::format(
        "breaks off after {} bytes, line {}: it was not wholly copied or "
        "written",
        text.size(), 1 + std::count(text.begin(), text.end(), '\n'));
  }
  const auto here = text.begin() + static_cast<std::ptrdiff_t>(byte) - 1;
  return fmt::format("is no JSON from line {} on (byte {})",
                     1 + std::count(text.begin(), here, '\n'), byte);
}

Failure BrokenRecord(const std::filesystem::path& file, const std::string& text,
                     std::size_t byte) {
  return {ExitCode::kUsage,
          fmt::format("{}: {}; put back a whole one from where the run was "
                      "made (samples.jsonl beside it is not touched)",
                      file.string(), WhereItBreaks(text, byte))};
}

Failure BadRecord(const std::filesystem::path& file, std::string_view what) {
  return {ExitCode::kUsage,
          fmt::format("{}: {}; is this the folder of a wiretoll run?",
                      file.string(), what)};
}

Outcome<std::string> ReadRecordText(const std::filesystem::path& file) {
  std::error_code error;
  const std::uintmax_t size = std::filesystem::file_size(file, error);
  if (error) return BadRecord(file, error.message());
  if (size > kMaxRecordBytes) return BadRecord(file, "is over 64 MiB");
  std::ifstream in(file, std::ios::binary);
  std::string text(static_cast<std::size_t>(size), '\0');
  if (!in.read(text.data(), static_cast<std::streamsize>(text.size()))) {
    return BadRecord(file, "cannot be read");
  }
  return text;
}

// ---------------------------------------------------------------- files

Failure CannotWrite(const std::filesystem::path& file, int error) {
  const std::string why = error != 0 ? std::generic_category().message(error)
                                     : std::string("cannot be written");
  const bool full = error == ENOSPC;
  return {ExitCode::kNothingRan,
          fmt::format("{}: {}; {} and run again with --resume", file.string(),
                      why, full ? "free some space" : "mend that")};
}

// Hands `text` to the kernel; errno if it did not take all of it.
std::optional<int> AppendText(const std::filesystem::path& file,
                              const std::string& text) {
  errno = 0;
  std::ofstream out(file, std::ios::binary | std::ios::app);
  out.write(text.data(), static_cast<std::streamsize>(text.size()));
  out.close();
  if (out.good()) return std::nullopt;
  return errno;
}

// Length of `file` up to and with its last newline.
Outcome<std::uintmax_t> WholeLinesLength(const std::filesystem::path& file,
                                         std::uintmax_t size) {
  constexpr std::uintmax_t kStep = std::uintmax_t{64} * 1024;
  std::ifstream in(file, std::ios::binary);
  std::string block;
  for (std::uintmax_t end = size; end > 0;) {
    const std::uintmax_t start = end - std::min(end, kStep);
    block.resize(static_cast<std::size_t>(end - start));
    in.seekg(static_cast<std::streamoff>(start));
    if (!in.read(block.data(), static_cast<std::streamsize>(block.size()))) {
      return Failure{ExitCode::kNothingRan, file.string() + ": cannot be read"};
    }
    const std::size_t newline = block.rfind('\n');
    if (newline != std::string::npos) return start + newline + 1;
    end = start;
  }
  return std::uintmax_t{0};
}

Outcome<Done> CutTornLine(const std::filesystem::path& file) {
  std::error_code error;
  if (!std::filesystem::is_regular_file(file, error)) return Done{};
  const std::uintmax_t size = std::filesystem::file_size(file, error);
  if (error) return CannotWrite(file, error.value());
  const Outcome<std::uintmax_t> whole = WholeLinesLength(file, size);
  if (!whole.has_value()) return whole.error();
  if (whole.value() == size) return Done{};
  std::filesystem::resize_file(file, whole.value(), error);
  if (error) return CannotWrite(file, error.value());
  return Done{};
}

// By their place in the file, from 0.
using Places = std::set<std::int64_t>;

Outcome<Places> PlacesOfTornGroups(const std::filesystem::path& folder) {
  struct Group {
    int flows = 0;
    Places places;
  };
  std::map<std::string, Group> groups;
  std::int64_t place = 0;
  const auto read = ForEachSample(folder, [&](Sample&& sample) {
    if (sample.flow) {
      Group& group = groups[sample.flow->group];
      group.flows = sample.flow->flows;
      group.places.insert(place);
    }
    ++place;
  });
  if (!read.has_value()) return read.error();
  Places torn;
  for (auto& [name, group] : groups) {
    if (std::cmp_less(group.places.size(), group.flows)) {
      torn.merge(group.places);
    }
  }
  return torn;
}

// errno if the copy is not whole.
std::optional<int> CopyWithout(const Places& dropped,
                               const std::filesystem::path& file,
                               const std::filesystem::path& copy) {
  errno = 0;
  std::ifstream in(file, std::ios::binary);
  std::ofstream out(copy, std::ios::binary | std::ios::trunc);
  std::string line;
  // A last line without its newline is torn.
  for (std::int64_t place = 0; std::getline(in, line) && !in.eof(); ++place) {
    if (!dropped.contains(place)) out << line << '\n';
  }
  out.close();
  if (out.good() && !in.bad()) return std::nullopt;
  return errno;
}

Outcome<Done> MakeEmptyFolder(const std::filesystem::path& folder) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error) {
    return Failure{ExitCode::kNothingRan,
                   fmt::format("{}: {}; choose another folder with --out",
                               folder.string(), error.message())};
  }
  if (!std::filesystem::is_empty(folder, error) || error) {
    return Failure{ExitCode::kUsage,
                   fmt::format("{}: is not empty; choose another folder with "
                               "--out, or go on with that run with --resume",
                               folder.string())};
  }
  return Done{};
}

}  // namespace

Outcome<Done> CreateRunFolder(const std::filesystem::path& folder,
                              const RunRecord& record) {
  if (const auto made = MakeEmptyFolder(folder); !made.has_value()) {
    return made.error();
  }
  const std::filesystem::path samples = folder / kSamplesName;
  if (const auto error = AppendText(samples, "")) {
    return CannotWrite(samples, *error);
  }
  // By renaming, so that a run.json that is there is a whole one.
  const std::filesystem::path file = folder / kRecordName;
  const std::filesystem::path draft = folder / "run.json.new";
  const std::string text =
      EncodeRecord(record).dump(2, ' ', false, Json::error_handler_t::replace);
  if (const auto error = AppendText(draft, text + "\n")) {
    return CannotWrite(file, *error);
  }
  std::error_code error;
  std::filesystem::rename(draft, file, error);
  if (error) return CannotWrite(file, error.value());
  return Done{};
}

Outcome<RunRecord> ReadRunRecord(const std::filesystem::path& folder) {
  const std::filesystem::path file = folder / kRecordName;
  const Outcome<std::string> text = ReadRecordText(file);
  if (!text.has_value()) return text.error();
  nlohmann::json json;
  try {
    json = nlohmann::json::parse(text.value());
  } catch (const nlohmann::json::parse_error& error) {
    return BrokenRecord(file, text.value(), error.byte);
  }
  RunRecord record;
  std::string problem;
  const JsonPath root;
  Reader reader(JsonValue(json), root, problem);
  DecodeRecord(reader, record);
  if (!problem.empty()) return BadRecord(file, problem);
  return record;
}

Outcome<std::int64_t> DropTornGroups(const std::filesystem::path& folder) {
  const auto torn = PlacesOfTornGroups(folder);
  if (!torn.has_value()) return torn.error();
  if (torn.value().empty()) return std::int64_t{0};
  const std::filesystem::path file = folder / kSamplesName;
  const std::filesystem::path copy = folder / "samples.jsonl.new";
  if (const auto error = CopyWithout(torn.value(), file, copy)) {
    return CannotWrite(copy, *error);
  }
  std::error_code error;
  std::filesystem::rename(copy, file, error);
  if (error) return CannotWrite(file, error.value());
  return static_cast<std::int64_t>(torn.value().size());
}

const RecordedHost* FindHost(const RunRecord& record, const std::string& name) {
  const auto found =
      std::find_if(record.hosts.begin(), record.hosts.end(),
                   [&](const RecordedHost& host) { return host.name == name; });
  return found == record.hosts.end() ? nullptr : &*found;
}

Outcome<SampleWriter> SampleWriter::Open(const std::filesystem::path& folder) {
  std::filesystem::path file = folder / kSamplesName;
  const Outcome<Done> cut = CutTornLine(file);
  if (!cut.has_value()) return cut.error();
  if (const auto error = AppendText(file, "")) return CannotWrite(file, *error);
  return SampleWriter(std::move(file));
}

Outcome<Done> SampleWriter::Append(const Sample& sample) {
  return Append(std::vector<Sample>{sample});
}

Outcome<Done> SampleWriter::Append(const std::vector<Sample>& group) {
  std::string lines;
  for (const Sample& sample : group) lines += ToLine(sample) + "\n";
  std::error_code unknown;
  const std::uintmax_t size = std::filesystem::file_size(file_, unknown);
  const auto error = AppendText(file_, lines);
  if (!error.has_value()) return Done{};
  // If this fails too, the reader still takes the rest for a torn line, and
  // Open() cuts it off.
  if (!unknown) std::filesystem::resize_file(file_, size, unknown);
  return CannotWrite(file_, *error);
}

}  // namespace wiretoll
