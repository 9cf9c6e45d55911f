// A submit description as HTCondor itself takes it.
#pragma once

#include <string>
#include <string_view>

#include "godwit/submit/description.h"

namespace godwit::dag {

// The description's text without its queue statement, and with what only Godwit reads said in HTCondor's words:
// `$(godwit_attempt)` is DAGMan's $(RETRY), and `$(godwit_directory_url)` is `directory` as a URL has it;
// what `+GodwitSecrets` names comes by `getenv` from the environment of whoever submits the Dag; amounts and times that
// HTCondor cannot read ("2GiB", "90m") are plain numbers; preserve_relative_paths is True or False. Values with macros
// stay: they are known only when a job is made.
std::string portable_text(const submit::Description& description, std::string_view directory);

}  // namespace godwit::dag
