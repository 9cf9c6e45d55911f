#!/usr/bin/env bash
# Wrong uses of every command, from wrong_uses.txt beside this: each ends with exit code 2, says what is wrong and nothing
# on standard output. Every command that --help lists has ten of them at least.
. "$GODWIT_SOURCE/tests/lib.sh"
table=$GODWIT_SOURCE/tests/cli/wrong_uses.txt

mkdir empty fresh mine broken binary misspelt
cat > mine/experiment.yaml <<'YAML'
name: mine
submit_template: |
  executable = train.sh
  arguments = $(x)
vars: {x: [1, 2]}
epochs: 3
epochs_per_job: 1
checkpoint: model
sites: {here: {slots: 2}}
YAML
cat > mine/train.sh <<'SH'
#!/bin/sh
[ $GODWIT_LAST_EPOCH != 2 ] || [ $1 = 1 ] || exit 3
echo > model
SH
chmod +x mine/train.sh
cp mine/* fresh
cp mine/* misspelt
sed -i 's/train.sh/trian.sh/' misspelt/experiment.yaml
cp mine/experiment.yaml mine/other.yaml
printf 'name: [\n' > broken/experiment.yaml
printf '\177ELF\0\1' > binary/experiment.yaml
mkfifo fifo
echo plain > plain
expect 1 "$GODWIT" run mine --quiet
cp -r mine edited
sed -i 's/epochs: 3/epochs: 4/' edited/experiment.yaml

while IFS= read -r line; do
  case $line in '' | '#'*) continue ;; esac
  arguments=${line%% => *}
  eval "set -- $arguments"
  expect 2 "$GODWIT" "$@"
  says err "${line#* => }"
  [ ! -s "$work/out" ] || fail "godwit $arguments prints: $(head -3 "$work/out")"
done < "$table"

# $commands are those of --help, between its heading and the end.
commands=$("$GODWIT" --help | sed -n '/^Subcommands:/,$s/^  \([a-z-]*\) .*/\1/p')
[ -n "$commands" ] || fail "--help lists no commands"
for command in $commands; do
  uses=$(grep -c "^$command\( \|$\)" "$table")
  [ "$uses" -ge 10 ] || fail "$command has $uses wrong uses only"
done

# What cannot be printed is an error of its own, once.
for command in "--help" "--version" "plan --help" "version" "plan mine" "plan mine --json" "status mine" "status mine --json" "why run1 mine" \
  "compare mine" "logs run0-train_epoch0 mine --json" "schema experiment" "completion bash" "run mine --dry-run" \
  "retry --failed --experiment mine" "stop mine" "init made" "dag mine -o made"; do
  # shellcheck disable=SC2086
  "$GODWIT" $command > /dev/full 2> err < /dev/null && fail "godwit $command succeeds on a full disk"
  [ "$(cat err)" = "error: cannot write to standard output: No space left on device" ] || fail "godwit $command on a full disk: $(cat err)"
done

# Names with blanks can be pasted.
expect 0 "$GODWIT" init "my experiment"
says out "Next: cd 'my experiment' && godwit plan"
expect 2 "$GODWIT" plan "my experiment" --sites nowhere.yaml
[ "$(grep -c error: "$work/err")" = 1 ] || fail "one error is enough: $(cat "$work/err")"
expect 0 "$GODWIT" dag mine -o "my dag"
says out "cd 'my dag' && condor_submit_dag"
says out "xargs mkdir -p) < 'my dag/"

finish "wrong uses are named"
