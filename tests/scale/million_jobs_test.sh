#!/usr/bin/env bash
# A million jobs are ordinary: planned, and written as DAG files, within 500 MB; one more than the limit is refused.
set -euo pipefail
case $GODWIT_BUILD in *asan | *tsan) echo "SKIPPED: a sanitizer takes more memory"; exit 77 ;; esac
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

cat >experiment.yaml <<'END'
name: scale
submit_template: |
  executable = /bin/true
  transfer_executable = false
  arguments = $(alpha) $(epoch)
vars:
  alpha: {type: range, start: 0, stop: 10000, step: 1}
epochs: 100
epochs_per_job: 1
sites: [north, south]
END
printf '%s: {cpus: 1, mem: 1GB}\n' north south >sites.yaml

# The address space is more than the memory in use, so this bounds both.
limited() { (ulimit -v 512000 && exec timeout 100 "$@"); }
limited "$GODWIT" plan | tee plan.txt
grep -q '10,\?000 training runs' plan.txt
grep -q '1,\?000,\?000 training jobs' plan.txt
limited "$GODWIT" dag -o dag >/dev/null
jobs=$(cat dag/*.dag | grep -c '^JOB ')
[ "$jobs" -eq 1000000 ] || { echo "$jobs JOB lines in the DAG files"; exit 1; }

sed -i 's/stop: 10000/stop: 10001/' experiment.yaml
code=0
"$GODWIT" plan 2>error.txt || code=$?
cat error.txt
[ $code -eq 2 ] && grep -q 'experiment.yaml:[0-9]' error.txt && grep -q -- '--limit' error.txt
