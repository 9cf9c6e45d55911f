#!/usr/bin/env bash
# test-serial: yes
# The supervisor is killed with SIGKILL at KILLS random instants (default 50) under a running engine; its jobs die with
# it and run again in new attempts.
. "$(dirname "$0")/experiment.sh"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
make_experiment "$work/calm"
make_experiment "$work/stormy"
"$GODWIT" run --quiet "$work/calm" || fail "the undisturbed run failed"

"$GODWIT" run --quiet "$work/stormy" &
engine=$!
kills=0
while [ "$kills" -lt "${KILLS:-50}" ]; do
  random_sleep 150
  kill -0 "$engine" 2>/dev/null || fail "the Dag ended after $kills kills"
  supervisor=$(pgrep -f "supervise $work/stormy/.godwit" | head -n 1)
  [ -n "$supervisor" ] || continue
  kill -KILL "$supervisor" 2>/dev/null && kills=$((kills + 1))
done
wait "$engine" || fail "the run failed"
check_results "$work/stormy" "$work/calm"
[ -z "$(pgrep -f "$work/stormy/effects.log")" ] || fail "jobs of dead supervisors are still running"
echo "$kills kills of the supervisor: every node done once, models equal"
