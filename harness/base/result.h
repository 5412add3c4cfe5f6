// Errors are values. Bare error codes at the seam, a sentence for people above.
#ifndef WIRETOLL_HARNESS_BASE_RESULT_H_
#define WIRETOLL_HARNESS_BASE_RESULT_H_

#include <boost/system/error_code.hpp>
#include <optional>
#include <string>
#include <utility>
#include <variant>

namespace wiretoll {

// What the operating system answered; compare with boost::system::errc.
using Error = boost::system::error_code;

// The exit codes of both programs; fixed by docs/design.md.
enum class ExitCode {
  kDone = 0,
  kSomeTrialsFailed = 1,
  kUsage = 2,       // Usage, or a bad file; the message names it.
  kNothingRan = 3,  // Nothing could run.
};

// Why something could not be done, in words for the person at the keyboard:
// names the file, line, key, host or option, and the remedy.
struct Failure {
  ExitCode code = ExitCode::kNothingRan;
  std::string message;
};

// Stands for "it worked" where there is nothing to return.
struct Done {};

// A value, or why there is none. `E` differs from `T`.
template <class T, class E = Error>
class [[nodiscard]] Result {
 public:
  // NOLINTNEXTLINE(google-explicit-constructor): return value; reads best.
  Result(T value) : state_(std::in_place_index<0>, std::move(value)) {}
  // NOLINTNEXTLINE(google-explicit-constructor): likewise.
  Result(E error) : state_(std::in_place_index<1>, std::move(error)) {}

  [[nodiscard]] bool has_value() const noexcept { return state_.index() == 0; }

  // Throws std::bad_variant_access if there is none.
  [[nodiscard]] const T& value() const& { return std::get<0>(state_); }
  [[nodiscard]] T& value() & { return std::get<0>(state_); }
  [[nodiscard]] T&& value() && { return std::get<0>(std::move(state_)); }

  // A default E (success, for an error code) if there is a value.
  [[nodiscard]] E error() const {
    return has_value() ? E{} : *std::get_if<1>(&state_);
  }

 private:
  std::variant<T, E> state_;
};

// What the harness returns above the seam.
template <class T>
using Outcome = Result<T, Failure>;

// A figure, or why it could not be observed. Never 0 for "don't know".
template <class T>
struct Observed {
  std::optional<T> value;
  std::string reason;  // Set exactly where `value` is not.

  static Observed Of(T seen) { return {std::move(seen), {}}; }
  static Observed Not(std::string why) {
    return {std::nullopt, std::move(why)};
  }
};

}  // namespace wiretoll

#endif  // WIRETOLL_HARNESS_BASE_RESULT_H_
