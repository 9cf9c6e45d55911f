#!/usr/bin/env bash
# godwit debug: the sandbox of a node that failed, with its checkpoint, inputs, environment, setup lines and secrets; it
# is gone afterwards and the journal is as it was. Failed sandboxes are kept to a limit. Ten wrong uses.
. "$GODWIT_SOURCE/tests/lib.sh"
export XDG_CONFIG_HOME=$work/config
mkdir "$work/mine"
cd "$work/mine" || exit 1
cat > train.sh <<'JOB'
#!/bin/sh
echo "epoch $GODWIT_LAST_EPOCH of $1" >> model.bin
[ "$GODWIT_LAST_EPOCH" != 2 ] || exit 9
JOB
chmod +x train.sh
echo "the data" > data.txt
cat > experiment.yaml <<'YAML'
name: broken
submit_template: |
  executable = train.sh
  arguments = "$(x) 'two words'"
  transfer_input_files = data.txt
  environment = "OWN='a b'"
vars: {x: [1, 2, 3]}
epochs: 3
sites: {here: {executor: local, slots: 1, setup: [export FROM_SETUP=yes]}}
checkpoint: model.bin
secrets: [HUSH]
keep_sandboxes: 2
YAML
export HUSH=secret-value
expect 0 "$GODWIT" debug run0-train_epoch0 -- sh -c 'ls; echo "$GODWIT_LAST_EPOCH"'   # before anything has run
says out "train.sh"
expect 1 "$GODWIT" run --quiet
[ "$(ls -d .godwit/sandboxes/*.job | wc -l)" = 2 ] || fail "not two sandboxes are kept: $(ls .godwit/sandboxes)"
events() { sqlite3 .godwit/journal.db 'SELECT count(*), max(seq) FROM event'; ls -R .godwit/sandboxes .godwit/spool runs | sha256sum; }
before=$(events)

expect 0 "$GODWIT" debug run0-train_epoch1 -- sh -c 'pwd; cat model.bin data.txt; ls train.sh; echo "$OWN|$FROM_SETUP|$HUSH|$GODWIT_SITE|$GODWIT_FIRST_EPOCH|$GODWIT_SANDBOX"'
says out "epoch 1 of 1"
says out "the data"
says out "a b|yes|secret-value|here|2|$work/mine/.godwit/debug/run0-train_epoch1.1.job-"
says err "Its command is: ./train.sh 1 'two words'"
# The command can be repeated as it is printed, and fails as it did.
line=$(sed -n "s/^Its command is: //p" "$work/err")
expect 9 "$GODWIT" debug run0-train_epoch1 -- sh -c "$line"
expect 143 "$GODWIT" debug run0-train_epoch1 -- sh -c 'kill -TERM $$'
[ ! -e .godwit/debug ] || fail "a sandbox is left: $(find .godwit/debug)"
expect 0 "$GODWIT" debug run0-train_epoch1 --keep -- sh -c 'echo mine > note'
[ -n "$(find .godwit/debug -name note)" ] || fail "--keep did not keep"
expect 0 "$GODWIT" debug run0-train_epoch1 -- true
[ -n "$(find .godwit/debug -name note)" ] || fail "what was kept is gone"
rm -rf .godwit/debug
expect 0 "$GODWIT" debug run0-train_epoch1 --json
says out '"attempt": 1'
says out '"export FROM_SETUP=yes"'
says out '"HUSH"'
! grep -q secret-value "$work/out" || fail "--json shows a secret"
[ ! -e .godwit/debug ] || fail "--json made something"
# A shell, at a terminal.
if command -v script > /dev/null; then
  echo 'echo in the shell; exit 4' | SHELL=/bin/sh script -qec "$GODWIT debug run0-train_epoch1" /dev/null > "$work/out" 2>&1
  [ $? = 4 ] || fail "the shell's exit code"
  says out "in the shell"
fi
[ "$(events)" = "$before" ] || fail "the journal, the sandboxes or the results have changed"

# --- wrong uses ---------------------------------------------------------------------------------------------------
expect 2 "$GODWIT" debug
says err "node is required"
expect 2 "$GODWIT" debug run0-trian_epoch1 -- true
says err "there is no node 'run0-trian_epoch1'"
says err "did you mean 'run0-train_epoch1'?"
expect 2 "$GODWIT" debug run0 -- true
says err "there is no node 'run0'"
expect 2 "$GODWIT" debug run0-train_epoch1
says err "there is no terminal for a shell"
says err "godwit debug run0-train_epoch1 -- ls -l"
expect 2 "$GODWIT" debug run0-train_epoch2 -- true
says err "the inputs of run0-train_epoch2 are not there yet: runs/"
expect 2 "$GODWIT" debug run0-train_epoch1 --keep --json
says err "excludes"
expect 2 "$GODWIT" debug run0-train_epoch1 --experiment nowhere.yaml -- true
says err "no such experiment file: 'nowhere.yaml'"
expect 2 env -u HUSH "$GODWIT" debug run0-train_epoch1 -- true
says err "this secret has no value: 'HUSH'"
expect 2 "$GODWIT" debug run0-train_epoch1 --kep -- true
says err "--kep"
mv data.txt away.txt
expect 2 "$GODWIT" debug run0-train_epoch1 -- true
says err "data.txt"
mv away.txt data.txt
sed -i 's/keep_sandboxes: 2/keep_sandboxes: few/' experiment.yaml
expect 2 "$GODWIT" debug run0-train_epoch1 -- true
says err "'keep_sandboxes' must be a whole number"
[ ! -e .godwit/debug ] || fail "a wrong use left a sandbox"

# A checkpoint that `keep` does not keep.
mkdir "$work/kept" && cd "$work/kept" || exit 1
printf '#!/bin/sh\necho $GODWIT_LAST_EPOCH > model.bin\n' > train.sh
chmod +x train.sh
cat > experiment.yaml <<'YAML'
name: kept
submit_template: |
  executable = train.sh
epochs: 4
epochs_per_job: 1
sites: {here: {executor: local, slots: 1}}
checkpoint: model.bin
keep: {last: 2}
YAML
expect 0 "$GODWIT" run --quiet
expect 2 "$GODWIT" debug run0-train_epoch1 -- true
says err "run0-train_epoch1 begins with the checkpoint of run0-train_epoch0 (epoch 1), which was deleted: \`keep\` does not keep it"
says err "those of run0-train_epoch3 are there; for the next time keep more of them: 'keep: {last: 3}' or 'keep: {every: 1}'"
expect 0 "$GODWIT" debug run0-train_epoch3 -- true
finish "debug rebuilds what the job saw"
