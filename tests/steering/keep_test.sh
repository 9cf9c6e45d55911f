#!/usr/bin/env bash
# A run whose best checkpoint is older than its last goes on from its last, while others are deleted and the engine is
# killed: the chain of epochs is whole, and only what `keep` keeps is left.
. "$GODWIT_SOURCE/tests/fault/experiment.sh"
work=$(mktemp -d)
trap '"$GODWIT" stop --now "$work" >/dev/null 2>&1; rm -rf "$work"' EXIT
cd "$work" || exit 1
cat > train.sh <<'SH'
#!/bin/bash
# Epoch 3 is the best of twelve. The last model tells of all epochs before it; the best model is a copy.
for ((epoch = GODWIT_FIRST_EPOCH; epoch <= GODWIT_LAST_EPOCH; epoch++)); do
  sleep 0.02
  echo "epoch $epoch after $(tail -n1 last.txt 2>/dev/null)" > line
  cut -c1-200 line >> last.txt
  [ $epoch = 3 ] && cp last.txt best.txt
  loss=$((epoch < 3 ? 9 - epoch : epoch))
  echo "{\"epoch\":$epoch,\"val_loss\":$loss}" >> metrics.jsonl
done
SH
cat > eval.sh <<'SH'
#!/bin/sh
sleep 0.05
wc -l < last.txt
SH
chmod +x train.sh eval.sh
cat > experiment.yaml <<'YAML'
name: kept
submit_template: |
  executable = train.sh
vars: {run: {type: range, stop: 3}}
epochs: 12
epochs_per_job: 1
checkpoint: {path: last.txt, best: best.txt, size: 200MB}
keep: {last: 2, best: 1, every: 5, metric: val_loss}
evaluation:
  submit_template: |
    executable = eval.sh
YAML
printf 'here: {cpus: 1, slots: 3}\n' > sites.yaml

"$GODWIT" plan | grep -q "at most 18 checkpoints of 36 at the same time, 200 MB each (as declared): 3.5 GB" ||
  fail "plan tells another peak: $("$GODWIT" plan | grep -A1 Disk)"
for ((i = 0; i < ${KILLS:-6}; i++)); do
  "$GODWIT" run --quiet 2>/dev/null &
  random_sleep 400
  kill -KILL $! 2>/dev/null
  wait $! 2>/dev/null
done
"$GODWIT" run --quiet || fail "the run failed"

for run in runs/*; do
  there=$(ls "$run/checkpoints" | sort -n | tr '\n' ' ')
  [ "$there" = "3 5 10 11 12 " ] || fail "$run has the checkpoints of epochs $there"
  for epoch in 3 5 10 11 12; do
    [ "$(wc -l < "$run/checkpoints/$epoch/last.txt")" = "$epoch" ] || fail "$run did not go on from its last at $epoch"
    [ "$(cut -d' ' -f2 "$run/checkpoints/$epoch/last.txt" | tr '\n' ' ')" = "$(seq -s' ' "$epoch") " ] ||
      fail "$run trained other epochs than 1 to $epoch"
  done
  [ "$(wc -l < "$run/checkpoints/12/best.txt")" = 3 ] || fail "$run lost its best model"
done
count() { sqlite3 .godwit/journal.db "select count(*) from event where kind='$1'"; }
[ "$(count checkpoint)" -ge 36 ] || fail "$(count checkpoint) checkpoints were recorded"
[ "$(sqlite3 .godwit/journal.db "select count(distinct node) from event where kind='checkpoint_dropped'")" = 21 ] ||
  fail "$(count checkpoint_dropped) deletions were recorded"
"$GODWIT" status | grep -q "15 checkpoints kept" || fail "status does not tell of the checkpoints"
"$GODWIT" plan | grep -q "(measured)" || fail "plan does not use the measured size"
echo "kept: 15 checkpoints of 36, none lost"
