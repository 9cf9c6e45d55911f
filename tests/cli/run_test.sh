#!/usr/bin/env bash
# godwit run's ways of speaking: --dry-run from where the experiment stands, --quiet says only errors, --json is JSON to
# its last line. A job that asks forever to be continued fails, and why says how often it got nowhere.
. "$GODWIT_SOURCE/tests/lib.sh"
# experiment NAME SCRIPT, its further keys on standard input
experiment() {
  mkdir "$work/$1" && cd "$work/$1" || exit 1
  cat > experiment.yaml <<'YAML'
name: spoken
submit_template: |
  executable = train.sh
epochs: 3
epochs_per_job: 1
sites: {here: {slots: 1}}
checkpoint: model
YAML
  cat >> experiment.yaml
  printf '#!/bin/bash\n%s\n' "$2" > train.sh
  chmod +x train.sh
}
# Whether every line that the last command printed is JSON.
is_json() {
  [ -s "$work/out" ] || fail "it printed nothing"
  local line
  while IFS= read -r line; do
    sqlite3 :memory: "select json_valid('${line//\'/\'\'}')" | grep -qx 1 || fail "no JSON: $line"
  done < "$work/out"
}

# --- --dry-run --------------------------------------------------------------------------------------------------------
experiment dry '[ -e '"$work"'/mended ] || [ $GODWIT_RUN != "$(cat '"$work"'/bad)" ] || [ $GODWIT_LAST_EPOCH = 1 ] || exit 3
echo > model' <<< 'vars: {x: [1, 2]}'
expect 0 "$GODWIT" run --dry-run
says out "6 jobs would run:"
says out "run0-train_epoch0        at here"
says out "run1-train_epoch0        at here"
[ ! -e .godwit ] || fail "--dry-run made a state"
"$GODWIT" plan --json | grep -o '"run_uuid":"[0-9a-f]*"' | sed -n 2p | cut -d'"' -f4 > "$work/bad"
[ -s "$work/bad" ] || "$GODWIT" plan | awk '$1 == "1" { print $2 }' > "$work/bad"
expect 1 "$GODWIT" run
expect 0 "$GODWIT" run --dry-run
says out "Nothing would run: 4 jobs done."
says out "1 job failed and stays so, with 1 behind it: 'godwit retry --failed' lets them run again."
expect 0 "$GODWIT" run --dry-run --json
is_json
says out '"jobs":0'
says out '"done":4'
says out '"failed":1'
touch "$work/mended"
expect 0 "$GODWIT" retry --failed
sed -i 's/epochs: 3/epochs: 4/' experiment.yaml
expect 0 "$GODWIT" run --dry-run
says out "would run, 4 done already:"
says out "It was edited since it was started"
lacks out "run0-train_epoch0 "
expect 0 "$GODWIT" run --yes --quiet
expect 0 "$GODWIT" run --dry-run
says out "Nothing would run: 8 jobs done."

# --- --json -----------------------------------------------------------------------------------------------------------
expect 0 "$GODWIT" run --json
is_json
says out '{"result":"succeeded","done":8,'

# --- --quiet ----------------------------------------------------------------------------------------------------------
experiment quiet 'echo > model' <<< 'evaluation: {every: 9, submit_template: "executable = /bin/true\ntransfer_executable = false"}'
expect 0 "$GODWIT" run --dry-run
says err "warning:"
expect 0 "$GODWIT" run --quiet
[ ! -s "$work/out" ] && [ ! -s "$work/err" ] || fail "--quiet says: $(cat "$work/out" "$work/err")"
if command -v script > /dev/null; then
  rm -r .godwit runs
  expect 0 script -qec "$GODWIT run --quiet" /dev/null
  [ ! -s "$work/out" ] || fail "--quiet says at a terminal: $(cat -v "$work/out")"
fi
rm -r .godwit runs
expect 0 "$GODWIT" run --quiet --detach
[ ! -s "$work/out" ] || fail "--quiet --detach says: $(cat "$work/out")"
"$GODWIT" stop > /dev/null
experiment loud 'exit 3' < /dev/null
expect 1 "$GODWIT" run --quiet
[ ! -s "$work/out" ] || fail "--quiet says: $(cat "$work/out")"
says err "error: 0 jobs done, 1 failed, 2 futile. 'godwit why' explains"

# --- a job that asks forever to be continued --------------------------------------------------------------------------
experiment forever 'echo > model; exit 85' < /dev/null
for ((turn = 0; turn < 60; turn++)); do # as cron does
  "$GODWIT" run --once --quiet > "$work/once" 2>&1 || break
  sleep 0.05
done
[ $turn -lt 60 ] || fail "it went on for $turn engines"
expect 0 "$GODWIT" why
says out "it asks again and again to be continued, by exit code 85, and gets no further: no progress in 21 attempts in a row"
says out '$GODWIT_CHECKPOINT'

finish "run says what it is asked to say"
