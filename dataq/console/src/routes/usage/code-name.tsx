import { useText } from "../../text/text.tsx";
import { useLook } from "../../ui/look.ts";
import { succeeded } from "./part.ts";

export function useCodeName(): (code: string) => string {
  const t = useText();
  return (code) => (code === succeeded ? t.usage.succeeded : code);
}

/** The code of an error leads to its cause and its remedy. */
export function CodeName({ code }: { readonly code: string }) {
  const nameOf = useCodeName();
  const { language } = useLook();
  if (code === succeeded) return nameOf(code);
  return (
    <a
      href={`/docs/${language === "zh" ? "zh/" : ""}dataq/errors#${code}`}
      className="font-mono text-xs break-words text-accent underline-offset-4 hover:underline"
    >
      {code}
    </a>
  );
}
