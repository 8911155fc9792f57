import { choiceOf, choose } from "./choices.ts";
import { type Language, speak, word } from "./words.ts";

/** The theme and language that the user chose, otherwise the browser's. */
const themes = ["auto", "light", "dark"] as const;
type Theme = (typeof themes)[number];

const systemIsDark = matchMedia("(prefers-color-scheme: dark)");

/** A phone, or another screen that is touched: names of keys help nobody there. The style sheet asks the same. */
const touched = matchMedia("(max-width: 48rem), (hover: none)");

export function currentLanguage(): Language {
  const chosen = choiceOf("language");
  if (chosen === "en" || chosen === "zh") return chosen;
  return navigator.language.toLowerCase().startsWith("zh") ? "zh" : "en";
}

/** Connects the two buttons. `onLanguage` runs after every change of language. */
export function setUpLook(
  themeButton: HTMLElement,
  languageButton: HTMLElement,
  onLanguage: () => void,
): void {
  const apply = () => {
    wearTheme();
    speak(currentLanguage(), touched.matches);
    themeButton.textContent = word("theme", { name: word(currentTheme()) });
    languageButton.textContent = currentLanguage() === "zh" ? "English" : "中文";
    languageButton.lang = currentLanguage() === "zh" ? "en" : "zh-CN";
  };
  apply();
  touched.addEventListener("change", apply);
  themeButton.addEventListener("click", () => {
    const next = themes[(themes.indexOf(currentTheme()) + 1) % themes.length]!;
    choose("theme", next);
    apply();
  });
  languageButton.addEventListener("click", () => {
    choose("language", currentLanguage() === "zh" ? "en" : "zh");
    apply();
    onLanguage();
  });
}

/** Gives the page its theme, which follows the system's where the user chose none. */
export function wearTheme(): void {
  const theme = currentTheme();
  const isDark = theme === "dark" || (theme === "auto" && systemIsDark.matches);
  document.documentElement.dataset["theme"] = isDark ? "dark" : "light";
}
systemIsDark.addEventListener("change", wearTheme);

function currentTheme(): Theme {
  const chosen = choiceOf("theme");
  return themes.find((theme) => theme === chosen) ?? "auto";
}
