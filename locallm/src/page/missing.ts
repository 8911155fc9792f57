import { currentLanguage, wearTheme } from "./look.ts";

/** The page of an address that is not there. The server has chosen the language that the browser prefers. */
const language = currentLanguage();
wearTheme();
document.documentElement.lang = language === "zh" ? "zh-CN" : "en";
for (const part of document.querySelectorAll("main"))
  part.hidden = part.lang !== document.documentElement.lang;
