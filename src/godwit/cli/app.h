// The command line: one file per command, no logic of its own; turns errors into text and exit codes.
#pragma once

namespace godwit::cli {

// Exit codes: 0 success, 1 the workflow failed, 2 bad input or usage, 130 interrupted.
int run(int argc, char** argv);

}  // namespace godwit::cli
