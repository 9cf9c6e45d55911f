// Tables of the keys that the mappings in Godwit's files may have. One table serves the reader, which refuses every
// other key, and the JSON Schema that editors check files with.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "godwit/base/json.h"
#include "godwit/base/yaml.h"

namespace godwit::schema {

struct Key {
  std::string_view name;
  std::string_view about;  // one sentence, for the schema's description
  Json type;               // the schema of its value
};
using Keys = std::vector<Key>;

// Schemas of values. Scalars in YAML need no quotes, so text may look like a number.
Json text();
Json texts();  // one text or a list of texts
Json integer(std::int64_t least);
Json number();
Json boolean();
Json memory();    // "128GB", 131072 (MB)
Json duration();  // "48h", 3600 (seconds)
Json one_of(const std::vector<std::string>& words);
Json list_of(Json item);
Json mapping_of(Json value);  // from the user's own names
Json any_of(std::vector<Json> alternatives);
// A mapping with these keys, `required` among them. `own_keys`: keys that begin with x- are the user's own.
Json mapping(const Keys& keys, const std::vector<std::string>& required = {}, bool own_keys = false);
// A whole file.
Json document(const Json& root, std::string_view title);

// Tells `fields` which keys there are: to be called before finish().
void declare(const Keys& keys, yaml::Fields& fields);

}  // namespace godwit::schema
