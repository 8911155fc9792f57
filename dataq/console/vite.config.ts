import tailwindcss from "@tailwindcss/vite";
import react from "@vitejs/plugin-react";
import { defineConfig } from "vite";

/** The service serves `dist/` below /console/. Nothing is inlined, so that the content policy needs no exception. */
export default defineConfig({
  base: "/console/",
  plugins: [react(), tailwindcss()],
  build: {
    target: "es2022",
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
    chunkSizeWarningLimit: 700,
  },
  server: { port: 28_000, proxy: proxyTo("http://127.0.0.1:11435") },
});

/** `npm run dev -w @dataq/console`: the pages from here, all else from a service that runs. */
function proxyTo(target: string) {
  return Object.fromEntries(
    ["/v1", "/admin", "/console/auth", "/console/api"].map((path) => [path, { target }]),
  );
}
