import type { Platform } from "./platforms.ts";
import type { Product } from "./products.ts";

/**
 * `bin/<product>` for POSIX shells. It may be called through links. Node keeps compiled modules in the user's cache
 * folder: the second start then takes as long as one from a clone.
 */
export function unixLauncher({ name, nodeOptions }: Product, { os }: Platform): string {
  const cache = os === "darwin" ? "$HOME/Library/Caches" : `\${XDG_CACHE_HOME:-$HOME/.cache}`;
  return `#!/bin/sh
# Runs ${name} with the Node beside it. The folder may lie anywhere; links to this file work.
self=$0
case $self in */*) ;; *) self=./$self ;; esac
while [ -h "$self" ]; do
  target=$(readlink "$self")
  case $target in /*) self=$target ;; *) self=\${self%/*}/$target ;; esac
done
root=$(CDPATH= cd -- "\${self%/*}/.." && pwd -P) || exit 1
# What \`${name} update\` brought.
if [ -r "$root/current" ] && read -r current <"$root/current"; then
  case $current in
    */*) ;;
    *) [ ! -x "$root/versions/$current/bin/${name}" ] || exec "$root/versions/$current/bin/${name}" "$@" ;;
  esac
fi
if [ -z "\${NODE_COMPILE_CACHE+set}" ] && [ -n "\${HOME-}\${XDG_CACHE_HOME-}" ]; then
  export NODE_COMPILE_CACHE="${cache}/${name}/compiled"
fi
exec "$root/lib/node/bin/node" ${[...nodeOptions, `"$root/lib/${name}/dist/cli/${name}.js"`].join(" ")} "$@"
`;
}

/** `bin\\<product>.cmd`, which cmd.exe and PowerShell find as `<product>`. */
export function windowsLauncher({ name, nodeOptions }: Product): string {
  const lines = [
    "@echo off",
    "setlocal",
    "set current=",
    `if exist "%~dp0..\\current" set /p current=<"%~dp0..\\current"`,
    `if defined current if exist "%~dp0..\\versions\\%current%\\bin\\${name}.cmd" (`,
    `  "%~dp0..\\versions\\%current%\\bin\\${name}.cmd" %*`,
    ")",
    `if not defined NODE_COMPILE_CACHE set "NODE_COMPILE_CACHE=%LOCALAPPDATA%\\${name}\\compiled"`,
    `"%~dp0..\\lib\\node\\bin\\node.exe" ${[...nodeOptions, `"%~dp0..\\lib\\${name}\\dist\\cli\\${name}.js"`].join(" ")} %*`,
  ];
  return lines.map((line) => `${line}\r\n`).join("");
}
