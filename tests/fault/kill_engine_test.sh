#!/usr/bin/env bash
# test-serial: yes
# The engine is killed with SIGKILL at KILLS random instants (default 50) and started again each time.
. "$(dirname "$0")/experiment.sh"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
make_experiment "$work/calm"
make_experiment "$work/stormy"
"$GODWIT" run --quiet "$work/calm" || fail "the undisturbed run failed"
check_effects "$work/calm"

kills=0
while [ "$kills" -lt "${KILLS:-50}" ]; do
  "$GODWIT" run --quiet "$work/stormy" &
  engine=$!
  random_sleep 150
  # An engine that had finished cannot be killed; then the Dag was too short for so many kills.
  kill -KILL "$engine" 2>/dev/null || fail "the Dag ended after $kills kills"
  wait "$engine" 2>/dev/null
  kills=$((kills + 1))
done
"$GODWIT" run --quiet "$work/stormy" || fail "the last run failed"
check_results "$work/stormy" "$work/calm"
check_effects "$work/stormy"
echo "$kills kills of the engine: every job's effect exactly once, models equal"
