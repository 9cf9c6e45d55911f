// Where an experiment's state is: `.godwit/` beside its file. And the inbox, by which any command or page asks the
// engine for something without a port: a request is a file renamed into a folder.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "godwit/base/json.h"

namespace godwit::journal {

class StateDir {
 public:
  // `experiment_file` need not exist; where it is a folder, the state is in that folder.
  static StateDir beside(const std::string& experiment_file);

  // A state within this one, of something that is no run of the experiment: a rehearsal.
  StateDir inner(const std::string& name) const { return StateDir(path_ + "/" + name); }

  const std::string& path() const { return path_; }  // absolute
  std::string folder() const;                        // the experiment's own, absolute
  std::string journal() const { return path_ + "/journal.db"; }
  std::string inbox() const { return path_ + "/inbox"; }
  std::string sandboxes() const { return path_ + "/sandboxes"; }
  std::string exits_log() const { return path_ + "/exits.log"; }
  std::string pause_note() const { return path_ + "/paused.json"; }
  std::string supervisor_socket() const { return path_ + "/supervisor.sock"; }

  bool has_journal() const;
  // Makes the folders that are missing. Throws SystemError.
  void create() const;

 private:
  explicit StateDir(std::string path) : path_(std::move(path)) {}
  std::string path_;
};

// {"what":"stop"|"stop_now"}, {"what":"retry"|"redo"|"accept","nodes":[names]} or
// {"what":"pause"|"promote"|"prune","runs":[uuids]}. Throws InputError where the request is none of these, SystemError
// where it cannot be written.
void drop_request(const StateDir& state, const Json& request);

// The requests that are waiting, oldest first; `rejected` names files that hold none.
struct Requests {
  std::vector<Json> requests;
  std::vector<std::string> rejected;
};

// Hands what is waiting to `record` (not called where nothing is) and removes it once `record` has returned true: what
// a crash or a full disk keeps from being recorded is handed over again.
void take_requests(const StateDir& state, const std::function<bool(const Requests&)>& record);

}  // namespace godwit::journal
