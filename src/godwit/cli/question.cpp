#include "godwit/cli/question.h"

#include <fmt/format.h>
#include <unistd.h>

#include <iostream>
#include <string>

namespace godwit::cli {

bool can_ask() {
  return isatty(STDIN_FILENO) == 1 && isatty(STDERR_FILENO) == 1;
}

bool ask(std::string_view question) {
  fmt::print(stderr, "{} [y/N] ", question);
  std::fflush(stderr);
  std::string answer;
  std::getline(std::cin, answer);
  return answer.starts_with('y') || answer.starts_with('Y');
}

}  // namespace godwit::cli
