import { createContext, type ReactNode, useContext, useEffect, useState } from "react";
import { type Language, useLook } from "../ui/look.ts";
import type { Text } from "./en.ts";

const TextContext = createContext<Text | null>(null);

/** Every text of the console in the reader's language. A language is fetched when it is first needed. */
export function TextProvider({ children }: { readonly children: ReactNode }) {
  const { language } = useLook();
  const [text, setText] = useState<{ language: Language; text: Text } | null>(null);
  useEffect(() => {
    let isCurrent = true;
    void fetchText(language).then((loaded) => {
      if (isCurrent) setText({ language, text: loaded });
    });
    return () => {
      isCurrent = false;
    };
  }, [language]);
  if (!text) return null;
  return <TextContext value={text.text}>{children}</TextContext>;
}

export function useText(): Text {
  const text = useContext(TextContext);
  if (!text) throw new Error("Texts are used outside of their provider.");
  return text;
}

/** Returns the same promise each time, like an import. */
export async function fetchText(language: Language): Promise<Text> {
  return language === "zh" ? (await import("./zh.ts")).zh : (await import("./en.ts")).en;
}
