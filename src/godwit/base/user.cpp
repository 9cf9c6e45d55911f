#include "godwit/base/user.h"

#include <pwd.h>
#include <unistd.h>

namespace godwit {

std::string user_name() {
  const passwd* user = ::getpwuid(::geteuid());
  return user != nullptr ? user->pw_name : std::to_string(::geteuid());
}

}  // namespace godwit
