import { defineComponent, h, ref } from "vue";
import { asksForKey, key, makeTestKey, product, reader } from "./service.ts";
import { useWords } from "./words.ts";

/** With what the examples of a page are sent: a key, or the reader's session. */
export default defineComponent(() => {
  const word = useWords();
  const problem = ref("");

  async function make(): Promise<void> {
    problem.value = "";
    try {
      await makeTestKey();
    } catch (error) {
      problem.value = (error as Error).message;
    }
  }

  return () => {
    if (product.value === undefined || (product.value === "locallm" && !asksForKey.value)) return null;
    const isTest = key.value.startsWith("dq_test_");
    return h("div", { class: "credentials", role: "group", "aria-label": word("credentials") }, [
      h("label", [
        `${word("keyField")} `,
        h("input", {
          type: "password",
          autocomplete: "off",
          spellcheck: false,
          value: key.value,
          placeholder: product.value === "dataq" ? "dq_test_… / dq_live_…" : "sk-locallm-…",
          onInput: (event: Event) => (key.value = (event.target as HTMLInputElement).value.trim()),
        }),
      ]),
      product.value === "dataq" && reader.value !== undefined && !isTest
        ? h("button", { type: "button", onClick: make }, word("makeTestKey"))
        : null,
      h("p", { role: "status" }, problem.value || explanation(isTest)),
    ]);
  };

  function explanation(isTest: boolean) {
    if (product.value === "locallm") return word("keyStays");
    if (isTest) return word("withTestKey");
    if (key.value !== "") return word("withLiveKey");
    if (reader.value !== undefined) return `${word("signedInAs")} ${reader.value}. ${word("withSession")}`;
    return [word("signInFirst"), " ", h("a", { href: "/console/", target: "_self" }, word("openConsole"))];
  }
});
