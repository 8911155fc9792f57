#!/bin/sh
# Installs locallm or dataq on Linux or macOS, from a release: an archive, SHA256SUMS, and its signature.
#   install.sh [locallm|dataq] [options]
#     --from ADDRESS   folder or address of a release (or RELEASE_FROM)
#     --key KEY        minisign's public key; the signature of SHA256SUMS must be by it (or RELEASE_KEY)
#     --system         for all users: /opt and /usr/local/bin; needs root. Otherwise ~/.local
#     --previous       goes back to the version before, and again to the newer one
#     --uninstall      removes the program; models, data and settings stay
# It changes nothing before the archive is downloaded, checked and tried. Then one small file is exchanged, which names the
# version that starts.
set -eu

fail() {
  echo "install.sh: $1" >&2
  exit 1
}
say() { echo "$1"; }

product=locallm
from=${RELEASE_FROM-}
key=${RELEASE_KEY-}
scope=user
action=install
while [ $# -gt 0 ]; do
  case $1 in
    locallm | dataq) product=$1 ;;
    --from | --key)
      [ $# -ge 2 ] || fail "$1 needs a value"
      if [ "$1" = --from ]; then from=$2; else key=$2; fi
      shift
      ;;
    --system) scope=system ;;
    --previous) action=previous ;;
    --uninstall) action=uninstall ;;
    -h | --help)
      sed -n '2,10s/^# \{0,1\}//p' "$0"
      exit 0
      ;;
    *) fail "unknown: $1. Run install.sh --help" ;;
  esac
  shift
done

if [ $scope = system ]; then
  folder=/opt/$product
  bin=/usr/local/bin
  [ "$(id -u)" = 0 ] || fail "--system needs root. Run it with sudo, or without --system for yourself"
else
  folder=${XDG_DATA_HOME:-$HOME/.local/share}/$product-program
  bin=$HOME/.local/bin
fi

remove() {
  rm -rf "$folder"
  if [ -h "$bin/$product" ]; then rm -f "$bin/$product"; fi
}

if [ $action = uninstall ]; then
  [ -d "$folder" ] || fail "$product is not installed in $folder"
  remove
  say "Removed $folder and $bin/$product. Models, data and settings stay."
  exit 0
fi

# Versions lie beside each other, as "$product update" keeps them, so that a server that runs keeps its own files:
# $folder/current names what starts, $folder/previous the version before; "." is what was installed first.
named() { cat "$folder/$1" 2>/dev/null || true; }
switch_to() {
  before=$(named current)
  for pair in "previous ${before:-.}" "current $1"; do
    echo "${pair#* }" >"$folder/${pair%% *}.$$"
    mv "$folder/${pair%% *}.$$" "$folder/${pair%% *}"
  done
}

if [ $action = previous ]; then
  previous=$(named previous)
  [ -n "$previous" ] && [ -d "$folder/versions/$previous" ] || [ "$previous" = . ] || fail "there is no version before in $folder"
  switch_to "$previous" || fail "cannot write to $folder"
  say "$product is now $("$bin/$product" --version 2>/dev/null). Start its server again."
  exit 0
fi

[ -n "$from" ] || fail "no release is published yet. Name the folder or the address of one: --from"
case $(uname -s) in
  Linux) system=linux ;;
  Darwin) system=darwin ;;
  *) fail "there is no archive for $(uname -s)" ;;
esac
case $(uname -m) in
  x86_64 | amd64) processor=x64 ;;
  aarch64 | arm64) processor=arm64 ;;
  *) fail "there is no archive for the processor $(uname -m)" ;;
esac
if [ $system = linux ] && ! { getconf GNU_LIBC_VERSION >/dev/null 2>&1 || ldd --version 2>&1 | grep -q -i glibc; }; then
  fail "this Linux has no glibc (Alpine?). $product needs it"
fi

work=$(mktemp -d)
new=$folder.new
finish() { rm -rf "$work" "$new"; }
trap finish EXIT
trap 'exit 130' INT TERM HUP

# get NAME: into the working folder. A release may be a folder of this machine.
get() {
  case $from in
    http://* | https://*)
      if command -v curl >/dev/null; then
        curl --fail --silent --show-error --location --output "$work/$1" "$from/$1"
      elif command -v wget >/dev/null; then
        wget --quiet --output-document="$work/$1" "$from/$1"
      else
        fail "curl or wget is needed"
      fi
      ;;
    *) cp "$from/$1" "$work/$1" ;;
  esac || fail "cannot get $from/$1"
}

digest() {
  if command -v sha256sum >/dev/null; then sha256sum "$1"; else shasum -a 256 "$1"; fi | cut -d ' ' -f 1
}

get SHA256SUMS
if [ -n "$key" ]; then
  command -v minisign >/dev/null || fail "minisign is needed to check the signature. Install it, or leave out --key"
  get SHA256SUMS.minisig
  minisign -Vqm "$work/SHA256SUMS" -P "$key" >/dev/null || fail "SHA256SUMS is not signed by this key"
  say "The signature of SHA256SUMS is right."
fi
# Smaller, where the release has it and this system unpacks it.
archive=
for kind in xz gz; do
  [ -z "$archive" ] || break
  [ $kind = gz ] || [ $system = darwin ] || command -v xz >/dev/null || continue
  archive=$(sed -n "s/^[0-9a-f]\{64\}  \($product-[0-9].*-$system-$processor\.tar\.$kind\)\$/\1/p" "$work/SHA256SUMS")
done
[ -n "$archive" ] || fail "this release has no $product for $system-$processor"
say "Getting $archive …"
get "$archive"
wanted=$(sed -n "s/^\([0-9a-f]*\)  $archive\$/\1/p" "$work/SHA256SUMS")
[ "$(digest "$work/$archive")" = "$wanted" ] || fail "$archive has another digest than SHA256SUMS says: the download is cut or changed. Try again"
say "Its digest is right."

mkdir -p "$(dirname "$folder")" "$bin" || fail "cannot write to $(dirname "$folder") and $bin"
[ -h "$bin/$product" ] || [ ! -e "$bin/$product" ] || fail "$bin/$product exists and was not made by install.sh"
if [ -d "$folder" ]; then
  new=$folder/versions/.new-$$
  mkdir -p "$folder/versions" || fail "cannot write to $folder"
fi
rm -rf "$new"
mkdir "$new" || fail "cannot write to $new"
tar -xf "$work/$archive" -C "$new" --strip-components=1 || fail "cannot unpack into $new: is there space?"
"$new/bin/$product" --version >/dev/null 2>&1 || fail "the new $product does not run on this machine"

if [ -d "$folder" ]; then
  name=${archive#"$product-"}
  name=${name%%"-$system-$processor.tar."*}-$(echo "$wanted" | cut -c 1-8)
  rm -rf "${folder:?}/versions/$name.old"
  [ ! -d "$folder/versions/$name" ] || mv "$folder/versions/$name" "$folder/versions/$name.old"
  mv "$new" "$folder/versions/$name"
  rm -rf "${folder:?}/versions/$name.old"
  [ "$(named current)" = "$name" ] || switch_to "$name"
else
  mv "$new" "$folder"
fi
ln -sf "$folder/bin/$product" "$bin/$product"
version=$("$bin/$product" --version 2>/dev/null)
say "Installed $product $version in $folder."
if [ -f "$folder/previous" ]; then
  say "The version before is there, too. A server that runs keeps it until you start it again. Back: install.sh $product --previous"
fi
case :$PATH: in
  *:"$bin":*) say "Start it: $product serve" ;;
  *) say "Start it: $bin/$product serve   ($bin is not in your PATH)" ;;
esac
