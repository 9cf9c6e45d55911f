// A submit description as HTCondor itself takes it.
#pragma once

#include <string>

#include "godwit/submit/description.h"

namespace godwit::dag {

// The description's text without its queue statement, and with what only Godwit reads said in HTCondor's words:
// `$(godwit_attempt)` is DAGMan's $(RETRY); amounts and times that HTCondor cannot read ("2GiB", "90m") are plain
// numbers; preserve_relative_paths is True or False. Values with macros stay: they are known only when a job is made.
std::string portable_text(const submit::Description& description);

}  // namespace godwit::dag
