import { useData, withBase } from "vitepress";
import { defineComponent, h, ref } from "vue";
import { useWords } from "./words.ts";

/** Above a page: whether its twin in the other language is missing or older, and the page as Markdown and on paper. */
export default defineComponent(() => {
  const { page, frontmatter } = useData();
  const word = useWords();
  const isCopied = ref(false);
  const source = () => withBase(`/${page.value.relativePath}`);

  async function copy(): Promise<void> {
    try {
      const answer = await fetch(source());
      if (!answer.ok) throw new Error(`${answer.status}`);
      await navigator.clipboard.writeText(await answer.text());
      isCopied.value = true;
      setTimeout(() => (isCopied.value = false), 2_000);
    } catch {
      // Without HTTPS a browser gives no clipboard to pages of other machines; the text itself is one step away.
      location.assign(source());
    }
  }

  return () => [
    h("div", { class: "page-tools" }, [
      h("button", { type: "button", onClick: copy }, word(isCopied.value ? "copied" : "copyPage")),
      // The router must leave this address to the browser.
      h("a", { href: source(), target: "_blank" }, word("viewPage")),
      h("button", { type: "button", onClick: () => print() }, word("print")),
    ]),
    notice(frontmatter.value["twin"]),
  ];

  function notice(twin: unknown) {
    if (twin !== "missing" && twin !== "older") return null;
    const english = withBase(`/${page.value.relativePath.replace(/^zh\//, "").replace(/\.md$/, "")}`);
    const link = h("a", { href: english }, word("seeEnglish"));
    return h("p", { class: "twin", role: "note" }, [word(twin), twin === "older" ? link : null]);
  }
});
