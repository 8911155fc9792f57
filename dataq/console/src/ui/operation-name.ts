import type { Bilingual } from "@dataq/contract";
import { useQuery } from "@tanstack/react-query";
import { catalogQuery } from "../service/catalog.ts";
import { useLook } from "./look.ts";

/** An operation's title in the reader's language, or its name until the catalogue has loaded. */
export function useOperationName(): (name: string) => string {
  const { data } = useQuery(catalogQuery);
  const { language } = useLook();
  return (name) => {
    const title = data?.find((operation) => operation.name === name)?.title;
    return title === undefined ? name : textIn(title, language);
  };
}

export function textIn(text: Bilingual | string, language: "en" | "zh"): string {
  return typeof text === "string" ? text : text[language];
}
