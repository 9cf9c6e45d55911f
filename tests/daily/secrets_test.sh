#!/usr/bin/env bash
# A secret reaches the job and nothing else: its value is looked for in every file after a run, and after kill -9 in the
# middle and a recovery. Ten wrong uses give a clear message and exit code 2.
# test-timeout: 300
. "$GODWIT_SOURCE/tests/lib.sh"
value="hush-$$-$RANDOM$RANDOM"
digest=$(printf %s "$value" | sha256sum | cut -c1-64)
export XDG_CONFIG_HOME=$work/config XDG_STATE_HOME=$work/xdg-state
mkdir -p "$work/config/godwit" "$work/mine"
cd "$work/mine" || exit 1
cat > job.sh <<'JOB'
#!/bin/sh
# Proves that it has the value without writing it.
printf %s "$QUIET_TOKEN" | sha256sum | cut -c1-64 > model.bin
echo "{\"epoch\": $GODWIT_LAST_EPOCH, \"loss\": 1}" >> metrics.jsonl
[ -e ../../../fast ] || sleep 3
JOB
chmod +x job.sh
cat > experiment.yaml <<'YAML'
name: quiet
submit_template: |
  executable = job.sh
  getenv = PATH
vars: {x: [1, 2]}
epochs: 2
sites: {here: {executor: local, cpus: 1, slots: 2}}
checkpoint: model.bin
secrets: [QUIET_TOKEN]
YAML

# nowhere WHAT: no file below the work folder has the value, but for the person's own.
nowhere() {
  if grep -raF --exclude-dir=config -- "$value" "$work" | head -3 | cut -c1-200 | grep -q .; then
    fail "the value is on disk $1: $(grep -rlaF --exclude-dir=config -- "$value" "$work" | head -5)"
  fi
}
arrived() {
  local checkpoint count=0
  for checkpoint in runs/*/checkpoints/*/model.bin; do
    [ "$(cat "$checkpoint")" = "$digest" ] || fail "$1: $checkpoint was written without the secret"
    count=$((count + 1))
  done
  [ $count = 4 ] || fail "$1: $count checkpoints instead of 4"
}

# --- from the environment; a kill in the middle -------------------------------------------------------------------
touch fast
QUIET_TOKEN=$value "$GODWIT" run --quiet > out 2> err || fail "run: $(cat err)"
arrived "from the environment"
nowhere "after a run"
rm -rf fast .godwit runs

QUIET_TOKEN=$value "$GODWIT" run --quiet > out 2> err &
engine=$!
for _ in $(seq 300); do
  [ "$(sqlite3 .godwit/journal.db "SELECT count(*) FROM event WHERE kind = 'active'" 2> /dev/null)" = 2 ] && break
  sleep 0.1
done
kill -9 $engine || fail "the engine had ended before it was killed"
wait $engine 2>/dev/null
nowhere "while jobs run without their engine"
supervisor=$(pgrep -f "supervise $work/mine/.godwit" | head -1)
[ -n "$supervisor" ] && kill -9 "$supervisor"
sleep 0.3
nowhere "after the supervisor was killed"
touch fast

# --- from the person's file, in the recovery ----------------------------------------------------------------------
printf 'QUIET_TOKEN=%s\n' "$value" > "$XDG_CONFIG_HOME/godwit/secrets"
chmod 600 "$XDG_CONFIG_HOME/godwit/secrets"
"$GODWIT" run > out 2> err || fail "recovery: $(cat err)"
arrived "from the file"
nowhere "after the recovery"
"$GODWIT" status > out 2>&1
"$GODWIT" status --json >> out 2>&1
"$GODWIT" why run0 >> out 2>&1
"$GODWIT" logs run0-train_epoch0 >> out 2>&1
"$GODWIT" plan --json >> out 2>&1
"$GODWIT" dag -o dag >> out 2>&1 || fail "dag: $(cat out)"
grep -q -- "-include_env QUIET_TOKEN" out || fail "dag does not say how the secret gets to DAGMan"
grep -rq "getenv = PATH, QUIET_TOKEN" dag || fail "the Dag does not take the secret from the environment"
QUIET_TOKEN=$value "$GODWIT" compare >> out 2>&1
nowhere "after all commands"
(cd "$work" && rm -rf mine/out mine/err)

# --- ten wrong uses -----------------------------------------------------------------------------------------------
wrong() { # wrong TEXT COMMAND…
  local text=$1
  shift
  "$@" > "$work/out" 2> "$work/err"
  local got=$?
  [ $got = 2 ] || fail "exit $got instead of 2: $text"
  grep -qF -- "$text" "$work/err" || fail "does not say: $text
$(cat "$work/err")"
  nowhere "in a message: $text"
  rm -f "$work/out" "$work/err"
}
rm -rf .godwit runs
file=$XDG_CONFIG_HOME/godwit/secrets
chmod 644 "$file"
wrong "may be read by others (its mode is 0644)" "$GODWIT" run
[ ! -e .godwit ] || fail "something was started"
chmod 600 "$file"
printf 'export QUIET_TOKEN=%s\n' "$value" > "$file"
wrong "secrets:1:1: error: not of the form NAME=value" "$GODWIT" run
printf '%s\n' "$value" > "$file"
wrong "secrets:1:1: error: not of the form NAME=value" "$GODWIT" run --dry-run
printf 'QUIET_TOKEN=%s\nQUIET_TOKEN=2\n' "$value" > "$file"
wrong "secrets:2:1: error: this variable is here twice: 'QUIET_TOKEN'" "$GODWIT" run
printf 'QUIET_TOKEN=\n' > "$file"
wrong "experiment.yaml:9:11: error: this secret has no value: 'QUIET_TOKEN'" "$GODWIT" run
rm "$file"
wrong "this secret has no value: 'QUIET_TOKEN'" "$GODWIT" run --detach
QUIET_TOKEN='' wrong "this secret has no value" "$GODWIT" run --once
mkdir "$file"
wrong "is no file" "$GODWIT" run
rmdir "$file"
sed -i "s/^secrets: .*/secrets: [QUIET_TOKEN=$value]/" experiment.yaml
cp experiment.yaml "$work/config/loud.yaml" && rm experiment.yaml
wrong "'secrets' holds names, not values: 'QUIET_TOKEN'" "$GODWIT" run "$work/config/loud.yaml"
sed -i "s/^secrets: .*/secrets: {QUIET_TOKEN: $value}/" "$work/config/loud.yaml"
wrong "'secrets' holds names, not values" "$GODWIT" plan "$work/config/loud.yaml"

finish "the secret reached its jobs and no file"
