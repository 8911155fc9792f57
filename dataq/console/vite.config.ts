import lucide from "@iconify-json/lucide/icons.json" with { type: "json" };
import tailwindcss from "@tailwindcss/vite";
import react from "@vitejs/plugin-react";
import {
  defaultClientConditions,
  defineConfig,
  type HtmlTagDescriptor,
  type Plugin,
  type UserConfig,
} from "vite";

const base = "/console/";

/**
 * The service serves `dist/` at /console/. Nothing is inlined, so the content security policy needs no exception. The
 * script of the page for visitors (mode `welcome`) is built by itself, so that it loads nothing of the console.
 */
export default defineConfig(({ mode }) => (mode === "welcome" ? forVisitors : forMembers));

const forVisitors: UserConfig = {
  base,
  build: {
    target: "es2022",
    assetsInlineLimit: 0,
    modulePreload: false,
    reportCompressedSize: false,
    emptyOutDir: false,
    rolldownOptions: { input: "src/welcome/welcome.ts" },
  },
};

const forMembers: UserConfig = {
  base,
  // Resolves the contract to its source, so that the contract need not be built first.
  resolve: { conditions: ["source", ...defaultClientConditions] },
  plugins: [react(), tailwindcss(), icons(), askEarly()],
  build: {
    target: "es2022",
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
    // The reader of PDF files, which is loaded with the first one.
    chunkSizeWarningLimit: 1_700,
    // Builds few files, because on a first visit each file costs more than its bytes. Every page keeps its
    // own file.
    rolldownOptions: {
      output: {
        codeSplitting: {
          groups: [
            { name: "console", tags: ["$initial"] },
            { name: "pieces", minShareCount: 3 },
          ],
        },
      },
    },
  },
  server: { port: 28_000, proxy: proxyTo("http://127.0.0.1:11435") },
};

/**
 * Makes `~icons/lucide/plus` a component. The data of all icons is one file of 0.6 MB; lucide-react has 51 MB in
 * 4,900 files, which every first start would install.
 */
function icons(): Plugin {
  const start = "\0~icons/lucide/";
  return {
    name: "icons",
    resolveId: (id) => (`\0${id}`.startsWith(start) ? `\0${id}` : undefined),
    load(id) {
      if (!id.startsWith(start)) return;
      const name = id.slice(start.length);
      const body = (lucide.icons as Record<string, { body: string } | undefined>)[name]?.body;
      if (body === undefined) throw new Error(`Lucide has no icon ${name}.`);
      return `import { drawn } from "/src/ui/icon.ts"; export default drawn(${JSON.stringify(body)});`;
    },
  };
}

/**
 * Adds links to the page for everything that each visit needs, so that it loads before the first script runs.
 * A link with `hreflang` is for readers of that language; the service removes the other ones.
 */
function askEarly(): Plugin {
  return {
    name: "ask-early",
    transformIndexHtml: {
      order: "post",
      handler(html, { bundle }) {
        if (!bundle) return html;
        const link = (pattern: RegExp, attributes: Record<string, string>): HtmlTagDescriptor => {
          const file = Object.keys(bundle).find((name) => pattern.test(name));
          if (!file) throw new Error(`No file of the build matches ${pattern}.`);
          const attrs = { ...attributes, crossorigin: true, href: base + file };
          return { tag: "link", attrs, injectTo: "head" };
        };
        const script = { rel: "modulepreload" };
        const tags = [
          link(/\/pieces-[^/]+\.js$/, script),
          link(/\/en-[^/]+\.js$/, { ...script, hreflang: "en" }),
          link(/\/zh-[^/]+\.js$/, { ...script, hreflang: "zh" }),
          link(/\/inter-latin-wght-[^/]+\.woff2$/, { rel: "preload", as: "font", type: "font/woff2" }),
        ];
        return { html, tags };
      },
    },
  };
}

/**
 * Proxies requests of `npm run dev -w @dataq/console` to a running service. Vite serves the pages; the
 * service provides the data.
 */
function proxyTo(target: string) {
  return Object.fromEntries(
    ["/v1", "/admin", "/console/auth", "/console/api"].map((path) => [path, { target }]),
  );
}
