# What the tests of the program share: a scratch folder, and small data so that a training takes a second or two.
set -euo pipefail
plain=$BIN/protein_lm_x86_64
v3=$BIN/protein_lm_x86_64_v3
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
unset GODWIT_RUN GODWIT_CHECKPOINT GODWIT_METRICS GODWIT_FIRST_EPOCH GODWIT_LAST_EPOCH
"$plain" simulate --variants 600 -o energies.tsv > simulate.out

fail() {
  echo "FAILED: $*" >&2
  exit 1
}

# Whether this machine runs the x86-64-v3 build.
has_v3() { grep -qw avx2 /proc/cpuinfo && grep -qw fma /proc/cpuinfo && grep -qw bmi2 /proc/cpuinfo; }

# job PROGRAM FOLDER OPTION…: becomes a training job in FOLDER, as in a sandbox. train: the same as a child.
job() {
  local program=$1 where=$2
  shift 2
  mkdir -p "$where"
  cd "$where"
  exec "$program" pretrain --data ../energies.tsv --seed 5 --dropout 0.1 --epochs 3 "$@"
}
train() { (job "$@"); }
