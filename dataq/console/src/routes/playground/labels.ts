import type { CatalogOperation } from "../../service/catalog.ts";
import { useText } from "../../text/text.tsx";
import { type Language, useLook } from "../../ui/look.ts";

/** What a field of a record is called in the reader's language. */
export function useLabels(operation: CatalogOperation): (name: string) => string {
  const t = useText();
  const { language } = useLook();
  return (name) => {
    // Parts of a list have the path as their name: revisions[].content.
    const last = name.slice(name.lastIndexOf(".") + 1);
    const known = t.parameters[last as keyof typeof t.parameters];
    if (known !== undefined) return known;
    const meaning = shortMeaning(operation, name, language);
    return meaning === name ? last : meaning;
  };
}

/** The beginning of a field's meaning, up to its first mark; its name if that is long or there is none. */
function shortMeaning({ meanings }: CatalogOperation, name: string, language: Language): string {
  const [short = ""] = (meanings.record[name]?.[language] ?? "").split(/[;；,，:：(（。]/);
  const longest = language === "zh" ? 14 : 32;
  const isExample = /^(?:如|例如|such as)/i.test(short);
  return short === "" || short.length > longest || isExample ? name : short;
}
