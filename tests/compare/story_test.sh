#!/usr/bin/env bash
# The experiment of docs/how-to/compare.md, in which somebody meddles with a checkpoint: the run is named, and the verdict
# is reached without it. Then barriers that cannot be had, and wrong uses.
. "$GODWIT_SOURCE/tests/lib.sh"

# The blocks of the page that are files.
awk '/^```yaml file=/ { name = substr($2, 6); next } /^```/ { name = "" } name { print > name }' \
  "$GODWIT_SOURCE/docs/how-to/compare.md"
chmod +x train.sh evaluate.sh
cp experiment.yaml plain.yaml

# --- a checkpoint is replaced between two jobs ----------------------------------------------------------------------
# Before run 3's third job its checkpoint becomes what epoch 2 left.
cat > meddle.sh << 'SCRIPT'
#!/bin/bash
[ "$1" = run3-train_epoch2 ] || exit 0
for folder in runs/*/; do
  [ -e "$folder/logs/run3-train_epoch1.1.out" ] && cp "$folder/checkpoints/2/model.safetensors" "$folder/checkpoints/4/"
done
exit 0
SCRIPT
chmod +x meddle.sh
printf 'scripts: {pre: [./meddle.sh, $JOB]}\n' >> experiment.yaml
expect 1 "$GODWIT" run --quiet
expect 0 "$GODWIT" retry --accept run3 # it is meant so
expect 0 "$GODWIT" run --quiet
expect 0 "$GODWIT" compare
says out "Invalid and left out of every mean, pair and verdict: run 3 ("
says out "epoch 5 began with"
says out "(7 pairs, 90 % interval"
says out "at epoch 5"
expect 0 "$GODWIT" compare --json
named=$(grep -o '"invalid":\[{[^]]*' out | head -1)
[[ $named == *'"run":3'* ]] || fail "the JSON names: $named"
[ "$(grep -o '"valid":false' out | wc -l)" = 1 ] || fail "more than one run is invalid"
expect 0 "$GODWIT" compare --html page.html
grep -q 'class="verdict"' page.html || fail "the page has no verdict"

# --- barriers ---------------------------------------------------------------------------------------------------------
expect 0 "$GODWIT" compare --barrier --points 3
says out "barrier of loss"
[ ! -e .godwit/barrier/between ] || fail "what lay between checkpoints is left behind"
before=$(sha256sum runs/*/logs/* runs/*/checkpoints/*/* | sha256sum)
printf '#!/bin/sh\nexit 3\n' > evaluate.sh
expect 0 "$GODWIT" compare --barrier --points 3
says out "Barrier not computed: the evaluation failed: "
[ "$before" = "$(sha256sum runs/*/logs/* runs/*/checkpoints/*/* | sha256sum)" ] || fail "the experiment's files changed"
sed -i '/^evaluation:/,/evaluate.sh/d' experiment.yaml
expect 0 "$GODWIT" compare --barrier
says out "Barrier not computed: the experiment has no evaluation."
sed -i 's/^checkpoint:.*/checkpoint: model.bin/' experiment.yaml
expect 0 "$GODWIT" compare
says out "Distance of weights not computed: 'model.bin' is no .safetensors file."

# --- wrong uses -------------------------------------------------------------------------------------------------------
wrong() { # wrong MESSAGE OPTION…
  local message=$1
  shift
  expect 2 "$GODWIT" compare "$@"
  says err "$message"
}
wrong "--points requires --barrier" --points 5
wrong "--points" --barrier --points 2
wrong "--points" --barrier --points many
wrong "did you mean 'val_loss'?" --metric val_los
wrong "the experiment declares that low values of 'val_loss' are better" --better high
wrong "there is no folder" --html nowhere/page.html
wrong "--rows" --rows 0
wrong "there is no file 'experimnt.yaml'" experimnt.yaml
wrong "godwit compare has no option '--margin'" --margin 0.5
sed -i 's/margin: 0.02/margin: 2%/' experiment.yaml
wrong "experiment.yaml:19:11: error: 'margin' is a number in the metric's own unit, not a percentage: '2%'"
mkdir fresh && cp plain.yaml fresh/experiment.yaml
wrong "nothing has been run yet" fresh

finish
