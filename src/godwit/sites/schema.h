// The keys of sites.yaml.
#pragma once

#include <string>
#include <vector>

#include "godwit/base/schema.h"

namespace godwit::sites {

const schema::Keys& site_keys();
// What `executor` may be, whether or not this version runs it.
const std::vector<std::string>& executor_names();

// The JSON Schema of a mapping (or list) of sites, and of sites.yaml as a whole.
Json sites_schema();
Json file_schema();

}  // namespace godwit::sites
