// Writes pages of made-up trials, for a look at how a story is shown:
//   make_story_pages FOLDER
#include <cstdio>
#include <filesystem>

#include "reports/story_report.h"
#include "tests/analysis/synthetic_run.h"
#include "tests/reports/made_story.h"

namespace {

bool WritePage(const wiretoll::Story& story,
               const std::filesystem::path& folder) {
  wiretoll::StoryRun run;
  run.record = wiretoll::SyntheticRecord({});
  run.folder = "made-up";
  const auto written = wiretoll::WriteStory(story, run, folder);
  if (!written.has_value()) {
    std::fprintf(stderr, "%s\n", written.error().message.c_str());
    return false;
  }
  for (const auto& file : written.value().files) {
    std::printf("%s\n", file.string().c_str());
  }
  return true;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: make_story_pages FOLDER\n");
    return 2;
  }
  const std::filesystem::path folder(argv[1]);
  const bool done =
      WritePage(wiretoll::WriteWriteReadStory(200), folder / "wwr") &&
      WritePage(wiretoll::BulkStory(100'000), folder / "bulk") &&
      WritePage(wiretoll::SmallWindowStory(20), folder / "window");
  return done ? 0 : 1;
}
