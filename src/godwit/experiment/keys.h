// The keys of experiment.yaml, one table per mapping: the reader refuses every other key, `godwit schema` prints them.
#pragma once

#include "godwit/base/schema.h"

namespace godwit::experiment {

const schema::Keys& experiment_keys();
const schema::Keys& variable_keys();  // of all types together (sweep/variable.h)
const schema::Keys& placement_keys();
const schema::Keys& evaluation_keys();
const schema::Keys& scripts_keys();
const schema::Keys& service_keys();
const schema::Keys& retry_keys();
const schema::Keys& checkpoint_keys();
const schema::Keys& compare_keys();
const schema::Keys& metrics_keys();

// The words that `format` of metrics takes.
const std::vector<std::string>& metrics_formats();
const schema::Keys& rehearsal_keys();
const schema::Keys& keep_keys();
const schema::Keys& early_stop_keys();
const schema::Keys& asha_keys();

// The words that `priority` takes beside a number.
const std::vector<std::string>& priority_words();

// The JSON Schema of experiment.yaml.
Json file_schema();

}  // namespace godwit::experiment
