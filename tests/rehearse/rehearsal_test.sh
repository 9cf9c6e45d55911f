#!/usr/bin/env bash
# Rehearsals find what would go wrong at a site: a program that is missing there, a job that does not go on from its
# checkpoint, an evaluation that fails, numbers that differ. They leave no trace in the experiment.
. "$GODWIT_SOURCE/tests/lib.sh"
says() { grep -qE -- "$2" "$work/$1" || fail "$1 does not say: $2
$(head -60 "$work/$1")"; }

cat >experiment.yaml <<'YAML'
name: rehearsed
submit_template: |
  executable = train.sh
  arguments = $(samples) $(rate)
  request_memory = 100MB
vars:
  samples: 5000
  rate: [0.1, 0.2, 0.3]
epochs: 20
epochs_per_job: 10
replicates: 2
baseline: north
checkpoint: model
retry: 3
evaluation:
  every: 2
  submit_template: |
    executable = evaluate.sh
rehearse:
  vars: {samples: 5}
  scale: 1000
sites:
  north: {slots: 1}
  south: {slots: 1}
  west: {slots: 1}
YAML
cat >train.sh <<'SCRIPT'
#!/bin/bash
[ "$1" = 5 ] || exit 9
for ((epoch = $(cat model 2>/dev/null || echo 0) + 1; epoch <= GODWIT_LAST_EPOCH; epoch++)); do
  echo "{\"epoch\":$epoch,\"val_loss\":0.5,\"seconds\":$RANDOM}" >>"$GODWIT_METRICS"
  echo $epoch >model
done
SCRIPT
cat >evaluate.sh <<'SCRIPT'
#!/bin/bash
echo "{\"accuracy\":0.75}" >>"$GODWIT_METRICS"
SCRIPT
chmod +x train.sh evaluate.sh
cp train.sh good.sh

# --- all is well -------------------------------------------------------------------------------------------------------
expect 0 "$GODWIT" rehearse
says out '^north +yes +yes +yes '
says out '^west +yes +yes +yes .*as north +as north +as north'
says out 'Rehearsed at 3 sites'
[ "$(ls)" = "$(printf '%s\n' err evaluate.sh experiment.yaml good.sh out train.sh)" ] || fail "it left: $(ls)"
[ ! -e .godwit/journal.db ] || fail "the experiment has begun"
expect 0 "$GODWIT" plan
says out 'Forecast, by the rehearsal of'
says out '^north +160 +'
expect 0 "$GODWIT" plan --json
says out '"forecast":\{'
expect 0 "$GODWIT" rehearse --json
says out '"passed":true'
expect 0 "$GODWIT" rehearse --quiet
[ ! -s out ] || fail "--quiet says: $(cat out)"

# --- a site lacks a program ---------------------------------------------------------------------------------------------
sed 's/^for/[ $GODWIT_SITE != south ] || no-such-program || exit 127\nfor/' good.sh >train.sh
expect 1 "$GODWIT" rehearse
says out '^south +no +no '
says out 'fault: south does not begin a run: exit code 127 \(run1-train_epoch0\)'
says out 'no-such-program: command not found'
says out '^north +yes +yes '

# --- a job does not go on from its checkpoint ---------------------------------------------------------------------------
sed 's/epoch = $(cat.*echo 0) + 1/epoch = 1/' good.sh >train.sh
expect 1 "$GODWIT" rehearse
says out 'fault: north resumed at epoch 1, not 2: its job does not go on from the checkpoint'

# --- numbers differ at a site, and memory is nearly all used -----------------------------------------------------------
sed 's/"val_loss\\":0.5/"val_loss\\":$([ $GODWIT_SITE = west ] \&\& echo 0.50005 || echo 0.5)/' good.sh >train.sh
expect 0 "$GODWIT" rehearse
says out '^west .* 1.0e-04 \(val_loss of epoch 1\)'
cp good.sh train.sh

# --- an evaluation fails at a site ---------------------------------------------------------------------------------------
cp evaluate.sh good_evaluate.sh
echo '[ $GODWIT_SITE != west ] || exit 4' >>evaluate.sh
expect 1 "$GODWIT" rehearse
says out 'fault: west does not evaluate a run: exit code 4'
cp good_evaluate.sh evaluate.sh

# --- one site, no evaluation, no rehearse key ---------------------------------------------------------------------------
sed '/^evaluation:/,/evaluate.sh/d; /^rehearse:/,/scale/d; /south\|west/d; s/samples: 5000/samples: 5/' experiment.yaml >one.yaml
expect 0 "$GODWIT" rehearse one.yaml
says out '^north +yes +yes '

# --- wrong uses -----------------------------------------------------------------------------------------------------------
sed 's/samples: 5}/sample: 5}/' experiment.yaml >bad.yaml
expect 2 "$GODWIT" rehearse bad.yaml
says err "bad.yaml:20:10: error: the experiment has no such variable: 'sample'"
says err "did you mean 'samples'"
expect 2 "$GODWIT" rehearse none.yaml
expect 2 "$GODWIT" rehearse --sites none.yaml
expect 2 "$GODWIT" rehearse --weeks 3
sed 's/train.sh/trian.sh/' experiment.yaml >bad.yaml
expect 2 "$GODWIT" rehearse bad.yaml
says err "no such executable: 'trian.sh'"
expect 0 "$GODWIT" rehearse --help

# --- the experiment itself goes on as if nothing had been rehearsed -----------------------------------------------------
sed -i 's/samples: 5000/samples: 5/' experiment.yaml
expect 0 "$GODWIT" run --quiet
expect 0 "$GODWIT" rehearse
expect 0 "$GODWIT" run --quiet
[ "$(find runs -maxdepth 1 -mindepth 1 | wc -l)" = 12 ] || fail "runs/ has $(ls runs | wc -l) folders instead of 12"

finish "faults of sites, of resuming and of evaluating are found before the experiment begins"
