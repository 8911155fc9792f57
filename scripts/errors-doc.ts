import { writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { type ErrorCode, errors, errorsZh } from "@dataq/contract";

/**
 * docs/dataq/errors.md and errors.zh.md, which are generated from the contract. `node -C source scripts/errors-doc.ts`
 * writes them. The `type` of an error body leads to its heading.
 */
export const errorsPaths = {
  en: fileURLToPath(new URL("../docs/dataq/errors.md", import.meta.url)),
  zh: fileURLToPath(new URL("../docs/dataq/errors.zh.md", import.meta.url)),
};

export function errorsDoc(language: "en" | "zh"): string {
  const statuses = Map.groupBy(Object.keys(errors) as ErrorCode[], (code) => errors[code].status);
  const sections = [...statuses]
    .sort(([a], [b]) => a - b)
    .map(([status, codes]) => `## ${status}\n\n${codes.map((code) => entry(code, language)).join("\n\n")}`);
  return `${heads[language]}\n\n${sections.join("\n\n")}\n`;
}

const example = `\`\`\`json
{
  "error": { "code": "not_found", "message": "…", "type": "invalid_request_error" },
  "code": "not_found",
  "type": "/docs/errors/not_found",
  "status": 404,
  "detail": "…",
  "retryable": false,
  "next_action": "…",
  "request_id": "…"
}
\`\`\``;

const heads = {
  en: `# Errors

Every error that dataq can return, by HTTP status. A call that ends in an error costs nothing. What stands in braces is filled by the answer.

${example}

The message and the next step come in the language of \`Accept-Language\`; the code never changes. \`type\` is an address: it opens the entry of the code on this page. Retry only what says so, after \`retry_after\` seconds where it is given, with the same \`Idempotency-Key\`. What an error alone cannot tell stands in [troubleshooting](troubleshooting.md).`,
  zh: `# 错误码

dataq 返回的全部错误，按 HTTP 状态码排列。出错的调用一律不扣点数。花括号中的内容由实际响应填入。

${example}

错误说明和处理建议的语言由 \`Accept-Language\` 决定，错误码始终不变。\`type\` 是一个可以打开的地址，直接跳到本页对应的错误码。只重试标明可以重试的错误；给出 \`retry_after\` 时先等待相应秒数，并沿用同一个 \`Idempotency-Key\`。光看错误码还不明白的情况，见[疑难解答](troubleshooting.zh.md)。`,
};

function entry(code: ErrorCode, language: "en" | "zh"): string {
  const { message, nextAction, retryable } = errors[code];
  const [cause, remedy] =
    language === "zh" ? [errorsZh[code].message, errorsZh[code].nextAction] : [message, nextAction];
  const { causeIs, remedyIs, again, fixedByCall, summary } = words[language];
  const shown = (text: string) =>
    text
      .replaceAll(/^\{(?:summary|fix|problems)\}$/g, text.includes("fix") ? fixedByCall : summary)
      .replaceAll(/\{(\w+)(?:\|[^}]*)?\}/g, (_, name) => `\`{${name}}\``)
      .replaceAll(/<\w+>|\*\/\*/g, "`$&`");
  return `### ${code}

- **${causeIs}** ${shown(cause)}
- **${remedyIs}** ${shown(remedy)}${retryable ? `\n- ${again}` : ""}`;
}

const words = {
  en: {
    causeIs: "Cause:",
    remedyIs: "Remedy:",
    again: "May be retried.",
    fixedByCall: "The answer names the fix.",
    summary: "The answer lists each fault.",
  },
  zh: {
    causeIs: "原因：",
    remedyIs: "处理：",
    again: "可以重试。",
    fixedByCall: "响应中会给出具体的修正方法。",
    summary: "响应会逐项列出问题。",
  },
};

if (process.argv[1] === fileURLToPath(import.meta.url))
  for (const language of ["en", "zh"] as const) writeFileSync(errorsPaths[language], errorsDoc(language));
