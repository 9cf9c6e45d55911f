#!/usr/bin/env bash
# plan, dag, init and schema from the command line: what they print, where, and their exit codes.
. "$GODWIT_SOURCE/tests/lib.sh"
data=$GODWIT_SOURCE/tests/data/experiments

# --- init, plan -----------------------------------------------------------------------------------------------------
expect 0 "$GODWIT" init mine
says out "wrote mine/experiment.yaml"
expect 2 "$GODWIT" init mine
says err "mine/experiment.yaml is there already; nothing was written"
expect 0 "$GODWIT" plan mine
says out "6 training runs (3 migrate, 3 stay at north), 24 training jobs, 12 evaluation jobs"
says out "128 MB"
says out " → "
(cd mine && "$GODWIT" plan > "$work/here") || fail "plan without FILE"
cmp -s out here || [ -s here ] || fail "plan without FILE says nothing"
expect 0 "$GODWIT" plan mine --json
says out '"training_runs":6'
expect 2 "$GODWIT" plan "$work"
says err "no experiment.yaml in"
expect 2 "$GODWIT" plan nowhere.yaml
says err "no such experiment file: 'nowhere.yaml'"
expect 2 "$GODWIT" plan mine --sites nowhere.yaml
says err "nowhere.yaml: No such file or directory"
expect 2 "$GODWIT" plan mine --limit 10
says err "more than the limit of 10 jobs"
says err "experiment.yaml:"

# Options' values that are wrong, and options that exclude each other: what to write instead.
expect 2 "$GODWIT" plan mine --limit 99999999999999999999999
says err "--limit: write a whole number up to 18446744073709551615, not '99999999999999999999999'"
expect 2 "$GODWIT" plan mine --limit -1
says err "--limit: write a whole number, 1 or more, not '-1'"
expect 2 "$GODWIT" plan mine --limit many
says err "--limit: write a whole number, 1 or more, not 'many'"
expect 2 "$GODWIT" plan mine --nodes
says err "--nodes requires --json"
expect 2 "$GODWIT" plan mine --json --graph dot
says err "excludes"
expect 2 "$GODWIT" plan mine --graph dott
says err "--graph: write dot, svg, mermaid, not 'dott'; did you mean 'dot'?"
expect 2 "$GODWIT" logs run0-train_epoch1 --attempt 0
says err "--attempt: write a whole number from 1 to 1000000, not '0'"
expect 2 "$GODWIT" compare --rows -1
says err "--rows: write a whole number, 1 or more, not '-1'"
expect 2 "$GODWIT" status --rows 0
says err "--rows: write a whole number, 1 or more, not '0'"
expect 2 "$GODWIT" status --interval 0
says err "--interval: write a number from 0.1 to 86400, not '0'"
expect 2 "$GODWIT" compare --better up
says err "--better: write low, high, not 'up'"
# One JSON document, in one line.
expect 0 "$GODWIT" run mine --dry-run --json
[ "$(wc -l < out)" = 1 ] || fail "run --dry-run --json prints more than a line"
says out '"jobs":36'

# Control characters reach neither the terminal nor a picture.
mkdir control
printf 'name: c\nsubmit_template: |\n  executable = /bin/true\n  arguments = $(x)\nvars: {x: ["\\e[31mred"]}\nepochs: 2\n' > control/experiment.yaml
printf 'name: c\nsubmit_template: |\n  executable = /bin/true\n"k\\e[31m": 1\n' > control/wrong.yaml
for arguments in "" "--graph dot" "--graph mermaid" "--graph svg"; do
  # shellcheck disable=SC2086
  expect 0 "$GODWIT" plan control $arguments
  ! grep -q "$(printf '\033')" out err || fail "plan $arguments lets an escape sequence through"
done
expect 2 "$GODWIT" plan control/wrong.yaml
! grep -q "$(printf '\033')" out err || fail "an error lets an escape sequence through"

# A journal that is none, and one that is empty.
cp -r mine lost && mkdir lost/.godwit && echo "not a database at all, though long enough" > lost/.godwit/journal.db
expect 2 "$GODWIT" status lost
says err "the journal has been overwritten"
says err "put a copy of journal.db back"
expect 2 "$GODWIT" run lost --quiet
says err "put a copy of journal.db back"
: > lost/.godwit/journal.db
expect 2 "$GODWIT" status lost
says err "is empty: nothing has been run yet"

