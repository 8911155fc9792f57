import type { Product } from "./products.ts";

/**
 * What dpkg and rpm run around an installation. Both call these scripts: dpkg with words (`upgrade`, `remove`,
 * `purge`), rpm with the number of versions that will be there (0, 1 or 2).
 *
 * A running service is stopped before its files change, because it loads modules and starts processes from them as it
 * goes; systemd lets it end its open requests. It starts again afterwards if it ran before.
 */
export function maintainerScripts({ name }: Product): Readonly<Record<string, string>> {
  const marker = `/run/${name}.package`;
  return {
    preinstall: script(`
case "$1" in
  install | 1) echo enable >${marker} ;;
  upgrade | 2)
    rm -f ${marker}
    if [ -d /run/systemd/system ] && systemctl is-active --quiet ${name}; then
      echo start >${marker}
      systemctl stop ${name}
    fi
    ;;
esac`),
    postinstall: script(`
if command -v systemd-sysusers >/dev/null; then
  systemd-sysusers /usr/lib/sysusers.d/${name}.conf
elif ! id ${name} >/dev/null 2>&1; then
  useradd --system --user-group --home-dir /var/lib/${name} --shell /usr/sbin/nologin ${name}
fi
asked=$(cat ${marker} 2>/dev/null || true)
rm -f ${marker}
if command -v systemctl >/dev/null; then
  [ "$asked" != enable ] || systemctl enable --quiet ${name} || true
  if [ -d /run/systemd/system ]; then
    systemctl daemon-reload
    [ -z "$asked" ] || systemctl start ${name}
  fi
fi`),
    preremove: script(`
case "$1" in
  remove | 0)
    if command -v systemctl >/dev/null; then
      [ ! -d /run/systemd/system ] || systemctl stop ${name} || true
      systemctl disable --quiet ${name} || true
    fi
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
