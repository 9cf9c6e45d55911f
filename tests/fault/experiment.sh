# Sourced by the fault tests: an experiment of RUNS runs × JOBS jobs whose every job leaves a trace, and the checks
# that say whether each finished job took effect exactly once.
#
#   GODWIT   the binary            RUNS, JOBS   the size (default 20 × 10)

set -u
: "${GODWIT:?GODWIT names the godwit binary}"
RUNS=${RUNS:-20}
JOBS=${JOBS:-10}

fail() {
  echo "FAILED: $*" >&2
  exit 1
}

# make_experiment DIR [SECONDS]: jobs that take SECONDS, carry a checkpoint, and add a line to effects.log when done.
make_experiment() {
  mkdir -p "$1"
  cat > "$1/experiment.yaml" <<YAML
name: fault
submit_template: |
  executable = train.sh
  arguments = \$(first_epoch) \$(last_epoch) \$(run) ${2:-0.05} $1/effects.log
  request_cpus = 1
  request_memory = 64
  job_max_vacate_time = 2
vars:
  run: {type: range, stop: $RUNS}
epochs: $JOBS
epochs_per_job: 1
checkpoint: {path: model.txt}
retry: {count: 3}
YAML
  cat > "$1/sites.yaml" <<'YAML'
one: {executor: local, cpus: 1, mem_mb: 64, slots: 2}
two: {executor: local, cpus: 1, mem_mb: 64, slots: 2}
YAML
  cat > "$1/train.sh" <<'SH'
#!/bin/sh
# train.sh FIRST LAST RUN SECONDS EFFECTS: each epoch adds a line that depends on all before it.
set -e
touch model.txt
epoch=$1
while [ "$epoch" -le "$2" ]; do
  if ! grep -q "^epoch $epoch " model.txt; then
    sum=$(cksum < model.txt | cut -d' ' -f1)
    cp model.txt model.new
    echo "epoch $epoch run $3 after $sum" >> model.new
    mv model.new model.txt
  fi
  sleep "$4"
  echo "{\"epoch\":$epoch,\"val_loss\":$((100 - epoch))}" >> metrics.jsonl
  epoch=$((epoch + 1))
done
echo "$3 $1" >> "$5"
SH
  chmod +x "$1/train.sh"
}

# models DIR: one digest over every run's last checkpoint; equal for equal results.
models() {
  (cd "$1/runs" && find . -path "*/checkpoints/$JOBS/model.txt" | sort | xargs cat | cksum)
}

# check_results DIR REFERENCE: everything done, once, and equal to the undisturbed run's.
check_results() {
  done_nodes=$(cd "$1" && sqlite3 .godwit/journal.db "select count(*) from event where kind='node_done'")
  distinct=$(cd "$1" && sqlite3 .godwit/journal.db "select count(distinct node) from event where kind='node_done'")
  [ "$done_nodes" = $((RUNS * JOBS)) ] || fail "$done_nodes node_done events, expected $((RUNS * JOBS))"
  [ "$distinct" = "$done_nodes" ] || fail "some node was done twice"
  [ "$(cd "$1" && sqlite3 .godwit/journal.db 'pragma integrity_check')" = ok ] || fail "the journal is damaged"
  [ "$(models "$1")" = "$(models "$2")" ] || fail "the models differ from the undisturbed run's"
  # Of attempts that did not succeed a few sandboxes are kept, to be looked into.
  kept=$(find "$1/.godwit/sandboxes" -mindepth 1 -maxdepth 1 -type d -name "[!.]*" | wc -l)
  [ "$kept" -le 10 ] || fail "$kept sandboxes were left behind: $(ls -a "$1/.godwit/sandboxes" | tr "\n" " ")"
}

# check_effects DIR: each job's effect outside its sandbox exactly once.
check_effects() {
  lines=$(wc -l < "$1/effects.log")
  distinct=$(sort -u "$1/effects.log" | wc -l)
  [ "$lines" = $((RUNS * JOBS)) ] || fail "$lines effects, expected $((RUNS * JOBS))"
  [ "$distinct" = "$lines" ] || fail "some job took effect twice: $(sort "$1/effects.log" | uniq -d | head -3)"
}

# A random number of seconds below $1 (milliseconds), from a generator that SEED makes repeatable.
SEED=${SEED:-1}
random_sleep() {
  SEED=$(((SEED * 1103515245 + 12345) % 2147483648))
  sleep "$(awk -v r="$SEED" -v most="$1" 'BEGIN { printf "%.3f", (r / 65536 % 10000) / 10000 * most / 1000 }')"
}
