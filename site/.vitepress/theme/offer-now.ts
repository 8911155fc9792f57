import { defineComponent, h, onMounted, ref } from "vue";
import { useWords } from "./words.ts";

interface Entry {
  readonly operation: string;
  readonly data: "connector" | "imported" | "sample" | "none";
  readonly coverage: { readonly text: { readonly en: string; readonly zh: string } } | null;
  readonly price: { readonly tokens: number; readonly cached_tokens: number | null };
}

/** Below the list of operations: what the service that serves this page holds and charges. Other hosts show nothing. */
export default defineComponent(() => {
  const word = useWords();
  const entries = ref<readonly Entry[]>([]);
  onMounted(async () => {
    const answer = await fetch("/v1/catalog").catch(() => undefined);
    if (answer?.ok && answer.headers.get("content-type")?.includes("json"))
      entries.value = (await answer.json()).data;
  });
  const isChinese = () => document.documentElement.lang.startsWith("zh");
  return () =>
    entries.value.length === 0
      ? null
      : h("section", { class: "vp-doc offer-now" }, [
          h("h2", { id: "now" }, word("now")),
          h("table", [
            h(
              "thead",
              h(
                "tr",
                ["operation", "held", "price"].map((name) => h("th", word(name as "held"))),
              ),
            ),
            h(
              "tbody",
              entries.value.map(({ operation, data, coverage, price }) =>
                h("tr", [
                  h("td", h("a", { href: `#${operation}` }, operation)),
                  h("td", coverage?.text[isChinese() ? "zh" : "en"] ?? word(data)),
                  h("td", { class: "number" }, priceOf(price)),
                ]),
              ),
            ),
          ]),
        ]);
});

function priceOf({ tokens, cached_tokens: cached }: Entry["price"]): string {
  return `${tokens.toLocaleString("en")}${cached === null ? "" : ` (${cached.toLocaleString("en")})`}`;
}
