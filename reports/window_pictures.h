// The pictures of windows: throughput against them, and how they went on.
#ifndef WIRETOLL_REPORTS_WINDOW_PICTURES_H_
#define WIRETOLL_REPORTS_WINDOW_PICTURES_H_

#include <vector>

#include "reports/document.h"
#include "reports/selection.h"

namespace wiretoll {

// Throughput against the window with what theory allows, and before and after.
// Requires IsWindowStudy(view).
std::vector<Picture> WindowPictures(const StudyView& view);

// Windows, flight and congestion windows of single trials over time; nothing
// where no trial has a time series.
std::vector<Picture> CoursePictures(const StudyView& view);

// Congestion controls are told apart, and nothing is by the size of a write.
bool IsControlStudy(const StudyView& view);
// Their speeds, and how their windows went on. Requires IsControlStudy(view).
std::vector<Picture> ControlPictures(const StudyView& view);

}  // namespace wiretoll

#endif  // WIRETOLL_REPORTS_WINDOW_PICTURES_H_
