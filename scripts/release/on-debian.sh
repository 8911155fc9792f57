#!/bin/sh
# What an administrator does with the packages on a Debian with systemd and nothing else. proof.ts runs it there.
#   on-debian.sh FOLDER MODEL     FOLDER has old/*.deb, new/*.deb, load.mjs and models/ (for MODEL)
set -eu
folder=$1
model=$2
# Whoever enters the system from outside stands in no folder of it.
cd /
row() { echo "| $1 | $2 |"; }
fail() {
  echo "$1" >&2
  journalctl --no-pager -n 15 -u locallm -u dataq >&2
  exit 1
}
version() { dpkg-query -W -f '${Version}' "$1"; }
node=/usr/lib/dataq/lib/node/bin/node

# until_active NAME
until_active() {
  for _ in $(seq 300); do
    if systemctl is-active --quiet "$1" && "$node" -e "fetch('http://127.0.0.1:$2').then(() => process.exit(0), () => process.exit(1))"; then
      return
    fi
    sleep 0.2
  done
  fail "$1 does not listen"
}
both() {
  until_active locallm 11434
  until_active dataq 11435
}

apt_install() { DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --allow-downgrades "$@" >/tmp/apt.log 2>&1 || fail "$(cat /tmp/apt.log)"; }

apt_install "$folder"/old/*.deb
both
row "\`apt install ./*.deb\`" "locallm $(version locallm), dataq $(version dataq), both active and enabled: $(systemctl is-enabled locallm dataq | tr '\n' ' ')"
# 11434 and 11435 in hexadecimal; 0100007F is 127.0.0.1.
open=$(awk '$4 == "0A" && $2 ~ /:2CA[AB]$/ && $2 !~ /^0100007F/ {print $2}' /proc/net/tcp /proc/net/tcp6)
[ -z "$open" ] || fail "open to other machines: $open"
row "open to other machines" "no port"
row "\`systemd-analyze security\`" "$(for name in locallm dataq; do systemd-analyze security --no-pager $name | tail -n 1 | sed 's/^.*level for //; s/ [^ ]*$//'; done | tr '\n' ' ')"

mkdir -p /var/lib/locallm/.locallm/models
cp -r "$folder"/models/. /var/lib/locallm/.locallm/models/
chown -R locallm:locallm /var/lib/locallm/.locallm
printf '# kept\nLOCALLM_KEEP_ALIVE=10m\nLOCALLM_STOP_TIMEOUT=10m\n' >>/etc/locallm/locallm.env
cat >/tmp/laws.jsonl <<'END'
{"law_id":"1","law_name":"档案保管条例","article_no":"第一条","article_no_arabic":1,"article_text":"为了保管档案，制定本条例。"}
{"law_id":"1","law_name":"档案保管条例","article_no":"第二条","article_no_arabic":2,"article_text":"档案应当保管在干燥、通风的地方。"}
END
key=$(cat /var/lib/dataq/local-key)
dataq import legal_laws /tmp/laws.jsonl >/tmp/import.log 2>&1 || fail "$(cat /tmp/import.log)"

cp "$folder/load.mjs" /tmp/load.mjs
rm -f /tmp/enough
# The Node of a package goes away during the upgrade, so the load keeps its own copy.
cp "$node" /tmp/load-node
/tmp/load-node /tmp/load.mjs "$key" "$model" /tmp/enough >/tmp/load.json &
load=$!
sleep 5
began=$(date +%s)
apt_install "$folder"/new/*.deb
took=$(($(date +%s) - began))
both
sleep 5
touch /tmp/enough
wait $load || fail "charged without an answer, refused, or a stream was not whole: $(cat /tmp/load.json)"
row "upgrade to $(version dataq) under load, $took s" "$(cat /tmp/load.json)"
grep -q kept /etc/locallm/locallm.env || fail "the settings were lost"
locallm list 2>/dev/null | grep -q "${model%%:*}" || fail "the models were lost"
row "after it" "settings, models and the key are there; $(DATAQ_BASE_URL=http://127.0.0.1:11435 DATAQ_API_KEY=$key dataq query legal_laws 'query=档案保管条例 第一条' --json | tr -d ' \n' | grep -o '"usage":{[^}]*}' | head -n 1)"

# Longer than TimeoutStopSec: the model's process stands still while a request waits and locallm is told to start anew.
ask() { /tmp/load-node --input-type=module -e "const body = JSON.stringify({ model: '$model', prompt: 'Count:', options: { num_predict: $1 } }); const answer = await fetch('http://127.0.0.1:11434/api/generate', { method: 'POST', body }); for await (const bytes of answer.body) process.stdout.write(bytes);"; }
ask 1 >/dev/null || fail "the model does not answer"
server=$(systemctl show -p MainPID --value locallm)
runners=$(cat /proc/"$server"/task/*/children)
for runner in $runners; do kill -STOP "$runner"; done
ask 6 >/tmp/long.jsonl 2>/tmp/long.err &
asked=$!
sleep 3
began=$(date +%s)
systemctl restart --no-block locallm
sleep 36
for runner in $runners; do kill -CONT "$runner"; done
wait $asked || fail "a stream was cut by a restart: $(cat /tmp/long.err)"
took=$(($(date +%s) - began))
tail -n 1 /tmp/long.jsonl | grep -q '"done":true' || fail "a stream was not whole after a restart: $(tail -n 1 /tmp/long.jsonl)"
until_active locallm 11434
[ "$(systemctl show -p MainPID --value locallm)" != "$server" ] || fail "locallm did not start anew"
row "\`systemctl restart\` while a stream lasts $took s more" "the stream is whole; then locallm starts anew"

apt_install "$folder"/old/*.deb
both
row "back to the version before" "locallm $(version locallm), dataq $(version dataq), both answer"

DEBIAN_FRONTEND=noninteractive apt-get remove -y -qq locallm dataq >/dev/null 2>&1
row "\`apt remove\`" "active: $(systemctl is-active locallm dataq | tr '\n' ' '); kept: $(echo /etc/locallm/* /var/lib/locallm /etc/dataq/* /var/lib/dataq)"
apt_install "$folder"/new/*.deb
both
row "installed again" "active, $(grep -c kept /etc/locallm/locallm.env) changed setting kept"
DEBIAN_FRONTEND=noninteractive apt-get purge -y -qq locallm dataq >/dev/null 2>&1 </dev/null
# What root ran is compiled in its own folder, like that of every user.
left=$(find / -xdev \( -path /proc -o -path /sys -o -path /tmp -o -path /root -o -path /var/log -o -path /var/lib/dpkg -o -path /var/lib/apt -o -path /var/cache/apt \) -prune -o \( -iname '*locallm*' -o -iname '*dataq*' \) -print)
row "\`apt purge\`" "users: $(grep -c -E '^(locallm|dataq):' /etc/passwd || true); files left: ${left:-none}"
[ -z "$left" ]
