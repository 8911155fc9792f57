import { useSyncExternalStore } from "react";
import { type Language, type Look, onLookChange, readLook, type Theme } from "./kept-look.ts";

export { type Language, onLookChange, readLook, setLook, type Theme } from "./kept-look.ts";

/** The look of the page. The component is drawn again when it changes. */
export function useLook(): Look {
  const text = useSyncExternalStore(onLookChange, snapshot);
  const [theme, language] = text.split(".") as [Theme, Language];
  return { theme, language };
}

function snapshot(): string {
  const { theme, language } = readLook();
  return `${theme}.${language}`;
}
