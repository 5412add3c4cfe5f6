// How one trial's windows went on, thinned to what a picture can show.
#ifndef WIRETOLL_HARNESS_ANALYSIS_COURSE_H_
#define WIRETOLL_HARNESS_ANALYSIS_COURSE_H_

#include <cstddef>
#include <filesystem>
#include <vector>

#include "harness/analysis/analysis.h"
#include "harness/samples/series.h"

namespace wiretoll {

// Of a figure over time: in `most` stretches of equal time each, its least and
// its largest where they stand, and both ends; all of it where that is no more.
// So a window that falls for a moment only is not lost.
std::vector<CourseStep> Thinned(const std::vector<CourseStep>& all,
                                std::size_t most);

// From the sender's moments; `trial` stays empty.
Course CourseOf(const TimeSeries& series);

// Reads the series of cells that have one (`course->trial`, `course->file` are
// there already), each relative to the folder of its run, and adds to `notes`
// what could not be read; such a cell has no course then.
void ReadCourses(const std::vector<std::filesystem::path>& folders,
                 std::vector<Cell>& cells, std::vector<std::string>& notes);

}  // namespace wiretoll

#endif  // WIRETOLL_HARNESS_ANALYSIS_COURSE_H_
