// Ends attempts whose job specs nobody knows, because the experiment's file is gone or broken.
#pragma once

#include <string>
#include <vector>

namespace godwit::jobs {

// SIGTERM, grace, SIGKILL for what runs (`now` skips the grace), and what waits is withdrawn; waits until all have
// ended. Nothing is moved or recorded: their sandboxes stay, with the checkpoints that they wrote last, and the
// executor of the next engine, which knows their specs, hears of their ends as if they had just come. `keys`:
// AttemptKey::text().
void send_away(const std::string& state_dir, const std::vector<std::string>& keys, bool now);

}  // namespace godwit::jobs
