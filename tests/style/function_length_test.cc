// No function is over 60 lines. Relies on the formatting that clang-format
// keeps: a function ends with a brace as far to the right as it begins, at
// column 0, or at 2 in a class.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <istream>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

namespace wiretoll {
namespace {

namespace fs = std::filesystem;

constexpr int kLongest = 60;

struct LongFunction {
  int line = 0;  // Of its first line; from 1.
  int lines = 0;
};

std::size_t IndentOf(const std::string& line) {
  return std::min(line.find_first_not_of(' '), line.size());
}

// `head` is a declaration from its first line to one that ends with a brace.
bool IsFunction(const std::string& head) {
  const std::string words = head.substr(IndentOf(head));
  for (const char* word : {"namespace", "struct", "class", "enum", "union"}) {
    if (words.starts_with(word)) return false;
  }
  return words.find('(') != std::string::npos && words.ends_with(" {") &&
         !words.ends_with("= {");
}

// Takes a file line by line.
class FunctionFinder {
 public:
  // The function that ends with this line, if one does.
  std::optional<LongFunction> Take(const std::string& line) {
    ++number_;
    if (inside_) return End(line);
    const std::size_t indent = IndentOf(line);
    // Members of a class are two to the right.
    if (indent == 0 || indent == 2) {
      head_.clear();
      first_line_ = number_;
      heading_ = true;
    }
    if (heading_) head_ += line;
    if (heading_ && line.ends_with('{')) {
      inside_ = IsFunction(head_);
      heading_ = false;  // What a table holds is no declaration.
    }
    return std::nullopt;
  }

 private:
  std::optional<LongFunction> End(const std::string& line) {
    const std::size_t indent = IndentOf(line);
    const bool ends =
        indent == IndentOf(head_) && line.substr(indent).starts_with('}');
    if (!ends) return std::nullopt;
    inside_ = false;
    return LongFunction{first_line_, number_ - first_line_ + 1};
  }

  std::string head_;    // Of a declaration that is not at its brace yet.
  int first_line_ = 0;  // Where `head_` begins.
  int number_ = 0;
  bool heading_ = false;
  bool inside_ = false;
};

std::vector<LongFunction> FunctionsOver(int limit, std::istream& in) {
  std::vector<LongFunction> found;
  FunctionFinder finder;
  for (std::string line; std::getline(in, line);) {
    const std::optional<LongFunction> function = finder.Take(line);
    if (function && function->lines > limit) found.push_back(*function);
  }
  return found;
}

std::string FunctionOf(int lines) {
  std::string text = "void Long(int a) {\n";
  for (int i = 0; i < lines - 2; ++i) text += "  ++a;\n";
  return text + "}\n";
}

TEST(FunctionLengthTest, NoneIsOver60Lines) {
  int files = 0;
  for (const char* folder : {"harness", "platform", "reports", "bench"}) {
    for (const auto& entry :
         fs::recursive_directory_iterator(fs::path(SOURCE_FOLDER) / folder)) {
      if (entry.path().extension() != ".cc") continue;
      ++files;
      std::ifstream in(entry.path());
      for (const LongFunction& function : FunctionsOver(kLongest, in)) {
        ADD_FAILURE() << entry.path().string() << ":" << function.line << ": "
                      << function.lines << " lines; say it in parts";
      }
    }
  }
  EXPECT_GT(files, 30) << "are the sources in " << SOURCE_FOLDER << "?";
}

TEST(FunctionLengthTest, AFunctionOf61LinesIsFound) {
  std::istringstream in("namespace x {\n" + FunctionOf(60) + FunctionOf(61) +
                        "}  // namespace x\n");
  const auto found = FunctionsOver(kLongest, in);
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].line, 62);  // After the namespace and 60 lines.
  EXPECT_EQ(found[0].lines, 61);
}

TEST(FunctionLengthTest, ALongMemberWithAListOfParametersIsFound) {
  std::string text = "class X {\n public:\n  X(int a,\n    int b)\n";
  text += "      : a_(a) {\n";
  for (int i = 0; i < 57; ++i) text += "    if (a) {\n    }\n";
  std::istringstream in(text + "  }\n};\n");
  const auto found = FunctionsOver(kLongest, in);
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].line, 3);
  EXPECT_EQ(found[0].lines, 3 + 2 * 57 + 1);
}

TEST(FunctionLengthTest, ALongTableIsNoFunction) {
  std::string text = "constexpr std::array kTable{\n    Row{\n";
  for (int i = 0; i < 50; ++i) text += "        [](int a) {\n        },\n";
  std::istringstream in(text + "};\n");
  EXPECT_TRUE(FunctionsOver(kLongest, in).empty());
}

}  // namespace
}  // namespace wiretoll
