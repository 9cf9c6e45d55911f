# SIGTERM leaves a checkpoint and says 85; SIGKILL leaves the last one whole. Either way the run that goes on ends with
# the bits of the run that nobody stopped.
source "$(dirname "$0")/lib.sh"

train "$plain" whole --batch 1 > /dev/null

lines() { [ ! -f "$1" ] && echo 0 || wc -l < "$1"; }

# stopped SIGNAL FOLDER: stops the job in the epoch after the first, in that after the second, then lets it end.
# Prints how many times it was stopped; once or twice, for a job may end before the signal comes.
stopped() {
  local signal=$1 where=$2 code epochs count=0
  for epochs in 1 2 none; do
    job "$plain" "$where" --batch 1 > /dev/null 2>> "$where.err" &
    local pid=$!
    if [ $epochs != none ]; then
      while [ "$(lines "$where/metrics.jsonl")" -lt $epochs ] && kill -0 "$pid" 2> /dev/null; do sleep 0.02; done
      sleep 0.05
      kill -"$signal" "$pid" 2> /dev/null || true
    fi
    code=0
    wait "$pid" || code=$?
    case $signal-$code in
      *-0) ;;
      TERM-85 | KILL-137) count=$((count + 1)) ;;
      *) fail "SIG$signal gave exit code $code: $(cat "$where.err")" ;;
    esac
  done
  echo $count
}

for signal in TERM KILL; do
  mkdir -p "$signal"
  count=$(stopped $signal $signal)
  [ "$count" -ge 1 ] || fail "SIG$signal never hit the training"
  cmp whole/checkpoint.safetensors $signal/checkpoint.safetensors || fail "after SIG$signal the run ended differently"
  cmp whole/best.safetensors $signal/best.safetensors || fail "after SIG$signal the best checkpoint differs"
  left=$(find $signal -name '*tmp*')
  [ $signal = KILL ] || [ -z "$left" ] || fail "unfinished files were left: $left"
  echo "SIG$signal: stopped $count times, same bits"
done
grep -q '"resumed_at_step"' TERM/metrics.jsonl || fail "no epoch was taken up in its middle"
