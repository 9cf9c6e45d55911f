#!/usr/bin/env bash
# The experiment's file is gone, or broken: what only needs the journal works all the same, jobs can be stopped, and once
# the file is back the experiment goes on from their checkpoints.
. "$GODWIT_SOURCE/tests/lib.sh"
at_exit='"$GODWIT" stop --now "$work/mine" > /dev/null 2>&1'
mkdir mine && cd mine || exit 1
cat > train.sh <<'SH'
#!/bin/bash
# Every epoch but the first waits for leave to end; told to leave, it leaves with a checkpoint.
trap 'echo leaves >> model; exit 85' TERM
for ((epoch = GODWIT_FIRST_EPOCH; epoch <= GODWIT_LAST_EPOCH; epoch++)); do
  grep -qs "epoch $epoch" model && continue
  [ $epoch = 1 ] || while [ ! -e "$1/leave" ]; do sleep 0.02 & wait $!; done
  echo "epoch $epoch" >> model
  echo "{\"epoch\":$epoch,\"val_loss\":0.5}" >> metrics.jsonl
done
SH
chmod +x train.sh
cat > experiment.yaml <<YAML
name: mine
submit_template: |
  executable = train.sh
  arguments = $work \$(x)
vars: {x: [1, 2]}
epochs: 2
epochs_per_job: 2
checkpoint: model
baseline: local
compare: {metric: val_loss, margin: 1}
YAML
cp experiment.yaml "$work/good.yaml"
away() { case $1 in gone) rm -f experiment.yaml ;; broken) printf 'name: [\n' > experiment.yaml ;; esac }
lines() { sqlite3 .godwit/journal.db "select count(*) from event where kind='epoch'"; }

# Jobs that run on without an engine.
expect 0 "$GODWIT" run --once --quiet
for ((i = 0; i < 200; i++)); do
  [ "$(find .godwit/sandboxes -name model | xargs cat 2> /dev/null | grep -c 'epoch 1')" -ge 1 ] && break
  sleep 0.05
done
for how in gone broken; do
  away $how
  for command in "status" "status experiment.yaml" "status $work/mine" "why" "why run0" "logs run0-train_epoch0" "compare" \
    "retry --failed" "status --json" "why --json"; do
    # shellcheck disable=SC2086
    expect 0 "$GODWIT" $command
  done
  expect 2 "$GODWIT" status experimnt.yaml
  says err "there is no file 'experimnt.yaml'"
  expect 2 "$GODWIT" retry run0
  says err "nothing of 'run0' has failed"
  expect 2 "$GODWIT" plan
done
away gone
expect 2 "$GODWIT" stop nowhere.yaml
expect 0 "$GODWIT" stop
says out "Nothing is running any more."
pgrep -f "train.sh $work" > /dev/null && fail "a job runs on"

# It goes on from what they left.
cp "$work/good.yaml" experiment.yaml
touch "$work/leave"
expect 0 "$GODWIT" run --quiet
grep -rqs leaves runs/*/checkpoints/2/model || fail "the checkpoint that a job left with is lost"
[ "$(find runs -name model | xargs grep -hc 'epoch 1' | sort -u)" = 1 ] || fail "an epoch was trained twice"

# An engine at work is asked to stop without the file, too.
sed -i 's/^epochs: 2/epochs: 3/' experiment.yaml
rm "$work/leave"
expect 0 "$GODWIT" run --quiet --yes --detach
away gone
expect 2 "$GODWIT" stop experimnt.yaml
says err "there is no file 'experimnt.yaml'"
expect 0 "$GODWIT" stop experiment.yaml
says out "Stopped."
rm -r .godwit
expect 2 "$GODWIT" stop
says err "no experiment.yaml in this folder"

finish "the journal is enough"
