#include "godwit/base/schema.h"

namespace godwit::schema {

Json text() {
  return {{"type", {"string", "number", "boolean"}}};
}

Json texts() {
  return any_of({text(), list_of(text())});
}

Json integer(std::int64_t least) {
  return {{"type", "integer"}, {"minimum", least}};
}

Json number() {
  return {{"type", "number"}};
}

Json boolean() {
  return {{"type", "boolean"}};
}

Json memory() {
  Json with_unit = {{"type", "string"}, {"pattern", "^[0-9.]+ *([kKmMgGtTpP]([iI]?[bB])?|[bB])?$"}};
  return any_of({Json{{"type", "number"}, {"minimum", 0}}, std::move(with_unit)});
}

Json duration() {
  Json with_unit = {{"type", "string"}, {"pattern", "^([0-9.]+ *[a-zA-Z]* *)+$"}};
  return any_of({Json{{"type", "number"}, {"minimum", 0}}, std::move(with_unit)});
}

Json one_of(const std::vector<std::string>& words) {
  return {{"enum", words}};
}

Json list_of(Json item) {
  return {{"type", "array"}, {"items", std::move(item)}};
}

Json mapping_of(Json value) {
  return {{"type", "object"}, {"additionalProperties", std::move(value)}};
}

Json any_of(std::vector<Json> alternatives) {
  return {{"anyOf", std::move(alternatives)}};
}

Json mapping(const Keys& keys, const std::vector<std::string>& required, bool own_keys) {
  Json properties = Json::object();
  for (const Key& key : keys) {
    Json type = key.type;
    type["description"] = key.about;
    properties[std::string(key.name)] = std::move(type);
  }
  Json out = {{"type", "object"}, {"properties", std::move(properties)}, {"additionalProperties", false}};
  if (!required.empty()) out["required"] = required;
  if (own_keys) out["patternProperties"] = {{"^x-", Json::object()}};
  return out;
}

Json document(const Json& root, std::string_view title) {
  Json out = {{"$schema", "https://json-schema.org/draft/2020-12/schema"}, {"title", title}};
  out.update(root);
  return out;
}

void declare(const Keys& keys, yaml::Fields& fields) {
  for (const Key& key : keys) fields.get(key.name);
}

}  // namespace godwit::schema
