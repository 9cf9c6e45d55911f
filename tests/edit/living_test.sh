#!/usr/bin/env bash
# A living experiment is edited again and again while it runs and while its engine is killed: every epoch of every run is
# trained exactly once, and each edit needs leave.
. "$GODWIT_SOURCE/tests/fault/experiment.sh"
work=$(mktemp -d)
trap '"$GODWIT" stop --now "$work" >/dev/null 2>&1; rm -rf "$work"' EXIT
cd "$work" || exit 1
expect() { # expect CODE COMMAND…
  local code=$1 got
  shift
  "$@" >"$work/out" 2>"$work/err"
  got=$?
  [ "$got" = "$code" ] || fail "exit $got instead of $code: $* $(cat "$work/err")"
}
says() { grep -qF -- "$2" "$work/$1" || fail "$1 does not say: $2 $(head -60 "$work/$1")"; }

# Trains an epoch in some hundredths of a second, tells of it outside the sandbox, and leaves with a checkpoint when told.
cat >train.sh <<'SCRIPT'
#!/bin/bash
leave=no
trap 'leave=yes' TERM
last=0
[ ! -e model ] || read -r last <model # no child: the group gets SIGTERM, and a child would die of it
for ((epoch = last + 1; epoch <= GODWIT_LAST_EPOCH; epoch++)); do
  sleep 0.03
  echo "$GODWIT_RUN $epoch" >>"$1/trained"
  echo $epoch >model
  echo "{\"epoch\":$epoch,\"loss\":$((1000 / epoch))}" >>metrics.jsonl
  [ $leave = yes ] && [ $epoch -lt $GODWIT_LAST_EPOCH ] && exit 85
done
exit 0
SCRIPT
chmod +x train.sh
# write ALPHAS EPOCHS SITES MEMORY
write() {
  cat >experiment.yaml <<YAML
name: living
submit_template: |
  executable = train.sh
  arguments = $work
  request_memory = $4MB
vars: {alpha: [$1]}
epochs: $2
epochs_per_job: 3
checkpoint: model
sites: [$3]
YAML
}
printf '%s: {cpus: 1, slots: 2}\n' north south west >sites.yaml
events() { sqlite3 .godwit/journal.db 'select count(*) from event'; }
# storm KILLS OPTION…: kills the engine at random instants.
storm() {
  local kills=$1
  shift
  for ((i = 0; i < kills; i++)); do
    "$GODWIT" run --quiet "$@" 2>/dev/null &
    random_sleep 200
    kill -KILL $! 2>/dev/null
    wait $! 2>/dev/null
  done
}

write "0.1, 0.2, 0.4" 6 "north, south" 100
"$GODWIT" run --once --quiet || fail "it does not begin"
storm 3
before=$("$GODWIT" status --json | grep -o '"run_uuid":"[0-9a-f]*","seed":[0-9]*')
count=$(events)

# --- an edit needs leave, and is nothing until then -----------------------------------------------------------------
write "0.1, 0.15, 0.2, 0.4" 9 "north, south" 100
expect 2 "$GODWIT" run --quiet
says err "the experiment is not what it was when it was started"
says err "godwit run --yes"
expect 2 "$GODWIT" run
says err "experiment.epochs: 6 → 9"
says err "experiment.vars.alpha: [0.1, 0.2, 0.4] → [0.1, 0.15, 0.2, 0.4]"
says err "alpha = 0.15 is new"
says err "3 extended, 1 new"
expect 2 "$GODWIT" run --once
expect 2 "$GODWIT" run --detach
expect 2 "$GODWIT" run --json
says out '"path":"experiment.epochs"'
[ "$(events)" = "$count" ] || fail "an edit that was not agreed to is in the journal"
expect 0 "$GODWIT" plan --json
says out '"fate":"extended"'
expect 0 "$GODWIT" run --dry-run

# --- runs inserted and extended, the engine killed meanwhile --------------------------------------------------------
storm 4 --yes
[ "$("$GODWIT" status --json | grep -o '"run_uuid":"[0-9a-f]*","seed":[0-9]*' | head -3)" = "$before" ] ||
  fail "an inserted value changed the ids or seeds of other runs"

