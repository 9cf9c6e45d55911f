#!/usr/bin/env bash
# Metrics that are not what they should be are named: epochs of other jobs, a metric that nobody tells of, files that
# are no metrics.
. "$GODWIT_SOURCE/tests/lib.sh"

# experiment NAME, its further keys on standard input; the trainer is train.sh there.
experiment() {
  mkdir "$work/$1" && cd "$work/$1" || exit 1
  cat > experiment.yaml <<'YAML'
name: metrics
submit_template: |
  executable = train.sh
epochs: 4
epochs_per_job: 2
sites: {here: {slots: 1}}
checkpoint: model
YAML
  cat >> experiment.yaml
  echo '#!/bin/bash
echo $GODWIT_LAST_EPOCH > model
'"$2" > train.sh
  chmod +x train.sh
}

# --- epochs that a job does not train --------------------------------------------------------------------------------
# It writes all of 1 to 4 in each job: each job's own two count, once.
experiment always '
for epoch in 1 2 3 4 1e99 18446744073709551615 -3; do echo "{\"epoch\":$epoch,\"val_loss\":0.$GODWIT_LAST_EPOCH}" >> metrics.jsonl; done' < /dev/null
expect 0 "$GODWIT" run
says err "warning: run0-train_epoch0: its metrics tell of epoch 3, which it does not train"
says err "warning: run0-train_epoch1: its metrics tell of epoch 1, which it does not train: such lines are left out; its own are epochs 3 to 4"
[ "$(grep -c 'warning:' "$work/err")" = 2 ] || fail "not one warning for each job: $(cat "$work/err")"
[ "$(sqlite3 .godwit/journal.db "select count(*) from event where kind='epoch'")" = 4 ] || fail "not four lines count"
expect 0 "$GODWIT" status
says out "4/4"
says out "val_loss 0.4"
says out "warning: run0-train_epoch1: its metrics tell of epoch 1"

# It writes 1 to 2 in each job: the second tells of nothing that it should.
experiment never 'for epoch in 1 2; do echo "{\"epoch\":$epoch}" >> metrics.jsonl; done' < /dev/null
expect 1 "$GODWIT" run --quiet
expect 0 "$GODWIT" why run0-train_epoch1
says out "it reported other epochs than its own, epochs 3 to 4"
says out '$GODWIT_FIRST_EPOCH to $GODWIT_LAST_EPOCH'

# --- a metric that nobody tells of -----------------------------------------------------------------------------------
good='for ((epoch = GODWIT_FIRST_EPOCH; epoch <= GODWIT_LAST_EPOCH; epoch++)); do echo "{\"epoch\":$epoch,\"val_loss\":1}" >> metrics.jsonl; done'
for rule in 'early_stop: {metric: val_los, mode: min, patience: 3}' 'asha: {metric: val_los, mode: min, reduction: 2, grace: 1}' \
  'keep: {best: 1, metric: val_los, mode: min}'; do
  experiment "${rule%%:*}" "$good" <<< "vars: {x: [1, 2]}
$rule"
  expect 0 "$GODWIT" run
  says err "\`${rule%%:*}\` goes by the metric 'val_los', which the job's metrics do not have; did you mean 'val_loss'?"
  expect 0 "$GODWIT" status
  says out "did you mean 'val_loss'?"
done

# --- files that are no metrics ---------------------------------------------------------------------------------------
none() { # none NAME KEYS SCRIPT WHY
  experiment "$1" "$3" <<< "$2"
  expect 0 "$GODWIT" run
  says err "warning: run0-train_epoch0: it has no metrics: $4"
  expect 0 "$GODWIT" why run0-train_epoch1
  says out "warning: it has no metrics: $4"
  expect 0 "$GODWIT" status
  says out "it has no metrics: $4 (and 1 more like it)"
}
none column 'metrics: m.csv' 'printf "step,loss\n1,2\n" > m.csv' "its m.csv has no column 'epoch'; its columns are step, loss"
none binary 'metrics: m.csv' 'printf "epoch,loss\n\377\376,2\n" > m.csv' "its m.csv is no CSV table: this is not UTF-8 (line 2)"
none missing 'metrics: m.csv' ':' "it left no m.csv"
none folder 'metrics: m.csv' 'mkdir m.csv' "its m.csv is no file"
none gone 'metrics: m.jsonl' 'touch m.jsonl; rm m.jsonl' "it left no m.jsonl"
none text '' 'echo "epoch 1: loss 2" > metrics.jsonl' "no line of its metrics.jsonl is a JSON object"
none pickle '' 'printf "\200\002}q" > metrics.jsonl' "its metrics.jsonl holds no lines"

finish "metrics that are none are named"
