import { existsSync } from "node:fs";

/** Debian's chromium. Tests that need it are skipped by name if it is missing. */
export const chromiumPath = ["/usr/bin/chromium", "/usr/bin/chromium-browser"].find((path) =>
  existsSync(path),
);

/**
 * Background work of the browser that no test looks at. The menus of its address bar are pages of 300 scripts, loaded
 * at each start: more work than one of our pages. The others are what playwright switches off, because only the last
 * switch of a name counts.
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
