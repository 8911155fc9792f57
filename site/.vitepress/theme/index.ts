import { useData, useRoute } from "vitepress";
import DefaultTheme from "vitepress/theme-without-fonts";
import { defineAsyncComponent, h } from "vue";
import OfferNow from "./offer-now.ts";
import PageTools from "./page-tools.ts";
import type { Product } from "./service.ts";
import Start from "./start.ts";
import "./site.css";

/** Pages without them do not load them. */
const Examples = defineAsyncComponent(() => import("./examples.ts"));
const HttpReference = defineAsyncComponent(() => import("./http-reference.ts"));

export default {
  extends: DefaultTheme,
  Layout: {
    setup() {
      const route = useRoute();
      const { frontmatter } = useData();
      return () =>
        h(DefaultTheme.Layout, null, {
          "doc-before": () => h(PageTools, { key: route.path }),
          "doc-after": () => [
            route.path.endsWith("/dataq/operations") ? h(OfferNow, { key: route.path }) : null,
            frontmatter.value["calls"] ? h(Examples, { key: route.path }) : null,
          ],
          "doc-footer-before": () => referenceOf(route.path),
          "page-top": () => (frontmatter.value["sidebar"] === false ? h(Start) : null),
        });
    },
  },
};

function referenceOf(path: string) {
  const [, product] = /\/(dataq|locallm)\/reference$/.exec(path) ?? [];
  return product === undefined ? null : h(HttpReference, { key: path, product: product as Product });
}
