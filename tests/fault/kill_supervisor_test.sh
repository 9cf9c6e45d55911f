#!/usr/bin/env bash
# test-serial: yes
# The supervisor is killed with SIGKILL at KILLS random instants (default 50) under a running engine; its jobs die with
# it and run again in new attempts.
. "$(dirname "$0")/experiment.sh"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
make_experiment "$work/calm"
"$GODWIT" run --quiet "$work/calm" || fail "the undisturbed run failed"

# start: begins a Dag of its own in the background.
round=0
start() {
  round=$((round + 1))
  stormy=$work/stormy$round
  make_experiment "$stormy"
  "$GODWIT" run --quiet "$stormy" &
  engine=$!
}

# finish: waits for the Dag's end and compares it with the undisturbed one.
finish() {
  wait "$engine" || fail "the run failed"
  check_results "$stormy" "$work/calm"
  [ -z "$(pgrep -f "$stormy/effects.log")" ] || fail "jobs of dead supervisors are still running"
}

# A fast machine may end the Dag before all kills are done; the rest then hit another one.
kills=0
start
while [ "$kills" -lt "${KILLS:-50}" ]; do
  random_sleep 150
  if ! kill -0 "$engine" 2>/dev/null; then
    finish
    start
  fi
  supervisor=$(pgrep -f "supervise $stormy/.godwit" | head -n 1)
  [ -n "$supervisor" ] || continue
  kill -KILL "$supervisor" 2>/dev/null && kills=$((kills + 1))
done
finish
echo "$kills kills of the supervisor, $round Dags: every node done once, models equal"
