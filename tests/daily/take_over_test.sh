#!/usr/bin/env bash
# An experiment goes from hand to hand: others read it, nobody goes on with it unasked, an engine that is alive is asked to
# stop, one that was frozen writes no more when it wakes, and every epoch is trained once.
# test-timeout: 200
. "$GODWIT_SOURCE/tests/fault/experiment.sh"
work=$(mktemp -d)
cp "$GODWIT" "$work/godwit"
GODWIT=$work/godwit
trap '"$GODWIT" stop --now "$work/lab" >/dev/null 2>&1; kill -CONT $(jobs -p) 2>/dev/null; rm -rf "$work"' EXIT
chmod 755 "$work"
umask 002
expect() { # expect CODE COMMAND…
  local code=$1 got
  shift
  "$@" >"$work/out" 2>"$work/err" </dev/null
  got=$?
  [ "$got" = "$code" ] || fail "exit $got instead of $code: $* $(cat "$work/out" "$work/err")"
}
says() { grep -qF -- "$2" "$work/$1" || fail "$1 does not say: $2: $(head -60 "$work/$1")"; }

# begin FOLDER MODE: an experiment of 12 epochs in 12 jobs, begun, with one epoch done at least.
begin() {
  rm -rf "$work/lab"
  mkdir -m "$1" "$work/lab"
  cd "$work/lab" || exit 1
  cat >train.sh <<'SCRIPT'
#!/bin/bash
trap 'exit 85' TERM
sleep 0.3 &
wait $!
echo $GODWIT_FIRST_EPOCH >>"$1/trained"
echo $GODWIT_FIRST_EPOCH >>model
echo "{\"epoch\":$GODWIT_FIRST_EPOCH,\"loss\":1}" >>metrics.jsonl
SCRIPT
  chmod +x train.sh
  cat >experiment.yaml <<YAML
name: relay
submit_template: |
  executable = train.sh
  arguments = $work/lab
  request_memory = 100MB
vars: {alpha: [1]}
epochs: 12
epochs_per_job: 1
checkpoint: model
YAML
  "$GODWIT" run --quiet 2>"$work/engine" &
  engine=$!
  for _ in $(seq 300); do [ -s trained ] && return; sleep 0.1; done
  fail "nothing begins"
}
once() {
  [ "$(sort -n trained | tr '\n' ' ')" = "1 2 3 4 5 6 7 8 9 10 11 12 " ] || fail "trained: $(tr '\n' ' ' <trained)"
  [ "$(sqlite3 .godwit/journal.db 'pragma integrity_check')" = ok ] || fail "the journal is damaged"
  [ "$(sqlite3 .godwit/journal.db "select count(*) from event where kind = 'node_done'")" = 12 ] || fail "not 12 jobs are done"
  [ "$(sqlite3 .godwit/journal.db "select count(*) from event where kind = 'taken_over'")" = 1 ] || fail "it is not recorded"
}

# --- an engine that was frozen, and wakes when another has gone on --------------------------------------------------
begin 2775
me=$(id -un)
expect 2 "$GODWIT" take-over
says err "the experiment is yours, and process $engine of $me on"
kill -STOP $engine
expect 2 "$GODWIT" run --quiet
says err "process $engine of $me on"
expect 2 "$GODWIT" take-over --yes # silent for a moment only
touch -d '2 minutes ago' .godwit/journal.db.lock
expect 2 "$GODWIT" take-over
says err "--yes gives it"
expect 0 "$GODWIT" take-over --yes
says out "'godwit run' goes on"
"$GODWIT" run --quiet 2>"$work/second" &
second=$!
sleep 1
kill -CONT $engine
wait $engine
got=$?
[ $got = 1 ] || fail "the first engine ended with $got: $(cat "$work/engine")"
grep -q "somebody else goes on with this experiment: process $second of $me" "$work/engine" || fail "$(cat "$work/engine")"
wait $second || fail "the second engine: $(cat "$work/second")"
once
expect 2 "$GODWIT" take-over
says err "the experiment is yours already"

# --- an engine on another host, whose lock is not seen here: simulated by its lock file alone -------------------------
lock=.godwit/journal.db.lock
sed -i 's/"holds":0/"holds":1/; s/"host":"[^"]*"/"host":"elsewhere"/' $lock
expect 0 "$GODWIT" status
says out "by $me on elsewhere"
expect 2 "$GODWIT" take-over --yes
says err "of $me on elsewhere"
touch -d '2 minutes ago' $lock
expect 0 "$GODWIT" status
! grep -q 'on elsewhere' "$work/out" || fail "one that is silent counts as alive"
expect 0 "$GODWIT" take-over --yes
[ "$(sqlite3 .godwit/journal.db "select json_extract(json, '$.epoch') from event where kind = 'taken_over'" | tr '\n' ' ')" = "1 2 " ] ||
  fail "take-overs are not counted"

# --- a colleague ----------------------------------------------------------------------------------------------------
if [ "$(id -u)" != 0 ] || ! setpriv --reuid=65534 --regid=0 --clear-groups true 2>/dev/null; then
  echo "SKIPPED the part with a second user: it takes root and setpriv" >&2
  exit 0
fi
colleague() { setpriv --reuid=65534 --regid=0 --clear-groups env HOME=/nonexistent "$@"; }
name=$(colleague id -un)
begin 2775
expect 0 colleague "$GODWIT" status
says out "by $me on"
expect 0 colleague "$GODWIT" status --json
says out "\"user\":\"$me\""
expect 2 colleague "$GODWIT" run --quiet
says err "this experiment is $me's, and you are $name"
expect 2 colleague "$GODWIT" take-over --yes
says err "process $engine of $me on"
says err "take-over --stop-first"
expect 0 colleague "$GODWIT" take-over --yes --stop-first
wait $engine
expect 2 "$GODWIT" run --quiet
says err "this experiment is $name's"
expect 0 colleague "$GODWIT" run --quiet
once
[ "$(stat -c %A runs/*/checkpoints/12/model | cut -c6)" = w ] || fail "the group may not write what a job made"

# It was killed, and its jobs run on under its name.
begin 2775
kill -KILL $engine
wait $engine 2>/dev/null
"$GODWIT" status >/dev/null
sleep 1.5 # its job ends by itself
expect 0 colleague "$GODWIT" take-over --yes
expect 0 colleague "$GODWIT" run --quiet
once

# Without leave to write there is nothing to take over.
umask 022
begin 755
"$GODWIT" stop >/dev/null
expect 0 colleague "$GODWIT" status
expect 2 colleague "$GODWIT" take-over --yes
says err "cannot write"
says err "chmod -R g+w"
[ "$(sqlite3 .godwit/journal.db "select count(*) from event where kind = 'taken_over'")" = 0 ] || fail "it was taken over"
