#include "godwit/journal/endings.h"

#include <fmt/format.h>

#include <csignal>
#include <cstring>
#include <iterator>

#include "godwit/base/units.h"
#include "godwit/journal/log_files.h"

namespace godwit::journal {
namespace {

constexpr std::string_view kReadAndRetry = "read the end of its error output, mend the cause, then: godwit retry {}";

struct SignalRule {
  int number;
  std::string_view what;
  std::string_view advice;
};

constexpr SignalRule kSignals[] = {
    {SIGSEGV, "it touched memory that is not its own",
     "a fault of the program or of a library it uses; run it under a debugger"},
    {SIGBUS, "a file it had mapped into memory became shorter, or its disk ran full",
     "look at the free space where it writes"},
    {SIGABRT, "it gave up by itself, as a failed assertion does", "read the end of its error output"},
    {SIGFPE, "a division by zero of integers", "a fault of the program"},
    {SIGILL, "it was built for another kind of processor than the site's",
     "build it for the oldest processor among the sites (-march=x86-64), or keep it off this site"},
    {SIGKILL, "something outside killed it: often the kernel, short of memory, or an administrator",
     "look at its peak memory; if it is near what the site has, ask for more: request_memory"},
    {SIGTERM, "something outside told it to end", "if the site's scheduler did so, its reasons are in the site's logs"},
    {SIGXCPU, "it passed the site's limit of processor time", "train fewer epochs per job: epochs_per_job"},
    {SIGXFSZ, "it passed the site's limit of file size", "write smaller files, or raise the limit (ulimit -f)"},
    {SIGPIPE, "it wrote to a program that had ended", "a fault of the program"},
};

struct ExitRule {
  int code;
  std::string_view what;
  std::string_view advice;
};

constexpr ExitRule kExits[] = {
    {126, "a shell found a command but may not execute it", "make the file executable: chmod +x"},
    {127, "a shell did not find a command",
     "name it by its full path, or prepare the site with `setup:` lines (module load …)"},
};

struct OutcomeRule {
  std::string_view outcome;
  std::string_view what;
  std::string_view advice;  // {}: the node's name
};

constexpr OutcomeRule kOutcomes[] = {
    {"checkpointed", "it saved a checkpoint and asked to be continued", ""},
    {"evicted", "it was told to leave before it had ended", ""},
    {"out_of_memory", "it took more memory than it may",
     "ask for more: request_memory in the submit template, or let it grow: retry: {{request_memory: x2 up to 128GB}}; "
     "then: godwit retry {}"},
    {"time_limit", "it ran longer than its time limit",
     "raise the limit, or train fewer epochs per job: epochs_per_job"},
    {"missing_output", "it ended with exit code 0 but did not write a file that it must",
     "make it write the file in its working directory, or take the name out of transfer_output_files; then: godwit "
     "retry {}"},
    {"unfinished", "it ended with exit code 0 before the last epoch that it was to train",
     "let it train its epochs, $GODWIT_FIRST_EPOCH to $GODWIT_LAST_EPOCH, and name each in its metrics; a job that "
     "stops "
     "early on purpose exits with its checkpoint code (85); then: godwit retry {}"},
    {"transfer_failed", "a file could not be brought to it or back",
     "check the path that is named; then: godwit retry {}"},
    {"input_changed", "the checkpoint that it was to go on from is not what the job before it left",
     "put it back as it was, then: godwit retry {0}; or compute again what is lost: godwit retry --redo {0}; or go on "
     "from what is there now: godwit retry --accept {0}"},
    {"not_started", "its program could not be started",
     "check the path of the executable, and that it may be executed; then: "
     "godwit retry {}"},
    {"disk_full", "the disk was full", "make room; it goes on by itself and spends no retry"},
    {"lost", "nobody knows how it ended: what ran it vanished", "it is done again by itself and spends no retry"},
    {"canceled", "it was canceled", "it goes on with: godwit run"},
};

template <typename Rule, std::size_t N, typename Key, typename Member>
const Rule* rule_for(const Rule (&rules)[N], const Key& key, Member member) {
  for (const Rule& rule : rules)
    if (rule.*member == key) return &rule;
  return nullptr;
}

std::string signal_name(int number) {
  const char* name = ::sigabbrev_np(number);
  return name == nullptr ? fmt::format("signal {}", number) : fmt::format("signal {} (SIG{})", number, name);
}

// A shell that ran a program which a signal killed says so by an exit code above 128.
bool tells_of_signal(int exit_code) {
  return exit_code > 128 && ::sigabbrev_np(exit_code - 128) != nullptr;
}

std::string advice_for(std::string_view text, std::string_view node) {
  return text.empty() ? std::string() : fmt::format(fmt::runtime(text), node);
}

EndingWords explain_signal(int number, std::string_view begins, std::string_view node) {
  const SignalRule* rule = rule_for(kSignals, number, &SignalRule::number);
  if (rule == nullptr) return {std::string(begins), advice_for(kReadAndRetry, node)};
  return {fmt::format("{}: {}", begins, rule->what), fmt::format("{}; then: godwit retry {}", rule->advice, node)};
}

EndingWords explain_exit(int code, std::string_view node) {
  if (code == 0) return {"the program ended with exit code 0", ""};
  const std::string begins = fmt::format("the program ended with exit code {}", code);
  if (const ExitRule* rule = rule_for(kExits, code, &ExitRule::code))
    return {fmt::format("{}: {}", begins, rule->what), fmt::format("{}; then: godwit retry {}", rule->advice, node)};
  if (tells_of_signal(code))
    return explain_signal(code - 128, fmt::format("{}, which tells of {}", begins, signal_name(code - 128)), node);
  return {begins, advice_for(kReadAndRetry, node)};
}

// Whether the missing outputs that an executor names are the experiment's checkpoint.
bool is_checkpoint(const View& view, std::string_view detail) {
  const std::string path = checkpoint_path(view);
  return !path.empty() && detail.find(fmt::format("'{}'", path)) != std::string_view::npos;
}

EndingWords explain_by_outcome(std::string_view outcome, std::string_view node) {
  const OutcomeRule* rule = rule_for(kOutcomes, outcome, &OutcomeRule::outcome);
  if (rule == nullptr) return {fmt::format("it ended: {}", outcome), advice_for(kReadAndRetry, node)};
  return {std::string(rule->what), advice_for(rule->advice, node)};
}

}  // namespace

EndingWords explain_ending(const View& view, const Attempt& attempt) {
  const std::string_view outcome = view.text(attempt.outcome);
  const std::string_view node = view.name_of(attempt.node);
  EndingWords words =
      outcome == "exited" ? explain_exit(attempt.exit_code, node)
      : outcome == "signaled"
          ? explain_signal(attempt.signal, fmt::format("{} killed it", signal_name(attempt.signal)), node)
          : explain_by_outcome(outcome, node);
  if (outcome == "missing_output" && is_checkpoint(view, view.text(attempt.detail)))
    words.advice = fmt::format(
        "make it write its checkpoint at the path that `checkpoint:` in the experiment names ($GODWIT_CHECKPOINT); "
        "then: "
        "godwit retry {}",
        node);
  if (outcome == "not_started" && view.text(attempt.detail).starts_with("the setup of its site"))
    words.advice = fmt::format("mend the site's `setup:` lines; then: godwit retry {}", node);
  // What executors say of signals is in the words already.
  if (attempt.detail != 0 && outcome != "signaled") words.what += fmt::format(" ({})", view.text(attempt.detail));
  return words;
}

EndingWords explain_failure(const View& view, const Attempt& attempt, std::string_view reason) {
  const std::string_view outcome = view.text(attempt.outcome);
  const bool continues = outcome == "checkpointed" || outcome == "evicted" || outcome == "lost";
  if (!continues || reason.empty()) return explain_ending(view, attempt);
  const std::string_view node = view.name_of(attempt.node);
  if (outcome == "checkpointed")
    return {
        fmt::format("it asks again and again to be continued, by exit code {}, and gets no further: {}",
                    attempt.exit_code, reason),
        fmt::format("each attempt must go on from the checkpoint ($GODWIT_CHECKPOINT), finish at least an epoch more, "
                    "and exit with 0 after epoch $GODWIT_LAST_EPOCH; then: godwit retry {}",
                    node)};
  return {fmt::format("it is interrupted again and again before it has finished an epoch more: {}", reason),
          fmt::format("see what interrupts it at its site; then: godwit retry {}", node)};
}

std::string short_ending(const View& view, const Attempt& attempt) {
  const std::string_view outcome = view.text(attempt.outcome);
  if (outcome == "exited") return fmt::format("exit code {}", attempt.exit_code);
  if (outcome == "signaled") return signal_name(attempt.signal);
  std::string text(outcome);
  for (char& c : text)
    if (c == '_') c = ' ';
  return text;
}

}  // namespace godwit::journal
