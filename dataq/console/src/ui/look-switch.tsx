import Languages from "~icons/lucide/languages";
import Monitor from "~icons/lucide/monitor";
import Moon from "~icons/lucide/moon";
import Sun from "~icons/lucide/sun";
import { useText } from "../text/text.tsx";
import { IconButton } from "./button.tsx";
import { setLook, type Theme, useLook } from "./look.ts";
import mark from "./mark.svg";

export function Brand({ isSmall }: { readonly isSmall?: boolean }) {
  return (
    <span className="flex items-center gap-2.5">
      <img src={mark} alt="" className="size-7" width={28} height={28} />
      {isSmall ? (
        <span className="sr-only">dataq</span>
      ) : (
        <span className="text-lg font-semibold tracking-tight">dataq</span>
      )}
    </span>
  );
}

const following: Record<Theme, Theme> = { system: "light", light: "dark", dark: "system" };

/** Buttons for the language and the theme. */
export function LookSwitch() {
  const t = useText();
  const { theme, language } = useLook();
  const Icon = { system: Monitor, light: Sun, dark: Moon }[theme];
  return (
    <>
      <button
        type="button"
        lang={language === "zh" ? "en" : "zh-CN"}
        aria-label={language === "zh" ? "EN: switch to English" : "中文：切换为中文"}
        onClick={() => setLook({ language: language === "zh" ? "en" : "zh" })}
        className="flex h-9 items-center gap-1.5 rounded-md px-2 text-sm text-soft hover:bg-sunken hover:text-ink"
      >
        <Languages className="size-4" />
        {language === "zh" ? "EN" : "中文"}
      </button>
      <IconButton label={t.shell.theme[theme]} onClick={() => setLook({ theme: following[theme] })}>
        <Icon className="size-4.5" aria-hidden />
      </IconButton>
    </>
  );
}
