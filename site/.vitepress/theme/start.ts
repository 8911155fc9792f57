import { useData, withBase } from "vitepress";
import { defineComponent, h } from "vue";
import { groups } from "../../scripts/outline.mjs";
import { useWords } from "./words.ts";

interface Group {
  readonly text: string;
  readonly items: readonly { readonly text: string; readonly link: string }[];
}

/** The first page: every page of both products, in the order of reading. */
export default defineComponent(() => {
  const { lang, theme } = useData();
  const word = useWords();
  const language = () => (lang.value === "zh-CN" ? "zh" : "en");

  /** The groups of a product, or those about both. */
  function groupsOf(product: "dataq" | "locallm" | "both") {
    const top = language() === "zh" ? "/zh/" : "/";
    const sidebar: Group[] = theme.value.sidebar[product === "both" ? top : `${top}${product}/`];
    const count = groups.filter((group) => group.product === product).length;
    return sidebar.slice(0, count);
  }

  const list = ({ items }: Group) =>
    h(
      "ul",
      items.map(({ text, link }) => h("li", h("a", { href: withBase(link) }, text))),
    );

  function product(name: "dataq" | "locallm") {
    return h("section", [
      h("h2", name),
      h("p", word(`${name}Lead`)),
      groupsOf(name).map((group) => [h("h3", group.text), list(group)]),
    ]);
  }

  return () =>
    h("div", { class: "start" }, [
      h("h1", word("startTitle")),
      h("p", { class: "lead" }, word("startLead")),
      h("div", { class: "products" }, [
        product("dataq"),
        product("locallm"),
        groupsOf("both").map((group) => h("section", { class: "both" }, [h("h2", group.text), list(group)])),
      ]),
    ]);
});