# --- a changed template and changed code --------------------------------------------------------------------------------
write "0.1, 0.15, 0.2, 0.4" 15 "north, south" 100
expect 0 "$GODWIT" run --once --yes --quiet
write "0.1, 0.15, 0.2, 0.4" 15 "north, south" 120
echo '# changed' >>train.sh
expect 2 "$GODWIT" run
says err "- request_memory = 100MB"
says err "+ request_memory = 120MB"
says err "train.sh: "
says err "the changed submit_template, train.sh"
storm 3 --yes

# --- a site leaves while jobs run there: they checkpoint and go on elsewhere -------------------------------------------
write "0.1, 0.15, 0.2, 0.4" 36 "north, south" 120
revisions=$(sqlite3 .godwit/journal.db "select count(*) from event where kind='dag'")
"$GODWIT" run --yes --quiet &
for _ in $(seq 500); do
  [ "$(sqlite3 -readonly .godwit/journal.db "select count(*) from event where kind='dag'")" = "$revisions" ] || break
  sleep 0.01
done
expect 2 "$GODWIT" run
says err "is in use by process"
write "0.1" 36 "north" 120
expect 2 "$GODWIT" run --yes
says err "an engine is at work on this experiment as it was before it was edited"
kill -KILL $! && wait $! 2>/dev/null
write "0.1, 0.15, 0.2, 0.4" 36 "west, south" 120
storm 3 --yes

# --- a run is given up while it runs, and comes back -------------------------------------------------------------------
write "0.1, 0.15, 0.4" 36 "west, south" 120
storm 2 --yes
write "0.1, 0.15, 0.2, 0.4" 36 "west, south" 120
storm 2 --yes
expect 0 "$GODWIT" run --yes --quiet
expect 0 "$GODWIT" run --quiet
expect 0 "$GODWIT" status --json
says out '"orphaned":false'

# An attempt that was sent away because its run was given up leaves nothing behind, so its epochs are trained again when
# the run comes back; all others once.
uuid_of() { "$GODWIT" status --json | grep -o "\"run_uuid\":\"[0-9a-f]*\",[^{]*\"values\":{\"alpha\":\"$1\"}" | cut -d'"' -f4; }
given_up=$(uuid_of 0.2)
[ -n "$given_up" ] || fail "there is no run of alpha 0.2"
for alpha in 0.1 0.15 0.2 0.4; do
  uuid=$(uuid_of "$alpha")
  epochs=$(grep "^$uuid " trained | cut -d' ' -f2 | sort -n)
  if [ "$uuid" = "$given_up" ]; then epochs=$(uniq <<<"$epochs"); fi
  [ "$epochs" = "$(seq 36)" ] || fail "alpha $alpha trained the epochs: $(tr '\n' ' ' <<<"$epochs")"
  [ "$(cat "runs/$uuid/checkpoints/36/model")" = 36 ] || fail "alpha $alpha has no last checkpoint"
done
[ "$(wc -l <trained)" -le $((4 * 36 + 3)) ] || fail "the run that was given up trained too much twice"

# --- an orphan stays explained, and is not compared ----------------------------------------------------------------------
write "0.1, 0.15, 0.4" 36 "west, south" 120
expect 0 "$GODWIT" run --yes --quiet
expect 0 "$GODWIT" status
says out "1 run that the experiment no longer has"
expect 0 "$GODWIT" why "$given_up"
says out "the experiment no longer has this job"
expect 0 "$GODWIT" compare
says out "3 of 3 runs finished"

# --- another experiment has no place here ----------------------------------------------------------------------------------
sed 's/name: living/name: other/' experiment.yaml >other.yaml
expect 2 "$GODWIT" run --yes other.yaml
says err "the state beside other.yaml is of experiment.yaml"
expect 0 "$GODWIT" plan other.yaml

[ "$(sqlite3 .godwit/journal.db 'pragma integrity_check')" = ok ] || fail "the journal is damaged"
echo "every epoch trained once over $(sqlite3 .godwit/journal.db "select count(*) from event where kind = 'dag'") definitions"
