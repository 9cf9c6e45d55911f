// What moves into a sandbox before a job and out of it afterwards, and the node's spool, where a checkpoint waits for
// the next attempt.
//
// A job's executable is copied into the sandbox under its own name, as HTCondor does, unless it is one of the system's
// (/bin, /usr/bin …): those do not change under a running experiment and are executed where they are.
//
// All of it can be done again after a crash: outputs appear whole or not at all, and they stay in the sandbox, too,
// until it is removed. Within one file system an output is a second name (hard link) of the sandbox's file, not a copy.
#pragma once

#include <optional>
#include <string>

#include "godwit/base/error.h"
#include "godwit/jobs/attempt.h"
#include "godwit/jobs/sandbox.h"

namespace godwit::jobs {

// An input or output that could not be moved; what() says which and why.
class TransferError : public Error {
 public:
  explicit TransferError(const std::string& message, int code = 0) : Error(message), code_(code) {}
  // errno, where there is one.
  int code() const { return code_; }

 private:
  int code_;
};

// An input that is not what it must be.
class InputChanged : public TransferError {
 public:
  using TransferError::TransferError;
};

// Whether stage_in() has no files to copy, and so takes no time.
bool brings_nothing(const SandboxArea& area, const Attempt& attempt);
// Whether the sandbox of an ended attempt is empty and there is no spool, so that stage_out() takes no time.
bool left_nothing(const SandboxArea& area, const Attempt& attempt);

// Copies inputs, spool and executable into the attempt's empty sandbox, and makes the folders of stdout and stderr.
// Throws TransferError, and InputChanged before anything is copied.
void stage_in(const SandboxArea& area, const Attempt& attempt);

// What to execute: a path, absolute or from the working directory. Throws TransferError where a program that is
// searched by PATH is not found.
std::string program_of(const JobSpec& spec);

// Brings back what an ended attempt left, does what the spool needs, and says how it ended after all: as `ending`, or
// missing_output, transfer_failed, disk_full. `progressed`: whether it reported an epoch; nullopt where its job reports
// none: then a changed checkpoint says so. Faults of files do not throw; they are in the result.
//
// An attempt that started from the spool and failed without progress loses the spool: the next one starts from the
// parent's checkpoint, in case the spooled one is what it fails of.
Ending stage_out(const SandboxArea& area, const Attempt& attempt, Ending ending, std::optional<bool> progressed);

// `relative` inside `folder`, with every symbolic link followed; nullopt where there is nothing. Throws TransferError
// where it leads out of `folder`.
std::optional<std::string> resolve_within(const std::string& folder, const std::string& relative);

// A path of the spec: relative ones start at its directory.
std::string host_path(const JobSpec& spec, const std::string& path);

}  // namespace godwit::jobs
