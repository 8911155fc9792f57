import { useData, useRoute } from "vitepress";
import DefaultTheme from "vitepress/theme-without-fonts";
import { h } from "vue";
import OfferNow from "./offer-now.ts";
import PageTools from "./page-tools.ts";
import Start from "./start.ts";
import "./site.css";

export default {
  extends: DefaultTheme,
  Layout: {
    setup() {
      const route = useRoute();
      const { frontmatter } = useData();
      return () =>
        h(DefaultTheme.Layout, null, {
          "doc-before": () => h(PageTools, { key: route.path }),
          "doc-after": () =>
            route.path.endsWith("/dataq/operations") ? h(OfferNow, { key: route.path }) : null,
          "page-top": () => (frontmatter.value["sidebar"] === false ? h(Start) : null),
        });
    },
  },
};
