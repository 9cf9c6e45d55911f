// What is a person's own at a site: the account that pays and the name there.
#pragma once

#include <string>

#include "godwit/base/error.h"
#include "godwit/sites/site.h"

namespace godwit::sites {

// $XDG_CONFIG_HOME/godwit/sites.yaml, or ~/.config/godwit/sites.yaml; "" where neither variable says.
std::string personal_file();

// Replaces `allocation` and `login_name` of the sites that the file names, where there is such a file. Sites that the
// catalogue does not have are passed over: the file is for all of a person's experiments. Faults go to `diagnostics`.
void apply_personal(const std::string& file, Catalogue& catalogue, Diagnostics& diagnostics);

}  // namespace godwit::sites
