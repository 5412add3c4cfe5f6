#include <fmt/format.h>
#include <simdjson.h>

#include <bitset>
#include <cstring>
#include <fstream>
#include <limits>
#include <memory>
#include <optional>

#include "harness/samples/decode.h"
#include "harness/samples/run_folder.h"

namespace wiretoll {
namespace {

namespace dom = simdjson::dom;

constexpr std::size_t kMaxLineBytes = std::size_t{4} << 20;
constexpr std::size_t kChunkBytes = std::size_t{1} << 20;

// Tells of most names that an object has no such member, without a search.
class NameFilter {
 public:
  void Add(std::string_view name) { bits_.set(Place(name)); }
  [[nodiscard]] bool MayHave(std::string_view name) const {
    return bits_.test(Place(name));
  }

 private:
  static constexpr std::size_t kBits = 256;

  static std::size_t Place(std::string_view name) {
    if (name.empty()) return 0;
    const auto byte = [&name](std::size_t at) {
      return static_cast<std::size_t>(static_cast<unsigned char>(name[at]));
    };
    // Primes: names differ in length, at their ends and in their middles.
    return (name.size() * 67 + byte(0) * 31 + byte(name.size() / 2) * 13 +
            byte(name.size() - 1) * 7) %
           kBits;
  }

  std::bitset<kBits> bits_;
};

// simdjson's values as ObjectReader wants them. Its objects are lists, so
// Find() goes on from the last member found: fields read in the order in
// which they were written cost one comparison each. Those that are not there
// cost one search of the whole for all of them.
class DomValue {
 public:
  DomValue() = default;
  explicit DomValue(dom::element element) : element_(element), exists_(true) {
    if (element_.get(object_) == simdjson::SUCCESS) next_ = object_.begin();
  }

  [[nodiscard]] bool exists() const { return exists_; }
  [[nodiscard]] bool IsNull() const { return element_.is_null(); }
  [[nodiscard]] bool IsObject() const { return element_.is_object(); }
  [[nodiscard]] std::optional<std::int64_t> Integer() const {
    // Of its types, UINT64 is used beyond the range of int64 only, and its
    // conversion of doubles is not asked for.
    if (!element_.is_int64()) return std::nullopt;
    return Get<std::int64_t>();
  }
  [[nodiscard]] std::optional<double> Number() const { return Get<double>(); }
  [[nodiscard]] std::optional<bool> Boolean() const { return Get<bool>(); }
  [[nodiscard]] std::optional<std::string_view> Text() const {
    return Get<std::string_view>();
  }

  [[nodiscard]] DomValue Find(std::string_view key) {
    if (names_.has_value() && !names_->MayHave(key)) return {};
    const auto start = next_;
    for (auto member = start; member != object_.end(); ++member) {
      if (member.key() == key) return Found(member);
    }
    for (auto member = object_.begin(); member != start; ++member) {
      if (member.key() == key) return Found(member);
    }
    if (!names_.has_value()) NoteNames();
    return {};
  }

  template <class Function>
  void ForEachMember(const Function& each) const {
    for (const dom::key_value_pair member : object_) {
      each(member.key, DomValue(member.value));
    }
  }

 private:
  template <class T>
  [[nodiscard]] std::optional<T> Get() const {
    T value{};
    if (element_.get(value) != simdjson::SUCCESS) return std::nullopt;
    return value;
  }
  // Stays on the member found: whether there is a value is often asked just
  // before the value is.
  DomValue Found(const dom::object::iterator& member) {
    next_ = member;
    return DomValue(member.value());
  }
  void NoteNames() {
    names_.emplace();
    for (auto member = object_.begin(); member != object_.end(); ++member) {
      names_->Add(member.key());
    }
  }

  dom::element element_;
  dom::object object_;
  dom::object::iterator next_;
  std::optional<NameFilter> names_;  // Once a member was looked for in vain.
  bool exists_ = false;
};

enum class Line { kWhole, kTorn, kTooLong, kEnd, kUnreadable };

// Lines of a file, through one buffer that grows to the longest line's size
// and leaves the room after a line that simdjson reads into.
class LineReader {
 public:
  explicit LineReader(const std::filesystem::path& file)
      : in_(file, std::ios::binary), buffer_(kChunkBytes) {}

  [[nodiscard]] bool opened() const { return in_.is_open(); }

