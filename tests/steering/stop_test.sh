#!/usr/bin/env bash
# Runs that are stopped early, halved, and steered by hand, with a tiny trainer and engines that are killed.
. "$GODWIT_SOURCE/tests/fault/experiment.sh"
work=$(mktemp -d)
trap 'for d in early halved hand; do "$GODWIT" stop --now "$work/$d" >/dev/null 2>&1; done; rm -rf "$work"' EXIT
cd "$work" || exit 1
says() { grep -qF -- "$2" <<<"$1" || fail "it does not say: $2
$1"; }
events() { sqlite3 .godwit/journal.db "select count(*) from event where kind='$1'"; }
# trainer FORMULA: the loss of an epoch, in shell arithmetic over $epoch and $quality
trainer() {
  cat > train.sh <<SH
#!/bin/bash
quality=\$1
trap 'exit 85' TERM
for ((epoch = GODWIT_FIRST_EPOCH; epoch <= GODWIT_LAST_EPOCH; epoch++)); do
  sleep \${2:-0.02} & wait \$!
  echo "\$epoch" >> model
  echo "{\"epoch\":\$epoch,\"val_loss\":\$(($1))}" >> metrics.jsonl
done
SH
  chmod +x train.sh
}
experiment() { # experiment RUNS EPOCHS SECONDS, and more of the file on standard input
  cat > experiment.yaml <<YAML
name: steered
submit_template: |
  executable = train.sh
  arguments = \$(quality) $3
vars: {quality: {type: range, stop: $1}}
epochs: $2
epochs_per_job: 1
checkpoint: model
sites: {here: {cpus: 1, slots: 2}}
YAML
  cat >> experiment.yaml
}

# --- early stopping: run N stops getting better at epoch N + 2 -----------------------------------------------------------
mkdir early && cd early || exit 1
trainer 'epoch > quality + 2 ? 50 : 50 - epoch'
experiment 4 12 0.02 <<'YAML'
early_stop: {metric: val_loss, mode: min, patience: 3}
keep: {last: 1}
evaluation: {submit_template: "executable = /bin/true\ntransfer_executable = false"}
YAML
for ((i = 0; i < ${KILLS:-5}; i++)); do
  "$GODWIT" run --quiet 2>/dev/null &
  random_sleep 300
  kill -KILL $! 2>/dev/null
  wait $! 2>/dev/null
done
says "$("$GODWIT" run)" "not needed."
for quality in 0 1 2 3; do
  uuid=$("$GODWIT" status --json | sed 's/.*"runs":/"runs":/' | grep -o '"run_uuid":"[0-9a-f]*"' | sed -n "$((quality + 1))p" | cut -d'"' -f4)
  kept=$(ls "runs/$uuid/checkpoints" | sort -n | tr '\n' ' ')
  [ "$kept" = "$((quality + 2)) $((quality + 5)) " ] || fail "run$quality keeps $kept"
done
says "$("$GODWIT" status)" "run0 stopped early at epoch 5: val_loss has not improved on 48 of epoch 2 in 3 epochs"
says "$("$GODWIT" why run0)" "was stopped early at epoch 5: val_loss has not improved"
says "$("$GODWIT" why run0-train_epoch7)" "it is not run: run0 was stopped early at epoch 5"
says "$("$GODWIT" compare)" "run 0 at epoch 5 (val_loss has not improved on 48 of epoch 2 in 3 epochs)"
[ "$(events run_pruned)" = 4 ] || fail "$(events run_pruned) decisions to stop"
# Of training and evaluation jobs 7 + 6 + 5 + 4 each.
[ "$(sqlite3 .godwit/journal.db "select count(distinct node) from event where kind='node_pruned'")" = 44 ] ||
  fail "other jobs were pruned than those to come"
cd ..

# --- successive halving ----------------------------------------------------------------------------------------------------
mkdir halved && cd halved || exit 1
trainer '100 + quality'
experiment 9 9 0.02 <<'YAML'
asha: {metric: val_loss, mode: min, reduction: 3, grace: 1}
YAML
for ((i = 0; i < ${KILLS:-5}; i++)); do
  "$GODWIT" run --quiet 2>/dev/null &
  random_sleep 300
  kill -KILL $! 2>/dev/null
  wait $! 2>/dev/null
done
"$GODWIT" run --quiet || fail "the halved runs failed"
says "$("$GODWIT" status --json)" '"epochs_done":9'
trained=$(sqlite3 .godwit/journal.db "select count(*) from event where kind='node_done'")
[ "$trained" = 21 ] || fail "$trained jobs were trained instead of 9 + 3 × 2 + 6"
[ "$(events run_promoted)" = 4 ] || fail "$(events run_promoted) promotions"
[ "$(events run_pruned)" = 8 ] || fail "$(events run_pruned) runs were pruned"
says "$("$GODWIT" why run8)" "not among the best 3 of 9 at rung 0 of successive halving"
says "$("$GODWIT" compare)" "Pruned, and left out of every mean: run 1 at epoch 3"
cd ..

# --- by hand -----------------------------------------------------------------------------------------------------------------
mkdir hand && cd hand || exit 1
trainer 'epoch'
experiment 4 6 0.1 </dev/null
"$GODWIT" run --quiet --once || fail "a first step failed"
says "$("$GODWIT" pause run3)" "run3 is paused at the next 'godwit run'"
"$GODWIT" run --quiet
[ $? = 130 ] || fail "a run is paused, and the engine did not say so"
says "$("$GODWIT" status)" "run3 paused: paused by hand"
says "$("$GODWIT" why run3)" "godwit promote run3"
says "$("$GODWIT" promote 3)" "run3 is promoted at the next 'godwit run'"
"$GODWIT" run --quiet --detach > /dev/null || fail "the engine did not start"
sleep 0.25
says "$("$GODWIT" prune run3 --json)" '"engine_running":true'
while "$GODWIT" status --json | grep -q '"state":"running"'; do sleep 0.1; done
"$GODWIT" run --quiet || fail "it is no success"
says "$("$GODWIT" status)" "pruned by hand"
[ "$(events node_done)" -lt 24 ] || fail "nothing was pruned"
wrong() { # wrong MESSAGE COMMAND…
  local message=$1 said
  shift
  said=$("$GODWIT" "$@" 2>&1)
  [ $? = 2 ] || fail "no exit 2: $*"
  says "$said" "$message"
}
wrong "there is no run 'run33'" prune run33
wrong "did you mean 'run3'" pause rnu3
wrong "its run is run0" prune run0-train_epoch1
wrong "run0 has finished its training" prune run0
wrong "run0 has finished its training" pause 0
wrong "run3 was pruned at epoch" promote run3
wrong "run3 was pruned at epoch" prune run3
wrong "runs is required" prune
wrong "has no option '--al'" pause --al
wrong "there is no file '../nowhere.yaml'" pause run0 --experiment ../nowhere.yaml
mkdir ../fresh && cp experiment.yaml ../fresh
wrong "nothing has been run yet" pause run0 --experiment ../fresh
cd ..
mkdir more && cd more || exit 1
trainer 'epoch'
experiment 2 6 0.1 </dev/null
"$GODWIT" run --quiet --once
wrong "run1 is not paused" promote run1
"$GODWIT" pause run0 >/dev/null && "$GODWIT" pause run1 > /dev/null
"$GODWIT" run --quiet
wrong "run0 is paused already" pause run0
sed -i 's/exit 85/exit 1/; s/^quality.*/exit 3/' train.sh
"$GODWIT" promote run0 > /dev/null
"$GODWIT" run --quiet --yes
wrong "run0 has failed, so it does not go on by itself" prune run0
"$GODWIT" stop --now >/dev/null 2>&1
echo "stopped early, halved and steered as asked"
