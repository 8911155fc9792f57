/**
 * Theme and language. They are in a cookie so that the service can send the page with the right ones at once.
 */
export interface Look {
  readonly theme: Theme;
  readonly language: Language;
}
export type Theme = "system" | "light" | "dark";
export type Language = "en" | "zh";

const listeners = new Set<() => void>();

export function readLook(): Look {
  const { theme } = document.documentElement.dataset;
  return {
    theme: theme === "light" || theme === "dark" ? theme : "system",
    language: document.documentElement.lang.startsWith("zh") ? "zh" : "en",
  };
}

export function setLook(change: Partial<Look>): void {
  const look = { ...readLook(), ...change };
  document.documentElement.dataset["theme"] = look.theme;
  document.documentElement.lang = look.language === "zh" ? "zh-CN" : "en";
  // Also for the page for visitors at /. An older console kept it below /console, where it would come first.
  writeCookie("dataq_look=; Path=/console; Max-Age=0; SameSite=Lax");
  writeCookie(`dataq_look=${look.theme}.${look.language}; Path=/; Max-Age=31536000; SameSite=Lax`);
  for (const listener of listeners) listener();
}

/** Called when a page or a canvas must be drawn in another look. */
export function onLookChange(listener: () => void): () => void {
  listeners.add(listener);
  const scheme = matchMedia("(prefers-color-scheme: dark)");
  scheme.addEventListener("change", listener);
  return () => {
    listeners.delete(listener);
    scheme.removeEventListener("change", listener);
  };
}

function writeCookie(cookie: string): void {
  // biome-ignore lint/suspicious/noDocumentCookie: the Cookie Store API is not in every browser yet
  document.cookie = cookie;
}