  // The line, without its newline, stays valid until the next call.
  Line Next(std::string_view& line) {
    std::size_t searched = 0;
    while (true) {
      const char* start = buffer_.data() + begin_;
      const std::size_t held = end_ - begin_;
      const void* newline =
          std::memchr(start + searched, '\n', held - searched);
      if (newline != nullptr) {
        const auto length =
            static_cast<std::size_t>(static_cast<const char*>(newline) - start);
        line = {start, length};
        begin_ += length + 1;
        return length > kMaxLineBytes ? Line::kTooLong : Line::kWhole;
      }
      if (held > kMaxLineBytes) return Line::kTooLong;
      searched = held;
      if (!Fill()) return AtEnd();
    }
  }

 private:
  Line AtEnd() const {
    if (in_.bad()) return Line::kUnreadable;
    return begin_ == end_ ? Line::kEnd : Line::kTorn;
  }

  // Reads on; what is held moves to the front. False at the end of the file.
  bool Fill() {
    const std::size_t held = end_ - begin_;
    std::memmove(buffer_.data(), buffer_.data() + begin_, held);
    begin_ = 0;
    end_ = held;
    if (buffer_.size() - held < kChunkBytes / 2) {
      buffer_.resize(buffer_.size() * 2);
    }
    const std::size_t room = buffer_.size() - held - simdjson::SIMDJSON_PADDING;
    in_.read(buffer_.data() + held, static_cast<std::streamsize>(room));
    end_ += static_cast<std::size_t>(in_.gcount());
    return in_.gcount() > 0;
  }

  std::ifstream in_;
  std::vector<char> buffer_;
  std::size_t begin_ = 0;
  std::size_t end_ = 0;
};

std::string Complaint(Line kind) {
  if (kind == Line::kTooLong) return "a line of over 4 MiB is no sample";
  return "cannot be read; is the disk in order?";
}

Failure BadLine(const std::filesystem::path& file, std::int64_t line,
                std::string_view what) {
  return {ExitCode::kUsage,
          fmt::format("{}:{}: {}; restore the file, or take the line out",
                      file.string(), line, what)};
}

// Hands each whole line to `take`, which says what is wrong with it or
// nothing.
template <class Function>
Outcome<ReadSummary> ForEachLine(const std::filesystem::path& folder,
                                 const Function& take) {
  const std::filesystem::path file = folder / "samples.jsonl";
  LineReader lines(file);
  if (!lines.opened()) {
    return Failure{ExitCode::kUsage,
                   fmt::format("{}: cannot be opened; is {} the folder of a "
                               "wiretoll run?",
                               file.string(), folder.string())};
  }
  ReadSummary summary;
  std::string_view line;
  for (std::int64_t number = 1;; ++number) {
    const Line kind = lines.Next(line);
    if (kind == Line::kEnd) return summary;
    if (kind == Line::kTorn) {
      summary.torn_last_line = true;
      return summary;
    }
    if (kind != Line::kWhole) return BadLine(file, number, Complaint(kind));
    const std::string problem = take(line);
    if (!problem.empty()) return BadLine(file, number, problem);
    ++summary.samples;
  }
}

// One line parsed; `read` gets its ObjectReader. Says what is wrong.
template <class Function>
std::string ParseLine(dom::parser& parser, std::string_view line,
                      const Function& read) {
  dom::element element;
  // The buffer has room beyond the line, so that nothing is copied first.
  constexpr bool kCopy = false;
  const auto error = parser.parse(line.data(), line.size(), kCopy).get(element);
  if (error != simdjson::SUCCESS) {
    return fmt::format("no JSON ({})", simdjson::error_message(error));
  }
  std::string problem;
  const JsonPath root;
  ObjectReader<DomValue> reader(DomValue(element), root, problem);
  read(reader);
  return problem;
}

}  // namespace

Outcome<ReadSummary> ForEachSample(const std::filesystem::path& folder,
                                   const std::function<void(Sample&&)>& each) {
  dom::parser parser(2 * kMaxLineBytes);
  return ForEachLine(folder, [&](std::string_view line) {
    Sample sample;
    std::string problem = ParseLine(
        parser, line,
        [&](ObjectReader<DomValue>& reader) { DecodeSample(reader, sample); });
    if (problem.empty()) each(std::move(sample));
    return problem;
  });
}

Outcome<ReadSummary> ForEachTrial(
    const std::filesystem::path& folder,
    const std::function<void(std::string_view trial, TrialOutcome outcome)>&
        each) {
  dom::parser parser(2 * kMaxLineBytes);
  return ForEachLine(folder, [&](std::string_view line) {
    std::string trial;
    TrialOutcome outcome = TrialOutcome::kFailed;
    std::string problem =
        ParseLine(parser, line, [&](ObjectReader<DomValue>& reader) {
          DecodeVersion(reader, kSampleVersion);
          reader.Read("trial", trial);
          DecodeOutcome(reader, outcome);
        });
    if (problem.empty()) each(trial, outcome);
    return problem;
  });
}

}  // namespace wiretoll
