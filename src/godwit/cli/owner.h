// Whose an experiment is: one person's at a time, however many may read it.
#pragma once

#include <string>

#include "godwit/journal/view.h"

namespace godwit::cli {

// Throws InputError where the experiment is somebody else's than this process's user.
void require_owner(const journal::View& view);

// Where the folder's group may write and what is made there is the group's (mode g+ws), so may it write what this
// process and its jobs make from now on.
void share_with_group(const std::string& folder);

}  // namespace godwit::cli
