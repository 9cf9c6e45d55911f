#!/usr/bin/env bash
# test-serial: yes
# The engine is killed with SIGKILL at KILLS random instants (default 50) and started again each time.
. "$(dirname "$0")/experiment.sh"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
make_experiment "$work/calm"
"$GODWIT" run --quiet "$work/calm" || fail "the undisturbed run failed"
check_effects "$work/calm"

# finish_and_check DIR: runs what is left of a Dag and compares it with the undisturbed one.
finish_and_check() {
  "$GODWIT" run --quiet "$1" || fail "the last run failed"
  check_results "$1" "$work/calm"
  check_effects "$1"
}

# A fast machine may end the Dag before all kills are done; the rest then hit another one.
kills=0 round=1
make_experiment "$work/stormy$round"
while [ "$kills" -lt "${KILLS:-50}" ]; do
  "$GODWIT" run --quiet "$work/stormy$round" &
  engine=$!
  random_sleep 150
  if kill -KILL "$engine" 2>/dev/null; then
    kills=$((kills + 1))
    wait "$engine" 2>/dev/null
  else
    wait "$engine" || fail "the run failed"
    finish_and_check "$work/stormy$round"
    round=$((round + 1))
    make_experiment "$work/stormy$round"
  fi
done
finish_and_check "$work/stormy$round"
echo "$kills kills of the engine, $round Dags: every job's effect exactly once, models equal"
