#!/usr/bin/env bash
# test-serial: yes
# The disk that holds the experiment is full for a while in the middle of the run.
. "$(dirname "$0")/experiment.sh"
work=$(mktemp -d)
# An idle supervisor still has its folder there.
trap 'pkill -f "supervise $work/"; umount -l "$work/disk" 2>/dev/null; rm -rf "$work"' EXIT
mkdir "$work/disk"
if ! mount -t tmpfs -o size=24m tmpfs "$work/disk" 2>/dev/null; then
  echo "SKIPPED: mounting a tmpfs needs root"
  exit 77
fi
make_experiment "$work/calm"
make_experiment "$work/disk/full"
"$GODWIT" run --quiet "$work/calm" || fail "the undisturbed run failed"

"$GODWIT" run --quiet "$work/disk/full" &
engine=$!
for _ in 1 2 3; do
  sleep 0.7
  cat /dev/zero > "$work/disk/filler" 2>/dev/null
  sleep 1.5
  rm "$work/disk/filler"
done
wait "$engine" || fail "the run failed"
check_results "$work/disk/full" "$work/calm"
pauses=$(sqlite3 "$work/disk/full/.godwit/journal.db" "select count(*) from event where kind='paused'")
retries=$(sqlite3 "$work/disk/full/.godwit/journal.db" \
  "select count(*) from event where kind='attempt_ended' and json like '%\"retried\"%'")
[ "$pauses" -ge 1 ] || fail "no pause was recorded"
[ "$retries" = 0 ] || fail "the full disk spent $retries retries"
echo "full disk: paused $pauses time(s), no retry spent, models equal"
