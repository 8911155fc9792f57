import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";

/** Debian's chromium. Tests that need it are skipped by name if it is missing. */
export const chromiumPath = ["/usr/bin/chromium", "/usr/bin/chromium-browser"].find((path) =>
  existsSync(path),
);

/** Whether the browser has the characters of Chinese texts, which a printed page needs. */
export function hasChineseFont(): boolean {
  const { stdout } = spawnSync("fc-list", [":lang=zh", "file"], { encoding: "utf8" });
  return stdout !== null && stdout.trim() !== "";
}

/**
 * Disables the browser's background work, which no test needs. The menus of its address bar alone load pages
 * with 300 scripts at each start. The other features are those that playwright disables: they are repeated
 * here because only the last switch of a name counts.
 */
const unwanted = [
  "WebUIOmniboxPopup",
  "WebUIOmniboxAimPopup",
  "AimEnabled",
  "AvoidUnnecessaryBeforeUnloadCheckSync",
  "DestroyProfileOnBrowserClose",
  "HttpsUpgrades",
  "HttpsFirstBalancedModeAutoEnable",
  "MediaRouter",
  "NetworkTimeServiceQuerying",
  "OptimizationHints",
  "PaintHolding",
  "PreconnectToSearch",
];

export const chromiumArguments: readonly string[] = [
  "--headless",
  "--no-sandbox",
  "--disable-gpu",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
  `--disable-features=${unwanted.join(",")}`,
];
