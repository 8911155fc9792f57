// The pages of the site in the order of reading. A page is named by its path in docs/, without the ending. Every page of
// docs/ stands in one group, except those that only developers of the products read.
export const groups = [
  {
    product: "dataq",
    title: { en: "Use dataq", zh: "使用 dataq" },
    pages: [
      "dataq/start",
      "dataq/search",
      "dataq/citation-check",
      "dataq/operations",
      "dataq/billing",
      "dataq/keys-and-limits",
      "dataq/errors",
      "dataq/console",
      "dataq/troubleshooting",
    ],
  },
  {
    product: "dataq",
    title: { en: "Programs and agents", zh: "程序与智能体" },
    pages: ["dataq/reference", "dataq/client", "dataq/client-python", "dataq/mcp", "dataq/webhooks"],
  },
  {
    product: "dataq",
    title: { en: "Operate dataq", zh: "运营 dataq" },
    pages: [
      "dataq/operating",
      "dataq/business",
      "dataq/single-sign-on",
      "dataq/hosting",
      "dataq/payments",
      "dataq/open-data",
      "dataq/connectors",
      "dataq/sources-and-imports",
      "dataq/backups",
      "dataq/scaling",
      "dataq/search-engine",
      "dataq/everyday-words",
      "dataq/opensearch",
      "dataq/adding-an-operation",
    ],
  },
  {
    product: "locallm",
    title: { en: "Use locallm", zh: "使用 locallm" },
    pages: [
      "locallm/start",
      "locallm/page",
      "locallm/bigger-models",
      "locallm/sources",
      "locallm/models",
      "locallm/coming-from-ollama",
      "locallm/troubleshooting",
    ],
  },
  {
    product: "locallm",
    title: { en: "Programs and agents", zh: "程序与智能体" },
    pages: [
      "locallm/reference",
      "locallm/api",
      "locallm/openai",
      "locallm/anthropic",
      "locallm/templates-and-tools",
      "locallm/agents",
      "locallm/pictures",
      "locallm/embedding",
    ],
  },
  {
    product: "locallm",
    title: { en: "Operate locallm", zh: "运维 locallm" },
    pages: [
      "locallm/configuration",
      "locallm/limits",
      "locallm/gpu",
      "locallm/keys",
      "locallm/security",
      "locallm/remote-models",
    ],
  },
  {
    product: "both",
    title: { en: "Both products", zh: "两个产品" },
    pages: ["install", "services", "privacy"],
  },
];

/** Pages of docs/ that the site does not have. */
export const unlisted = ["README", "proof"];
