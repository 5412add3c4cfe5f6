// No two headers declare a type of one name: linked into one program they would
// be one type to the linker, and either one's members the other's.
#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <regex>
#include <set>
#include <string>
#include <vector>

namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::IsEmpty;

// Types of namespace wiretoll that a header's text defines.
std::set<std::string> TypesIn(const std::string& text) {
  static const std::regex definition(
      R"(^(?:struct|class|enum class) (\w+)(?: final)?(?: ?: ?[^;{]*)? \{)");
  std::set<std::string> types;
  if (text.find("\nnamespace wiretoll {") == std::string::npos) return types;
  std::size_t begin = 0;
  while (begin < text.size()) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    const std::string line = text.substr(begin, end - begin);
    std::smatch found;
    if (std::regex_search(line, found, definition)) types.insert(found[1]);
    begin = end + 1;
  }
  return types;
}

std::string TextOf(const fs::path& file) {
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

// Headers of what may be linked together. platform/posix, win32 and lwip stand
// in for each other; bench and tests are programs of their own.
std::vector<fs::path> Headers() {
  const fs::path root = SOURCE_FOLDER;
  std::vector<fs::path> headers;
  for (const char* folder : {"harness", "reports"}) {
    for (const auto& entry : fs::recursive_directory_iterator(root / folder)) {
      if (entry.path().extension() == ".h") headers.push_back(entry.path());
    }
  }
  for (const auto& entry : fs::directory_iterator(root / "platform")) {
    if (entry.path().extension() == ".h") headers.push_back(entry.path());
  }
  return headers;
}

TEST(UniqueNamesTest, EveryTypeHasOneHeader) {
  std::map<std::string, std::vector<std::string>> headers;
  for (const fs::path& header : Headers()) {
    for (const std::string& type : TypesIn(TextOf(header)))
      headers[type].push_back(header.string());
  }
  EXPECT_GT(headers.size(), 200U) << "the headers were not found";
  for (const auto& [type, in] : headers) {
    EXPECT_EQ(in.size(), 1U)
        << type << " is defined in " << testing::PrintToString(in);
  }
}

TEST(UniqueNamesTest, DefinitionsAreFoundAndDeclarationsAreNot) {
  EXPECT_THAT(TypesIn("\nnamespace wiretoll {\n"
                      "struct A {\n"
                      "class B final : public A {\n"
                      "enum class C : std::uint8_t { kOne };\n"
                      "struct D;\n"
                      "  struct Inner {\n"),
              ElementsAre("A", "B", "C"));
  EXPECT_THAT(TypesIn("\nnamespace wiretoll::sim {\nstruct A {\n"), IsEmpty());
}

}  // namespace
