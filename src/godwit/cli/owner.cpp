#include "godwit/cli/owner.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include "godwit/base/error.h"
#include "godwit/base/user.h"

namespace godwit::cli {

void require_owner(const journal::View& view) {
  const journal::EngineRecord& engine = view.engine();
  if (engine.user.empty() || engine.user == user_name()) return;
  throw InputError(fmt::format("this experiment is {}'s, and you are {}", engine.user, user_name()),
                   "'godwit take-over' makes it yours; to look at it takes no more than leave to read");
}

void share_with_group(const std::string& folder) {
  struct stat about{};
  if (::stat(folder.c_str(), &about) != 0 || (about.st_mode & S_IWGRP) == 0 || (about.st_mode & S_ISGID) == 0) return;
  const mode_t before = ::umask(0);
  ::umask(before & ~static_cast<mode_t>(S_IWGRP));
}

}  // namespace godwit::cli
