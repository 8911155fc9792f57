import { counted, errors, fill, type Operation, operations, paramsSchema } from "@dataq/contract";
import { type Route, routes } from "@dataq/contract/wire";
import { exampleOf, notice, type Terms, type TermsOf } from "./terms.ts";

/** The reference as one page without scripts: every operation, route and error. */
export function docsPage(termsOf: TermsOf): string {
  const list: readonly Operation[] = operations;
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width,initial-scale=1">
<title>dataq reference</title><style>${style}</style></head><body>
<h1>dataq</h1>
<p>Every operation is a <code>POST /v1/data/query</code> with <code>Authorization: Bearer &lt;API_KEY&gt;</code>.
For programs: <a href="/openapi.json">OpenAPI</a>, <a href="/v1/catalog">catalogue</a>, and for agents <a href="/llms.txt">llms.txt</a>.
For people: <a href="/docs/guides">guides</a>.</p>
<nav>${list.map(({ name }) => `<a href="#${name}">${name}</a>`).join(" ")} <a href="#routes">routes</a> <a href="#errors">errors</a></nav>
${list.map((operation) => section(operation, termsOf)).join("\n")}
<h2 id="routes">Routes</h2>
<table><tr><th>route</th><th>key</th><th>what it does</th></tr>${Object.values<Route>(routes)
    .map(
      ({ method, path, access, summary }) =>
        `<tr><td><code>${method} ${path}</code></td><td>${access === "key" ? "yes" : "no"}</td><td>${escaped(summary)}</td></tr>`,
    )
    .join("")}</table>
<h2 id="errors">Errors</h2>
<table><tr><th>code</th><th>status</th><th>meaning</th><th>what to do</th></tr>${Object.entries(errors)
    .map(
      ([code, { status, message, nextAction }]) =>
        `<tr id="error-${code}"><td><code>${code}</code></td><td>${status}</td><td>${escaped(fill(message, {}))}</td><td>${escaped(nextAction)}</td></tr>`,
    )
    .join("")}</table>
</body></html>`;
}

const style =
  "body{font:16px/1.5 system-ui,sans-serif;max-width:60rem;margin:2rem auto;padding:0 1rem}table{border-collapse:collapse;width:100%}td,th{border:1px solid #bbb;padding:.3rem .5rem;text-align:left;vertical-align:top}pre{background:#f3f3f3;padding:.7rem;overflow:auto}nav{line-height:2}";

function section(operation: Operation, termsOf: TermsOf): string {
  const terms = termsOf(operation);
  const { tokens, cachedTokens } = terms;
  const known = notice(terms);
  const body = JSON.stringify({ operation: operation.name, params: exampleOf(operation, terms) });
  const schema = paramsSchema(operation) as {
    properties?: Record<string, { description?: string }>;
    required?: string[];
  };
  const rows = Object.entries(schema.properties ?? {}).map(
    ([name, { description = "" }]) =>
      `<tr><td><code>${name}</code></td><td>${schema.required?.includes(name) ? "yes" : "no"}</td><td>${escaped(description)}</td></tr>`,
  );
  const { pricedPer } = operation;
  const per = pricedPer === undefined ? "" : ` per ${pricedPer.count} ${pricedPer.what.en}, rounded up`;
  const cached = cachedTokens === null ? "" : `, ${cachedTokens} for a cached answer`;
  return `<h2 id="${operation.name}">${operation.name}</h2>
<p>${escaped(operation.description.en)}<br><span lang="zh">${escaped(operation.description.zh)}</span></p>
<p><strong>${known.en}.</strong> <span lang="zh">${known.zh}。</span></p>
${sampleValues(terms)}
<p>${counted(tokens, "token")}${per}${cached}. ${operation.paged ? "Paged." : "Not paged."}</p>
${rows.length === 0 ? "<p>No parameters.</p>" : `<table><tr><th>parameter</th><th>required</th><th>meaning</th></tr>${rows.join("")}</table>`}
<pre>curl -X POST /v1/data/query -H 'Authorization: Bearer &lt;API_KEY&gt;' -H 'Content-Type: application/json' -d '${escaped(body)}'</pre>
<p>Fields: ${Object.keys(operation.record.shape)
    .map((name) => `<code>${name}</code>`)
    .join(" ")}</p>`;
}

function sampleValues({ data, samples }: Terms): string {
  const values = samples.map((params) => Object.values(params).join(" ")).filter((value) => value !== "");
  if (data !== "sample" || values.length === 0) return "";
  return `<p>Samples: ${values.map((value) => `<code>${escaped(value)}</code>`).join(" ")}</p>`;
}

function escaped(text: string): string {
  return text.replace(/[&<>]/g, (character) => ({ "&": "&amp;", "<": "&lt;", ">": "&gt;" })[character] ?? "");
}
