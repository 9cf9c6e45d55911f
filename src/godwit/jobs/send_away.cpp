#include "godwit/jobs/send_away.h"

#include <poll.h>

#include <set>

#include "godwit/base/error.h"
#include "godwit/jobs/launch.h"
#include "godwit/jobs/supervisor_client.h"
#include "godwit/jobs/wire.h"

namespace godwit::jobs {
namespace {

constexpr int kLookAgainMs = 200;

// Those that are under way no more.
void take(const wire::Frame& frame, std::set<std::string>& open) {
  if (frame.type == wire::Type::exited) {
    open.erase(wire::decode<wire::Exited>(frame.body).key);
  } else if (frame.type == wire::Type::stranger) {
    for (const std::string& key : wire::decode<wire::Keys>(frame.body).keys) open.erase(key);
  }
}

}  // namespace

void send_away(const std::string& state_dir, const std::vector<std::string>& keys, bool now) {
  if (keys.empty()) return;
  SupervisorClient client(state_dir, {"/proc/self/exe", "supervise"});
  wire::Hello hello;
  hello.environment = own_environment();
  client.connect(hello);
  client.send(wire::Type::attach, wire::Keys{keys});
  client.send(wire::Type::cancel, wire::Cancel{keys, now});
  std::set<std::string> open(keys.begin(), keys.end());
  while (!open.empty()) {
    if (!client.exchange()) throw Error("the supervisor of " + state_dir + " is gone", "its jobs have died with it");
    while (const auto frame = client.next()) take(*frame, open);
    pollfd wake{client.fd(), static_cast<short>(POLLIN | (client.wants_to_write() ? POLLOUT : 0)), 0};
    ::poll(&wake, open.empty() ? 0 : 1, kLookAgainMs);
  }
}

}  // namespace godwit::jobs
