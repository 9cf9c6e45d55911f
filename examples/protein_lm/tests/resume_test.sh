# Three jobs of one epoch give, bit for bit, the checkpoint of one job of three; so does the same job run twice.
source "$(dirname "$0")/lib.sh"

programs=("$plain")
has_v3 && programs+=("$v3") || echo "the x86-64-v3 build is not tested: this processor lacks AVX2"
for program in "${programs[@]}"; do
  name=${program##*/}
  train "$program" "$name-whole"
  train "$program" "$name-again"
  for epoch in 1 2 3; do
    train "$program" "$name-parts" --first-epoch $epoch --last-epoch $epoch
  done
  for file in checkpoint.safetensors best.safetensors; do
    for other in again parts; do
      cmp "$name-whole/$file" "$name-$other/$file" || fail "$name: $file of '$other' differs from the whole run's"
    done
  done
  untimed() { sed -E 's/,"(cpu_)?seconds":[0-9.e+-]+//g' "$1/metrics.jsonl"; }
  [ "$(untimed "$name-whole")" = "$(untimed "$name-parts")" ] || fail "$name: the metrics differ"
  [ "$(wc -l < "$name-parts/metrics.jsonl")" = 3 ] || fail "$name: not one line per epoch"

  # Each epoch names the checkpoint it began with, the first none.
  mapfile -t parents < <(sed -E 's/.*"parent_checkpoint":"([^"]*)".*/\1/' "$name-whole/metrics.jsonl")
  [ -z "${parents[0]}" ] && [[ ${parents[1]} == xxh3:* ]] && [ "${parents[1]}" != "${parents[2]}" ] ||
    fail "$name: parents ${parents[*]}"

  # glibc then takes the variants of its functions that an old processor would get: the bits must not depend on them.
  # (What the x86-64-v3 build itself needs stays.)
  GLIBC_TUNABLES=glibc.cpu.hwcaps=-AVX512F,-AVX2,-AVX,-FMA,-FMA4,-SSE4_1,-SSE4_2,-SSSE3,-ERMS \
    train "$program" "$name-old"
  cmp "$name-whole/checkpoint.safetensors" "$name-old/checkpoint.safetensors" ||
    fail "$name: the bits depend on the processor that glibc finds"

  # A job whose epochs are done says again what they reached, and changes nothing.
  cp "$name-parts/checkpoint.safetensors" before
  train "$program" "$name-parts" --first-epoch 3 --last-epoch 3
  cmp before "$name-parts/checkpoint.safetensors" || fail "$name: a finished run changed its checkpoint"
  tail -1 "$name-parts/metrics.jsonl" | grep -q '"epoch":3' || fail "$name: no line for the epoch that was done"
done

if has_v3; then
  cmp -s protein_lm_x86_64-whole/checkpoint.safetensors protein_lm_x86_64_v3-whole/checkpoint.safetensors &&
    fail "the two builds round alike: they would make no different sites"
  # A run may go from one build to the other.
  train "$plain" mixed --last-epoch 1
  train "$v3" mixed --first-epoch 2 --last-epoch 3
  [ "$(wc -l < mixed/metrics.jsonl)" = 3 ] || fail "the run that changed its build lacks epochs"
fi
echo "resumed runs are bit-identical"
