#!/usr/bin/env bash
# test-serial: yes
# test-timeout: 900
# A month of an experiment's life, in some minutes, with the program of examples/protein_lm: a rehearsal catches a site's
# fault; values are inserted while runs are under way; epochs are raised; the disk fills up; a site is drained; somebody
# meddles with a checkpoint; fewer checkpoints are kept from then on; a colleague takes over; runs are stopped early. At the
# end no finished epoch was computed twice, no checkpoint is lost, and `compare` names the run that was meddled with.
set -u
program=$GODWIT_BUILD/bin/protein_lm_x86_64
v3=$GODWIT_BUILD/bin/protein_lm_x86_64_v3
[ -x "$program" ] || { echo "SKIPPED: the example's program is not built"; exit 77; }
grep -qw avx2 /proc/cpuinfo && grep -qw fma /proc/cpuinfo || v3=$program
work=$(mktemp -d)
disk=no
cleanup() {
  "$GODWIT" stop --now "$work/lab" >/dev/null 2>&1
  pkill -f "supervise $work/"
  [ $disk = no ] || umount -l "$work/lab"
  rm -rf "$work"
}
trap cleanup EXIT
mkdir -m 2775 "$work/lab"
chmod 755 "$work"
# A disk of its own that can be filled, where mounting is allowed.
if mount -t tmpfs -o size=64m,mode=2775 tmpfs "$work/lab" 2>/dev/null; then disk=yes; fi
cd "$work/lab" || exit 1
umask 002
fail() {
  echo "FAILED: $*" >&2
  exit 1
}
day() { echo "== $*"; }
expect() { # expect CODE COMMAND…
  local code=$1 got
  shift
  "$@" >"$work/out" 2>"$work/err"
  got=$?
  [ "$got" = "$code" ] || fail "exit $got instead of $code: $*
$(tail -n 40 "$work/out"; tail -n 40 "$work/err")"
}
says() { grep -qE -- "$2" "$work/$1" || fail "$1 does not say: $2
$(head -60 "$work/$1")"; }
journal() { sqlite3 .godwit/journal.db "$1"; }
jobs_done() {
  if [ -s .godwit/journal.db ]; then journal "select count(*) from event where kind='node_done'"; else echo 0; fi
}
# run_some OPTION…: an engine at work until some more jobs are done, then stopped as one does.
run_some() {
  local engine wanted
  wanted=$(($(jobs_done) + 6))
  "$GODWIT" run --quiet "$@" &
  engine=$!
  for _ in $(seq 600); do
    [ "$(jobs_done)" -lt $wanted ] || break
    kill -0 $engine 2>/dev/null || break
    sleep 0.1
  done
  "$GODWIT" stop >/dev/null 2>&1
  wait "$engine"
}

mkdir bin
cp "$program" bin/protein_lm_alder
cp "$v3" bin/protein_lm_birch
cp "$v3" bin/protein_lm_cedar
"$program" simulate --variants 600 -o energies.tsv >/dev/null || fail "no data"
RATES="2e-3, 6e-3" EPOCHS=8 SITES="[alder, birch, cedar]" MORE=""
write() {
  cat >experiment.yaml <<YAML
name: month
seed: 12
submit_template: |
  executable = bin/protein_lm_\$(ResourceName)
  arguments = pretrain --data energies.tsv --lr \$(learning_rate) --seed \$(random_seed) --epochs 40
  transfer_input_files = energies.tsv
  request_memory = 200MB
vars: {learning_rate: [$RATES]}
replicates: 2
epochs: $EPOCHS
epochs_per_job: 2
sites: $SITES
placement: shuffle
baseline: birch
checkpoint: {path: checkpoint.safetensors, best: best.safetensors}
compare: {metric: val_loss, margin: 0.5}
evaluation:
  every: 4
  submit_template: |
    executable = bin/protein_lm_\$(ResourceName)
    arguments = evaluate --measurements 20 --held-out 50
    request_memory = 200MB
rehearse: {epochs: 1}
$MORE
YAML
}
cat >sites.yaml <<'YAML'
alder: {cpus: 1, slots: 1}
birch: {cpus: 1, slots: 2}
cedar: {cpus: 1, slots: 1, setup: [module-that-is-missing load python]}
YAML
write

day "1: a rehearsal finds that cedar lacks a module"
expect 1 "$GODWIT" rehearse
says out 'fault: cedar does not begin a run'
says out 'module-that-is-missing'
[ ! -e .godwit/journal.db ] || fail "a rehearsal began the experiment"
sed -i 's/, setup: .*}/}/' sites.yaml
expect 0 "$GODWIT" rehearse
says out '^alder +yes +yes +yes'
says out '^cedar +yes +yes +yes'
expect 0 "$GODWIT" plan
says out 'Forecast, by the rehearsal of'

day "2: the experiment begins"
run_some
[ "$(jobs_done)" -gt 0 ] || fail "nothing was done in a minute"

day "5: two values come in between"
ids=$("$GODWIT" status --json | grep -o '"run_uuid":"[0-9a-f]*","seed":[0-9]*')
RATES="2e-3, 3e-3, 4e-3, 6e-3"
write
expect 2 "$GODWIT" run --quiet
says err 'not what it was when it was started'
run_some --yes
[ "$("$GODWIT" status --json | grep -o '"run_uuid":"[0-9a-f]*","seed":[0-9]*' | head -8)" = "$ids" ] ||
  fail "the inserted values changed other runs"

day "9: more epochs"
EPOCHS=12
write
expect 0 "$GODWIT" plan
says out 'extended'
run_some --yes

if [ $disk = yes ]; then
  day "12: the disk is full for a while"
  "$GODWIT" run --quiet &
  engine=$!
  cat /dev/zero >filler 2>/dev/null
  for _ in $(seq 100); do
    "$GODWIT" status 2>/dev/null >"$work/out" && grep -q 'disk' "$work/out" && break
    sleep 0.1
  done
  says out 'disk'
  rm filler
  sleep 2
  "$GODWIT" stop >/dev/null 2>&1
  wait $engine
  [ "$(journal "select count(*) from event where kind='paused'")" -ge 1 ] || fail "no pause was recorded"
  [ "$(journal "select count(*) from event where kind='attempt_ended' and json like '%\"retried\"%'")" = 0 ] ||
    fail "the full disk spent a retry"
else
  echo "== 12: SKIPPED: filling a disk needs leave to mount one"
fi

day "15: cedar is drained while jobs run there"
"$GODWIT" run --quiet &
engine=$!
sleep 1.5
kill -KILL $engine
wait $engine 2>/dev/null
SITES="[alder, birch]"
write
run_some --yes
expect 0 "$GODWIT" status
says out '^alder'

day "18: all that was asked for is done"
expect 0 "$GODWIT" run --quiet
expect 0 "$GODWIT" compare
says out '16 of 16 runs finished'

day "21: somebody meddles with a checkpoint of run 1"
uuid=$(journal "select json_extract(json, '$.run_uuid') from event where kind='run' and json_extract(json, '$.number')=1 limit 1")
meddled=runs/$uuid/checkpoints/12/checkpoint.safetensors
printf '\x55\x55' | dd of="$meddled" bs=1 seek=$(($(stat -c %s "$meddled") / 2)) conv=notrunc status=none

day "22: more epochs, fewer checkpoints kept, and an engine that dies again and again"
EPOCHS=16 MORE="keep: {last: 2, every: 4}"
write
for _ in 1 2 3 4; do
  "$GODWIT" run --quiet --yes &
  engine=$!
  sleep 0.7
  kill -KILL $engine 2>/dev/null
  wait $engine 2>/dev/null
done
expect 1 "$GODWIT" run --quiet --yes
expect 0 "$GODWIT" why run1
says out 'not what the job before it left'
# "It is meant so", says who did it.
expect 0 "$GODWIT" retry --accept run1
expect 0 "$GODWIT" run --quiet

day "24: a colleague takes over while jobs run, and ends runs that get no better"
EPOCHS=20 MORE="$MORE
early_stop: {metric: val_loss, patience: 1, min_delta: 10}"
write
"$GODWIT" run --quiet --yes &
engine=$!
sleep 0.7
cp "$GODWIT" "$work/godwit"
colleague() { setpriv --reuid=65534 --regid=0 --clear-groups env HOME=/nonexistent "$work/godwit" "$@"; }
if [ "$(id -u)" = 0 ] && colleague version >/dev/null 2>&1; then
  expect 2 colleague run --quiet
  says err "this experiment is $(id -un)'s"
  expect 0 colleague take-over --yes --stop-first
  wait $engine
  expect 2 "$GODWIT" run --quiet
  expect 0 colleague run --quiet
  [ "$(journal "select count(*) from event where kind='taken_over'")" = 1 ] || fail "the take-over is not recorded"
else
  echo "SKIPPED the second user: it takes root and setpriv" >&2
  wait $engine
fi
[ "$(journal "select count(*) from event where kind='run_pruned'")" = 16 ] || fail "not every run was stopped early"
TRAINED=18 # each has one more job, and then no hope of improving by 10

day "28: what came of it"
expect 0 "$GODWIT" status
says out 'succeeded'
# An attempt that the full disk ended could not save its last epoch; all others are trained once.
twice=$(journal "select node || ' epoch ' || json_extract(json, '$.epoch') from event where kind='epoch' and node like '%train%'
  and node not in (select node from event where kind='attempt_ended' and json like '%disk_full%')
  group by node, json_extract(json, '$.epoch') having count(*) > 1")
[ -z "$twice" ] || fail "trained twice: $twice"
epochs=$(journal "select count(distinct node || json_extract(json, '$.epoch')) from event where kind='epoch' and node like '%train%'")
[ "$epochs" = $((16 * TRAINED)) ] || fail "$epochs epochs are recorded instead of $((16 * TRAINED))"
for run in $(journal "select distinct json_extract(json, '$.run_uuid') from event where kind='run'"); do
  for epoch in 4 8 12 16 18; do
    [ -s "runs/$run/checkpoints/$epoch/checkpoint.safetensors" ] || fail "run $run has lost its checkpoint of epoch $epoch"
  done
  # What went before the checkpoint that was meddled with stays: its successor is not what it was.
  [ "$run" = "$uuid" ] || [ ! -e "runs/$run/checkpoints/10/checkpoint.safetensors" ] || fail "run $run keeps the checkpoint of epoch 10"
done
expect 0 "$GODWIT" compare
says out 'Invalid and left out of every mean, pair and verdict: run 1 \('
says out 'epoch 13 began with'
expect 0 "$GODWIT" compare --json
[ "$(grep -o '"valid":false' "$work/out" | wc -l)" = 1 ] || fail "compare names more than the run that was meddled with"
[ "$(journal 'pragma integrity_check')" = ok ] || fail "the journal is damaged"
echo "a month: $epochs epochs of 16 runs once each, every checkpoint where it should be, the meddled run named"