# A folder without leave to write: nothing is begun.
if [ "$(id -u)" = 0 ] && command -v setpriv > /dev/null; then
  unprivileged() { setpriv --reuid=65534 --regid=65534 --clear-groups env XDG_STATE_HOME="$work/nobody" "$@"; }
else
  unprivileged() { "$@"; }
fi
chmod 755 "$work"
for case in none state folder; do
  rm -rf locked && cp -r mine locked
  [ $case = none ] || mkdir -p locked/.godwit
  [ $case != folder ] || { mkdir locked/.godwit/inbox locked/.godwit/sandboxes && chmod -R 777 locked/.godwit; }
  [ $case != state ] || chmod 555 locked/.godwit
  chmod 555 locked
  for arguments in --quiet --detach --once; do
    expect 2 unprivileged "$GODWIT" run locked $arguments
    says err ": Permission denied"
    says err "copy the experiment to a folder where you may write"
    [ "$(grep -c "Permission denied" err)" = 1 ] || fail "one message is enough: $(cat err)"
  done
  [ ! -e locked/runs ] || fail "something was run in a folder that cannot be written"
  chmod -R u+w locked
done

# The slides' experiment is right, though it cannot run here.
expect 0 "$GODWIT" plan "$data/global_pretraining"
says out "10 training runs, 60 training jobs"
says out "Cannot run here"
says out "universe = container"

# A mistake gives exit code 2, and nothing on standard output.
expect 2 "$GODWIT" plan "$data/bad/unknown_keys.yaml"
[ ! -s out ] || fail "a mistake prints to standard output"
says err "did you mean 'epochs'?"

for format in dot svg mermaid; do
  expect 0 "$GODWIT" plan mine --graph $format
  says out "run0-train_epoch0"
done
expect 2 "$GODWIT" plan mine --graph png

# --- dag ------------------------------------------------------------------------------------------------------------
expect 0 "$GODWIT" dag "$data/global_pretraining" -o slides
dag=$(ls slides/*.dag)
count() { grep -c "$1" "$dag"; }
[ "$(count '^JOB ')" = 60 ] || fail "$(count '^JOB ') JOB lines"
[ "$(count '^PARENT run[0-9]*-train_epoch[0-9]* CHILD run[0-9]*-train_epoch[0-9]*$')" = 50 ] || fail "PARENT lines"
for text in 'request_cpus = 1' 'request_memory = 4096' 'request_disk = 10GB' 'gpus_minimum_memory = 0' \
  'arguments = pretrain.py --learning_rate=$(alpha)' 'SUBMIT-DESCRIPTION default_train' 'NODE_STATUS_FILE'; do
  grep -qF -- "$text" "$dag" || fail "the Dag lacks: $text"
done
vars=$(grep '^VARS run0-train_epoch0 ' "$dag")
for name in epoch run_uuid random_seed ResourceName epochs epochs_per_job run_number alpha; do
  case $vars in *" $name=\""*) ;; *) fail "VARS of run0-train_epoch0 lacks $name: $vars" ;; esac
done
expect 0 "$GODWIT" dag "$data/global_pretraining" -o again
cmp -s "$dag" again/*.dag || fail "the same experiment gives another Dag"

cat > mine/more.yaml <<'YAML'
name: more
epochs: 2
submit_template: |
  executable = train.sh
  arguments = 0.1 1
retry: {count: 2, unless_exit: 3}
max_jobs: {north: 1, total: 5}
scripts: {pre: [/bin/echo, $JOB]}
services:
  watch: |
    executable = /bin/true
    transfer_executable = false
YAML
expect 0 "$GODWIT" dag mine/more.yaml -o mine/dag --json
says out '"nodes":3'
dag=mine/dag/more.dag
for text in 'RETRY run0-train_epoch0 2 UNLESS-EXIT 3' 'SCRIPT PRE run0-train_epoch0 /bin/echo $JOB' \
  'PRIORITY run0-train_epoch1 1' 'MAXJOBS north 1' 'CONFIG more.config' 'SERVICE watch '; do
  grep -qF -- "$text" "$dag" || fail "the Dag lacks: $text"
done
grep -qx 'DAGMAN_MAX_JOBS_SUBMITTED = 5' mine/dag/more.config || fail "more.config: $(cat mine/dag/more.config)"
expect 2 "$GODWIT" dag mine

# --- schema ---------------------------------------------------------------------------------------------------------
for file in experiment sites; do
  expect 0 "$GODWIT" schema $file
  says out '"$schema": "https://json-schema.org/draft/2020-12/schema"'
done
expect 2 "$GODWIT" schema nonsense

finish
