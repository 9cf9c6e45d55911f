#!/usr/bin/env bash
# Early stopping without Godwit: the PRE scripts of a written Dag skip what an engine would prune. DAGMan is played by
# this script: PRE script, PRE_SKIP, job, in the order of the chain.
. "$GODWIT_SOURCE/tests/fault/experiment.sh"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
printf '#!/bin/sh\n' > train.sh
printf '#!/bin/sh\necho "$@" >> pre.log\n' > pre.sh
chmod +x train.sh pre.sh
write() {
  cat > experiment.yaml <<'YAML'
name: early
submit_template: |
  executable = train.sh
epochs: 10
epochs_per_job: 2
checkpoint: model
scripts: {pre: [./pre.sh, $JOB]}
evaluation: {submit_template: "executable = train.sh"}
YAML
  cat >> experiment.yaml
}
write <<'YAML'
metrics: metrics.jsonl
early_stop: {metric: val_loss, patience: 3, min_delta: 0.05}
keep: {last: 1}
YAML
said=$("$GODWIT" dag -o dag)
grep -q "carries out .keep." <<<"$said" || fail "no note of keep: $said"
uuid=$(grep -o 'run_uuid="[0-9a-f]*"' dag/early.dag | head -1 | cut -d'"' -f2)
losses=(0 3.0 2.0 1.98 1.97 NaN 1.96 9 9 9 9)
skipped=
for job in 0 1 2 3 4; do
  for node in "run0-train_epoch$job" "run0-eval_epoch$((job + 1))"; do
    pre=$(sed -n "s/^SCRIPT PRE $node //p" dag/early.dag)
    skip=$(sed -n "s/^PRE_SKIP $node //p" dag/early.dag)
    [ -n "$pre" ] && [ "$skip" = 75 ] || fail "$node has no PRE script or PRE_SKIP"
    sh -c "${pre//\$JOB/$node}"
    code=$?
    if [ $code = 75 ]; then skipped="$skipped $node"; continue; fi
    [ $code = 0 ] || fail "the PRE script of $node ended with $code"
    [[ $node = *train* ]] || continue
    mkdir -p "runs/$uuid/metrics"
    for epoch in $((2 * job + 1)) $((2 * job + 2)); do
      echo "{\"epoch\": $epoch, \"val_loss\": ${losses[$epoch]}}" >> "runs/$uuid/metrics/$node.1.jsonl"
    done
  done
done
# After epoch 6 the last improvement by more than 0.05 is epoch 2's.
[ "$skipped" = " run0-train_epoch3 run0-eval_epoch4 run0-train_epoch4 run0-eval_epoch5" ] || fail "skipped:$skipped"
[ "$(cat "runs/$uuid/stopped")" = 6 ] || fail "stopped at $(cat "runs/$uuid/stopped")"
[ "$(wc -l < pre.log)" = 3 ] || fail "the experiment's own PRE script ran $(wc -l < pre.log) times"

write <<'YAML'
early_stop: {metric: val_loss, patience: 3}
YAML
"$GODWIT" dag -o dag | grep -q "their metrics do not come back" || fail "nothing is said of metrics that do not come back"
grep -q PRE_SKIP dag/early.dag && fail "a script was written that cannot know"
write <<'YAML'
asha: {metric: val_loss, reduction: 2}
replicates: 4
YAML
said=$("$GODWIT" dag -o dag 2>&1)
[ $? = 2 ] || fail "a Dag was written that cannot halve"
grep -q "DAGMan cannot halve" <<<"$said" || fail "it does not say why: $said"
echo "DAGMan skips what an engine prunes"
