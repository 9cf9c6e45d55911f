#!/usr/bin/env bash
# test-serial: yes
# A job that ignores SIGTERM is killed after its grace; the run stops, resumes and ends right.
. "$(dirname "$0")/experiment.sh"
RUNS=4 JOBS=3
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
make_experiment "$work/calm"
make_experiment "$work/stubborn" 1
"$GODWIT" run --quiet "$work/calm" || fail "the undisturbed run failed"

sed -i 's/^set -e$/set -e; trap "" TERM/; s/^  sleep .*/  sleep 60 \&\n  wait/' "$work/stubborn/train.sh"
"$GODWIT" run --quiet "$work/stubborn" &
engine=$!
sleep 1
kill -INT "$engine"
begin=$(date +%s)
wait "$engine"
code=$?
took=$(($(date +%s) - begin))
[ "$code" = 130 ] || fail "exit code $code after an interrupt, expected 130"
[ "$took" -le 20 ] || fail "stopping took $took s; the grace is 2 s"
[ -z "$(pgrep -f "$work/stubborn/train.sh")" ] || fail "a stubborn job survived"
cp "$work/calm/train.sh" "$work/stubborn/train.sh"
"$GODWIT" run --quiet --yes "$work/stubborn" || fail "the resumed run failed"
check_results "$work/stubborn" "$work/calm"
echo "a job that ignores SIGTERM: killed after its grace, resumed, models equal"
