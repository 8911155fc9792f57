import { registerHooks } from "node:module";

// Packages that the official client needs offer their TypeScript under the condition "source", which tests run our
// own packages with.
registerHooks({
  resolve: (specifier, context, next) =>
    next(
      specifier,
      /^eventsource/.test(specifier) ? { ...context, conditions: ["node", "import"] } : context,
    ),
});

export const { Client, StreamableHTTPClientTransport } = await import("@modelcontextprotocol/client");
export const { StdioClientTransport } = await import("@modelcontextprotocol/client/stdio");
