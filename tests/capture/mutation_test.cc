// The corpus, and what comes of it when bytes change, go and come: the same
// for everybody, in each build. Longer: fuzz_capture.cc.
#include <gmock/gmock.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <vector>

#include "tests/capture/read_everything.h"

namespace wiretoll {
namespace {

namespace fs = std::filesystem;

struct CorpusFile {
  std::string name, bytes;
};

std::vector<CorpusFile> Corpus() {
  std::vector<CorpusFile> files;
  for (const auto& entry : fs::directory_iterator(CORPUS_FOLDER)) {
    std::ifstream in(entry.path(), std::ios::binary);
    files.push_back({entry.path().filename().string(),
                     {std::istreambuf_iterator<char>(in), {}}});
  }
  std::sort(
      files.begin(), files.end(),
      [](const CorpusFile& a, const CorpusFile& b) { return a.name < b.name; });
  return files;
}

// Draws below `end`, which is 1 or more. Distributions of the standard library
// differ from one to the other.
std::size_t Below(std::size_t end, std::mt19937& random) {
  return random() % end;
}

constexpr std::array<const char*, 6> kNastyWords = {
    "\xff\xff\xff\xff", "\x7f\xff\xff\xff", "\xff\xff\xff\x7f",
    "\x80\x01\x01\x80", "\x01\x01\x01\x01", "\x02\x02\x05\x06"};

void ChangeOnce(std::string& bytes, std::mt19937& random) {
  if (bytes.empty()) return;
  const std::size_t at = Below(bytes.size(), random);
  switch (Below(6, random)) {
    case 0:
      bytes[at] = static_cast<char>(random());
      break;
    case 1:
      bytes[at] = static_cast<char>(bytes[at] ^ (1 << Below(8, random)));
      break;
    case 2:
      bytes.resize(at);
      break;
    case 3:
      bytes.erase(at, 1 + Below(16, random));
      break;
    case 4:
      bytes.replace(at, 4, kNastyWords[Below(kNastyWords.size(), random)]);
      break;
    default:
      bytes.insert(at, bytes.substr(Below(bytes.size(), random), 64));
      break;
  }
}

TEST(Corpus, IsReadWholeWhereItIsACapture) {
  const std::vector<CorpusFile> files = Corpus();
  ASSERT_GE(files.size(), 12U) << CORPUS_FOLDER;
  int captures = 0;
  for (const CorpusFile& file : files) {
    SCOPED_TRACE(file.name);
    const long long frames = ReadEverything(file.bytes);
    const bool none = file.name.starts_with("no-");
    EXPECT_EQ(frames < 0, none);
    captures += frames > 0 ? 1 : 0;
  }
  EXPECT_GE(captures, 8);
}

TEST(Corpus, TornAtEveryByteBreaksNothing) {
  for (const CorpusFile& file : Corpus()) {
    const std::size_t step = std::max<std::size_t>(1, file.bytes.size() / 500);
    for (std::size_t length = 0; length < file.bytes.size(); length += step)
      ReadEverything(file.bytes.substr(0, length));
  }
}

TEST(Corpus, ChangedAtRandomBreaksNothing) {
  std::mt19937 random(20261130);
  const std::vector<CorpusFile> files = Corpus();
  ASSERT_FALSE(files.empty());
  int captures = 0;
  for (int round = 0; round < 5000; ++round) {
    std::string bytes = files[Below(files.size(), random)].bytes;
    const std::size_t changes = 1 + Below(8, random);
    for (std::size_t i = 0; i < changes; ++i) ChangeOnce(bytes, random);
    captures += ReadEverything(bytes) >= 0 ? 1 : 0;
  }
  // Or nothing but the magic number was tested.
  EXPECT_GT(captures, 2500);
}

}  // namespace
}  // namespace wiretoll
