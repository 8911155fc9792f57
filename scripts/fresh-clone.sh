#!/usr/bin/env bash
# Follows the README in temporary clones of this repository's HEAD, and prints how long each step took. It removes
# the clones, their models and their data at the end. Processor time says more than time on a busy machine.
#
#   scripts/fresh-clone.sh alone    clone → locallm alone → first token
#   scripts/fresh-clone.sh          the same, then clone → npm start → first token and first paid answer → second start
#                                   → kill -9 → two first starts at once
#   scripts/fresh-clone.sh test     the same, then npm test in the clone
set -euo pipefail

source_folder=$(cd "$(dirname "$0")/.." && pwd)
work=$(mktemp -d)
chmod 755 "$work" # PostgreSQL's own user has to reach its data when we run as root
npm=""

finish() {
  local status=$?
  kill_everything
  rm -rf "$work"
  exit "$status"
}
trap finish EXIT

# Prints the process and all its descendants.
family() {
  echo "$1"
  local child
  for child in $(pgrep --parent "$1"); do family "$child"; done
}

# The database briefly outlives the process that started it and is then no longer its child, so this function
# finds it by its pid file.
kill_everything() {
  local pid
  [ -z "$npm" ] || for pid in $(family "$npm"); do kill -KILL "$pid" 2>/dev/null || true; done
  npm=""
  find "$work" -name postmaster.pid 2>/dev/null | while read -r file; do
    pid=$(head -n 1 "$file" 2>/dev/null) && for pid in $(family "$pid"); do kill -KILL "$pid" 2>/dev/null || true; done
  done
}

free_port() { node -e 'const s=require("net").createServer().listen(0,"127.0.0.1",()=>{console.log(s.address().port);s.close()})'; }
now() { date +%s.%N; }

# Prints the processor time of the running npm and of all its descendants, also of those that ended.
processor() {
  local pid
  for pid in $(family "$npm"); do sed 's/.*) //' "/proc/$pid/stat" 2>/dev/null || true; done |
    awk -v ticks="$(getconf CLK_TCK)" '{ sum += $12 + $13 + $14 + $15 } END { printf "%.1f s of processor time", sum / ticks }'
}

since() { awk -v a="$1" -v b="$(now)" 'BEGIN { printf "%.1f s", b - a }'; }
say() { printf '%-58s %s\n' "$1" "$2"; }
fail() { printf '\nFAILED: %s\n' "$1" >&2; tail -n 15 "$work/log" | cut -c1-200 >&2 || true; exit 1; }

LOCALLM_HOST="127.0.0.1:$(free_port)"
DATAQ_HOST="127.0.0.1:$(free_port)"
export LOCALLM_HOST DATAQ_HOST
export LOCALLM_MODELS="$work/models" DATAQ_DATA="$work/data"

start() { # start [<arguments of npm>]
  npm "${@:-start}" >"$work/log" 2>&1 </dev/null &
  npm=$!
}

start_twice() {
  start
  npm start >"$work/log.second" 2>&1 </dev/null &
  second=$!
}

stop() {
  local pids pid
  pids=$(family "$npm")
  kill -TERM "$npm"
  for _ in $(seq 150); do
    for pid in $pids; do
      if kill -0 "$pid" 2>/dev/null; then sleep 0.1 && continue 2; fi
    done
    wait "$npm" 2>/dev/null || true
    npm=""
    return 0
  done
  fail "processes of npm start are alive 15 s after SIGTERM: $pids"
}

first_token() {
  curl -sN -m 20 "http://$LOCALLM_HOST/api/generate" -o "$work/tokens" \
    -d '{"model":"smollm2:135m","prompt":"The capital of France is","options":{"num_predict":1}}' 2>/dev/null &&
    head -n 1 "$work/tokens" | grep -q '"response":"[^"]'
}

paid_answer() {
  local key
  key=$(cat "$DATAQ_DATA/local-key" 2>/dev/null) || return 1
  curl -s -m 20 "http://$DATAQ_HOST/v1/data/query" -H "Authorization: Bearer $key" -H 'Content-Type: application/json' \
    -d '{"operation":"legal_laws","params":{"query":"民法典 第五百七十七条"},"cache":"bypass"}' 2>/dev/null >"$work/answer" &&
    grep -q '当事人一方不履行合同义务' "$work/answer" && grep -q '"tokens":5000' "$work/answer"
}

until_true() { # until_true <seconds> <what> <command …>
  local limit=$1 what=$2 began
  began=$(now)
  shift 2
  until "$@"; do
    kill -0 "$npm" 2>/dev/null || fail "npm ended before $what"
    awk -v a="$began" -v b="$(now)" -v l="$limit" 'BEGIN { exit b - a > l }' || fail "no $what within $limit s"
    sleep 0.1
  done
}

began=$(now)
git clone --quiet "$source_folder" "$work/alone"
cd "$work/alone"
start run locallm -- serve --starter-model
until_true 300 "first token" first_token
say "locallm alone: git clone → first streamed token" "$(since "$began"), $(processor)"
stop
say "locallm alone: node_modules" "$(du -sm node_modules | cut -f 1) MB"
cd "$work"
rm -rf "$work/alone" "$LOCALLM_MODELS"
[ "${1:-}" != alone ] || exit 0

began=$(now)
git clone --quiet "$source_folder" "$work/clone"
cd "$work/clone"
start
until_true 300 "first token" first_token
say "git clone → first streamed token" "$(since "$began"), $(processor)"
until_true 300 "first paid law answer" paid_answer
say "git clone → first paid law answer" "$(since "$began"), $(processor)"
stop
say "SIGTERM: every process ended" "yes"
say "node_modules after npm start" "$(du -sm node_modules | cut -f 1) MB"

began=$(now)
start
until_true 60 "first token" first_token
say "second start → first token" "$(since "$began")"
until_true 60 "paid law answer" paid_answer
say "second start → paid law answer" "$(since "$began")"

kill_everything
began=$(now)
start
until_true 60 "first token" first_token
until_true 60 "paid law answer" paid_answer
say "kill -9 of everything → both answer again" "$(since "$began")"
npm run --silent dataq -- ledger verify >"$work/verify" || { cat "$work/verify" >&2; fail "the ledger does not balance"; }
say "the ledger balances after kill -9" "yes"
stop

rm -rf node_modules "$LOCALLM_MODELS" "$DATAQ_DATA"
start_twice
wait -n "$npm" "$second" || true # one of them finds that the other uses its port, and exits
if ! kill -0 "$npm" 2>/dev/null; then
  npm=$second
  mv "$work/log" "$work/log.refused" && mv "$work/log.second" "$work/log"
else
  mv "$work/log.second" "$work/log.refused"
fi
grep -q 'LOCALLM_HOST\|DATAQ_HOST' "$work/log.refused" || fail "a clear word from the start that lost"
until_true 300 "first token" first_token
until_true 300 "paid law answer" paid_answer
npm run --silent dataq -- ledger verify >"$work/verify" || { cat "$work/verify" >&2; fail "the ledger does not balance"; }
say "two first starts at once: one serves, one says why not" "yes"
stop

for package in locallm dataq/contract dataq/client dataq/service; do
  (cd "$package" && npm pack --silent --pack-destination "$work" >"$work/log" 2>&1) || fail "npm pack in $package"
done
say "npm pack after npm start" "$(find "$work" -maxdepth 1 -name '*.tgz' | wc -l) packages"

if [ "${1:-}" = test ]; then
  began=$(now)
  npm test >"$work/log" 2>&1 || fail "npm test"
  say "npm test: $(tail -n 1 "$work/log")" "$(since "$began")"
fi
