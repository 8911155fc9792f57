import { useData, withBase } from "vitepress";
import { defineComponent, h } from "vue";
import { groups } from "../../scripts/outline.mjs";
import { useWords } from "./words.ts";

/** The first page: both products with their first pages. */
export default defineComponent(() => {
  const { lang, theme } = useData();
  const word = useWords();
  const language = () => (lang.value === "zh-CN" ? "zh" : "en");

  function product(name: "dataq" | "locallm") {
    const top = language() === "zh" ? "/zh/" : "/";
    const sidebar: { items: { text: string; link: string }[] }[] = theme.value.sidebar[`${top}${name}/`];
    const count = groups.filter((group) => group.product === name).length;
    const pages = sidebar.slice(0, count).flatMap(({ items }) => items);
    return h("section", [
      h("h2", name),
      h("p", word(`${name}Lead`)),
      h(
        "ul",
        pages.slice(0, 8).map(({ text, link }) => h("li", h("a", { href: withBase(link) }, text))),
      ),
    ]);
  }

  return () =>
    h("div", { class: "start" }, [
      h("h1", word("startTitle")),
      h("p", { class: "lead" }, word("startLead")),
      h("div", { class: "products" }, [product("dataq"), product("locallm")]),
    ]);
});
