#!/usr/bin/env bash
# An unmodified PyTorch Lightning script: a run of six jobs over two sites, one of them evicted in the middle, has whole
# curves, every epoch once, and is one run in an MLflow file store.
#
# Needs scripts/setup --lightning; says so and skips where that is not there.
# test-timeout: 900
# test-slots: 2
set -u
venv=$GODWIT_SOURCE/build/lightning
if [ ! -x "$venv/bin/python3" ] || ! "$venv/bin/python3" -c 'import pytorch_lightning, mlflow' 2>/dev/null; then
  echo "SKIPPED: PyTorch Lightning is not installed; scripts/setup --lightning installs it in build/lightning" >&2
  exit 77
fi
. "$GODWIT_SOURCE/tests/lib.sh"
PATH=$venv/bin:$PATH
export PYTHONWARNINGS=ignore OMP_NUM_THREADS=1

# Runs the example with ROWS rows of data and stops it within its second job; says whether a job was evicted by that.
stopped_within_a_job() { # ROWS
  local table=.godwit/sandboxes/run0-train_epoch1.1.job/logs/metrics.csv engine
  rm -rf "$work/$1" && mkdir "$work/$1" && cd "$work/$1" || exit 1
  cp "$GODWIT_SOURCE"/examples/lightning/* .
  sed -i "s/--seed/--rows $1 --seed/" experiment.yaml
  "$GODWIT" run --quiet > out 2> err &
  engine=$!
  # The second job has done its first epoch (a header and two rows) and has another to go.
  for _ in $(seq 900); do
    [ -e $table ] && [ "$(wc -l < $table)" -ge 3 ] && break
    kill -0 $engine 2>/dev/null || break
    sleep 0.05
  done
  "$GODWIT" stop > stopped 2>&1
  wait $engine
  endings
  grep -q "evicted" endings
}

endings() {
  sqlite3 .godwit/journal.db "SELECT node || ' ' || attempt || ' ' || json_extract(json, '\$.outcome') FROM event
    WHERE kind = 'attempt_ended'" > endings
}

# How long a job takes is the machine's affair: more data until a stop comes before the job's own end.
for rows in 8192 32768 131072; do
  stopped_within_a_job $rows && break
  echo "with $rows rows every job ended before it could be stopped" >&2
done
"$GODWIT" run --quiet > out 2> err || fail "run: $(cat err); $("$GODWIT" why)"

# Every epoch once, from the journal, with both losses.
endings
grep -q "evicted" endings || fail "no job was evicted: $(cat endings stopped)"
[ "$(grep -c 'exited' endings)" = 6 ] || fail "not six jobs: $(cat endings)"
"$GODWIT" compare --json > compare.json 2> err
sqlite3 .godwit/journal.db "SELECT json_extract(json, '\$.epoch'), json_extract(json, '\$.train_loss') IS NOT NULL,
  json_extract(json, '\$.val_loss') IS NOT NULL FROM event WHERE kind = 'epoch' ORDER BY 1" > epochs
seq 12 | sed 's/$/|1|1/' > expected
grep '|1|1$' epochs | sort -nu | cmp -s - expected || fail "the epochs are not whole: $(cat epochs)"
"$GODWIT" status > out 2>&1 || fail "status"
grep -q "12" out || fail "status does not show 12 epochs: $(cat out)"

# One run in MLflow, with its own client.
python3 - <<'PYTHON' || fail "the MLflow store"
from mlflow.tracking import MlflowClient

client = MlflowClient("mlruns")
experiments = [e for e in client.search_experiments() if e.name == "lightning"]
assert len(experiments) == 1, experiments
assert [e.name for e in client.search_experiments() if e.name == "lightning_logs"] == []
runs = client.search_runs([experiments[0].experiment_id])
assert len(runs) == 1, runs
history = client.get_metric_history(runs[0].info.run_id, "val_loss")
epochs = client.get_metric_history(runs[0].info.run_id, "epoch")
assert sorted({int(m.value) for m in epochs}) == list(range(12)), epochs
assert len({m.step for m in history}) >= 12, history
assert runs[0].info.status == "FINISHED", runs[0].info.status
print("one run in MLflow with", len(history), "values of val_loss")
PYTHON
finish
