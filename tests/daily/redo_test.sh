#!/usr/bin/env bash
# What was computed is guarded: a checkpoint that is lost, emptied or somebody else's stops the job that would go on from
# it, and is computed again on demand; and a journal that is lost does not make everything run again unasked.
# test-timeout: 200
. "$GODWIT_SOURCE/tests/fault/experiment.sh"
work=$(mktemp -d)
trap '"$GODWIT" stop --now "$work" >/dev/null 2>&1; rm -rf "$work"' EXIT
cd "$work" || exit 1
expect() { # expect CODE COMMAND…
  local code=$1 got
  shift
  "$@" >"$work/out" 2>"$work/err" </dev/null
  got=$?
  [ "$got" = "$code" ] || fail "exit $got instead of $code: $* $(cat "$work/out" "$work/err")"
}
says() { grep -qF -- "$2" "$work/$1" || fail "$1 does not say: $2: $(head -60 "$work/$1")"; }

# Each epoch adds a line to the checkpoint, so that one that begins anew is seen.
cat >train.sh <<'SCRIPT'
#!/bin/bash
[ ! -e "$1/trip$GODWIT_FIRST_EPOCH" ] || exit 1
for ((epoch = GODWIT_FIRST_EPOCH; epoch <= GODWIT_LAST_EPOCH; epoch++)); do
  echo "$GODWIT_RUN $epoch" >>"$1/trained"
  echo "epoch $epoch" >>model
  echo "{\"epoch\":$epoch,\"loss\":$((100 / epoch))}" >>metrics.jsonl
done
SCRIPT
chmod +x train.sh
cat >experiment.yaml <<YAML
name: guarded
submit_template: |
  executable = train.sh
  arguments = $work
  request_memory = 100MB
vars: {alpha: [1]}
epochs: 8
epochs_per_job: 2
checkpoint: model
YAML
checkpoints=
place() { checkpoints=$(echo runs/*/checkpoints); }
trained() { [ "$(sed 's/.* //' trained | tr '\n' ' ')" = "$1 " ] || fail "trained: $(tr '\n' ' ' <trained) instead of $1"; }
whole() { [ "$(tr '\n' ' ' <"$checkpoints/8/model")" = "epoch 1 epoch 2 epoch 3 epoch 4 epoch 5 epoch 6 epoch 7 epoch 8 " ] ||
  fail "the last model is $(cat "$checkpoints/8/model")"; }

# --- the checkpoint that the third job goes on from ------------------------------------------------------------------
# spoil HOW: it ends before its third job; then the checkpoint is spoilt so.
spoil() {
  "$GODWIT" stop --now >/dev/null 2>&1
  rm -rf .godwit runs trained
  touch trip5
  expect 1 "$GODWIT" run --quiet
  rm trip5
  place
  trained "1 2 3 4"
  eval "$1"
  expect 0 "$GODWIT" retry --failed
  expect 1 "$GODWIT" run --quiet
  trained "1 2 3 4" # nothing was begun
  expect 0 "$GODWIT" why run0-train_epoch2
  says out "the checkpoint that it was to go on from is not what the job before it left"
  says out "$2"
  says out "godwit retry --redo run0-train_epoch2"
}
spoil 'rm -r $checkpoints/4' "nothing there that can be read"
expect 2 "$GODWIT" retry --redo run0-train_epoch2
says err "run0-train_epoch1: $checkpoints/4: nothing there that can be read"
says err "--yes"
expect 0 "$GODWIT" retry --redo --yes run0-train_epoch2 --json
says out '"nodes":["run0-train_epoch2","run0-train_epoch1"]'
expect 0 "$GODWIT" run --quiet
trained "1 2 3 4 3 4 5 6 7 8"
whole

spoil ': >$checkpoints/4/model' "0 B instead of"
# Put back, it goes on without computing anything again.
printf 'epoch %d\n' 1 2 3 4 >$checkpoints/4/model
expect 0 "$GODWIT" retry --failed
expect 0 "$GODWIT" run --quiet
trained "1 2 3 4 5 6 7 8"
whole

spoil 'sed -i "s/epoch 3/epoch 7/" $checkpoints/4/model' "other content of the same size"
says out "godwit retry --accept run0-train_epoch2"
expect 2 "$GODWIT" retry --accept --redo run0-train_epoch2
expect 0 "$GODWIT" retry --accept run0-train_epoch2
expect 0 "$GODWIT" run --quiet
trained "1 2 3 4 5 6 7 8"
grep -q "epoch 7" $checkpoints/6/model || fail "it went on from something else"

spoil 'printf "epoch %d\n" 1 2 9 4 >$checkpoints/4/model; rm -r $checkpoints/2' "other content of the same size"
expect 0 "$GODWIT" retry --redo --yes run0-train_epoch2
expect 0 "$GODWIT" run --quiet
trained "1 2 3 4 1 2 3 4 5 6 7 8"
whole

# --- what is done is done again only where that is asked for ------------------------------------------------------------
expect 2 "$GODWIT" retry run0-train_epoch3
says err "godwit retry --redo run0-train_epoch3"
expect 2 "$GODWIT" retry --redo run0-train_epoch9
says err "there is no node or run 'run0-train_epoch9'"
expect 0 "$GODWIT" retry --redo --yes run0-train_epoch3
expect 0 "$GODWIT" run --quiet
trained "1 2 3 4 1 2 3 4 5 6 7 8 7 8"
whole

# --- the journal is lost --------------------------------------------------------------------------------------------
mv .godwit kept
for lose in 'true' 'mkdir .godwit' 'mkdir .godwit; : >.godwit/journal.db'; do
  rm -rf .godwit
  eval "$lose"
  expect 2 "$GODWIT" run --quiet
  says err "there is no journal"
  says err "$checkpoints/"
  says err "put the journal (.godwit) back"
done
mkdir -p .godwit
echo "this is no journal, but a text that is long enough to be looked at as one: $(seq 2000)" >.godwit/journal.db
expect 2 "$GODWIT" run --quiet
says err "put a copy of journal.db back"
rm -rf .godwit
mv kept .godwit
expect 0 "$GODWIT" run --quiet
trained "1 2 3 4 1 2 3 4 5 6 7 8 7 8"
rm -rf .godwit
expect 0 "$GODWIT" run --quiet --yes
trained "1 2 3 4 1 2 3 4 5 6 7 8 7 8 1 2 3 4 5 6 7 8"
