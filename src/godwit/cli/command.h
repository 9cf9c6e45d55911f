// What every command's file offers: a function that adds it to the application.
#pragma once

#include <CLI/CLI.hpp>

#include <functional>
#include <string>

namespace godwit::cli {

// What the chosen command does; returns the exit code. Set by the command's callback, run after parsing.
using Action = std::function<int()>;

inline constexpr int kSuccess = 0;
inline constexpr int kFailed = 1;    // the workflow failed
inline constexpr int kBadInput = 2;  // bad input or usage
inline constexpr int kInterrupted = 130;

// Adds a subcommand with its help text and an example.
CLI::App* add_command(CLI::App& root, const std::string& name, const std::string& summary, const std::string& example);

void add_compare(CLI::App& root, Action& action);
void add_completion(CLI::App& root, Action& action);
void add_debug(CLI::App& root, Action& action);
void add_dag(CLI::App& root, Action& action);
void add_init(CLI::App& root, Action& action);
void add_logs(CLI::App& root, Action& action);
void add_man(CLI::App& root, Action& action);
void add_pause(CLI::App& root, Action& action);
void add_plan(CLI::App& root, Action& action);
void add_rehearse(CLI::App& root, Action& action);
void add_promote(CLI::App& root, Action& action);
void add_prune(CLI::App& root, Action& action);
void add_reference(CLI::App& root, Action& action);
void add_retry(CLI::App& root, Action& action);
void add_take_over(CLI::App& root, Action& action);
void add_run(CLI::App& root, Action& action);
void add_schema(CLI::App& root, Action& action);
void add_status(CLI::App& root, Action& action);
void add_stop(CLI::App& root, Action& action);
void add_supervise(CLI::App& root, Action& action);
void add_version(CLI::App& root, Action& action);
void add_why(CLI::App& root, Action& action);

}  // namespace godwit::cli
