#!/usr/bin/env bash
# A script that is edited while an engine is at work: no job begins with what nobody agreed to.
. "$GODWIT_SOURCE/tests/fault/experiment.sh"
work=$(mktemp -d)
trap '"$GODWIT" stop --now "$work" >/dev/null 2>&1; rm -rf "$work"' EXIT
cd "$work" || exit 1
write() { # write WORD
  cat >train.sh.new <<SCRIPT
#!/bin/bash
sleep 0.2
echo $1 >>"\$1/ran"
SCRIPT
  chmod +x train.sh.new
  mv train.sh.new train.sh
}
cat >experiment.yaml <<YAML
name: edited
submit_template: |
  executable = train.sh
  arguments = $work
  request_memory = 100MB
vars: {alpha: {type: range, stop: 12}}
sites: {here: {slots: 1}}
YAML
ran() { wc -l <ran 2>/dev/null || echo 0; }
# until_it WHAT COMMAND…: within a minute.
until_it() {
  for _ in $(seq 600); do "${@:2}" && return; sleep 0.1; done
  fail "$1 $("$GODWIT" status)"
}
waits() { "$GODWIT" status | grep -q "train.sh is not what it was"; }
goes_on() { ! "$GODWIT" status | grep -q "is not what it was" && [ "$(ran)" -gt "$1" ]; }

write agreed
"$GODWIT" run --quiet &
engine=$!
until_it "nothing begins" test -s ran
write edited
until_it "the edit is not noticed" waits
sleep 0.5
before=$(ran)
sleep 1
[ "$(ran)" = "$before" ] || fail "jobs begin all the same"
write agreed
until_it "it does not go on" goes_on "$before"
write edited
until_it "the second edit is not noticed" waits
"$GODWIT" stop >/dev/null || fail "it does not stop"
wait $engine
! grep -q edited ran || fail "a job ran what nobody agreed to: $(cat ran)"
[ "$(sqlite3 .godwit/journal.db "select count(*) from event where kind = 'node_failed'")" = 0 ] || fail "a job failed"
"$GODWIT" run --quiet 2>err && fail "it goes on unasked"
grep -q "not what it was" err || fail "$(cat err)"
"$GODWIT" run --quiet --yes || fail "it does not go on"
[ "$(ran)" = 12 ] || fail "$(ran) jobs ran instead of 12"
grep -q edited ran || fail "what was agreed to in the end did not run"
