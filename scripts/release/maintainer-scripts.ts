import type { Product } from "./products.ts";

/**
 * What dpkg and rpm run around an installation. Both call these scripts: dpkg with words (`upgrade`, `remove`,
 * `purge`), rpm with the number of versions that will be there (0, 1 or 2).
 *
 * A running service loads modules and starts processes from its files as it goes, so it runs from a copy of them, made
 * of hard links: it goes on while they are exchanged. Then it starts anew from the next copy, which takes as long as its
 * open requests; systemd keeps the socket, so that callers wait. The copy before stays, for processes that run on.
 */
export function maintainerScripts({ name }: Product): Readonly<Record<string, string>> {
  const marker = `/run/${name}.package`;
  return {
    preinstall: script(`
case "$1" in
  install | 1) echo enable >${marker} ;;
  upgrade | 2) rm -f ${marker} ;;
esac`),
    postinstall: script(`
if command -v systemd-sysusers >/dev/null; then
  systemd-sysusers /usr/lib/sysusers.d/${name}.conf
elif ! id ${name} >/dev/null 2>&1; then
  useradd --system --user-group --home-dir /var/lib/${name} --shell /usr/sbin/nologin ${name}
fi
cd /usr/lib/${name}
mkdir -p run
next=a
[ "$(readlink run/now)" != a ] || next=b
rm -rf run/$next
mkdir run/$next
cp -al LICENSE THIRD_PARTY.md release.json bin lib run/$next/
ln -sfn $next run/next
mv -T run/next run/now
cd /
asked=$(cat ${marker} 2>/dev/null || true)
rm -f ${marker}
if command -v systemctl >/dev/null; then
  [ "$asked" != enable ] || systemctl enable --quiet ${name} || true
  if [ -d /run/systemd/system ]; then
    systemctl daemon-reload
    if [ -n "$asked" ]; then
      systemctl start ${name}
    else
      systemctl try-restart ${name}
    fi
  fi
fi`),
    preremove: script(`
case "$1" in
  remove | 0)
    if command -v systemctl >/dev/null; then
      [ ! -d /run/systemd/system ] || systemctl stop ${name} || true
      systemctl disable --quiet ${name} || true
    fi
    rm -rf /usr/lib/${name}/run
    ;;
esac`),
    postremove: script(`
[ ! -d /run/systemd/system ] || systemctl daemon-reload
case "$1" in
  purge)
    rm -rf /var/lib/${name} /var/cache/${name} /etc/${name}
    if id ${name} >/dev/null 2>&1; then userdel ${name} || true; fi
    ;;
esac`),
  };
}

function script(text: string): string {
  return `#!/bin/sh\nset -e${text}\n`;
}
