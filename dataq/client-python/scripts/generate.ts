import { writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { envelopeSchema, type Operation, operations } from "@dataq/contract";
import { balance, estimate, usageGroups, usageRow } from "@dataq/contract/wire";
import { jsonSchema } from "../../client/scripts/json-schema.ts";
import { named, paramsSchema, pascal } from "../../client/scripts/operation-types.ts";
import { attribute, docstring, PythonTypes } from "./python-types.ts";

/**
 * `npm run generate`: writes what the Python client takes from the contract. A test fails when a written file is out of
 * date.
 */
const source = fileURLToPath(new URL("../src/dataq_client/", import.meta.url));
const all: readonly Operation[] = operations;

/** Returns the text of each file, by its path below `src/dataq_client/`. */
export function generate(): Map<string, string> {
  const files = new Map([
    ["_account.py", account()],
    ["_envelope.py", envelope()],
    ["records.py", operationTypes()],
    ["_methods.py", methods()],
  ]);
  for (const [path, text] of files) files.set(path, `${heading}\n\n${text.trimEnd()}\n`);
  return files;
}

const heading = `# Written by scripts/generate.ts; change the contract, or the script, and run it again.
from __future__ import annotations`;

function account(): string {
  const types = new PythonTypes();
  types.add("Estimate", jsonSchema(estimate, "input"), "The price of a call now, in tokens.");
  types.add("Balance", jsonSchema(balance, "input"), "The tokens of an account.");
  types.add("UsageRow", jsonSchema(usageRow, "input"), "Calls and tokens of one group.");
  const groups = usageGroups.map((group) => JSON.stringify(group)).join(", ");
  return [
    "from typing import List, Literal, Optional, TypedDict, Union",
    `UsageGroup = Literal[${groups}]\n`,
    types.text(),
    "\nclass UsageReport(TypedDict):\n    data: List[UsageRow]\n",
  ].join("\n\n");
}

function envelope(): string {
  const first = all[0];
  if (first === undefined) throw new Error("The contract has no operation.");
  const {
    data: _data,
    summary: _summary,
    ...fields
  } = jsonSchema(envelopeSchema(first), "output").properties ?? {};
  const types = new PythonTypes(named);
  const { usage = {}, index = {} } = fields;
  types.add("Usage", usage, "What a call cost, in tokens, and what is left.");
  types.add("IndexState", index, "State of the index that an answer was read from.");
  types.add(
    "Source",
    jsonSchema(first.record, "output").properties?.["source"] ?? {},
    "Where a record comes from. The kind of generated records is always `sample`.",
  );
  const required = jsonSchema(envelopeSchema(first), "output").required ?? [];
  const attributes = Object.entries(fields).map(([name, schema]) => {
    const type = types.ofField("Envelope", name, schema);
    return `    ${attribute(name)}: ${required.includes(name) ? type : `Optional[${type}]`}\n${docstring(schema.description, "    ")}`;
  });
  return [
    "from typing import Any, List, Literal, Optional, TypedDict, Union",
    `# Names that the envelope uses itself. A record's field of the same name is read from \`data\`.\nenvelope_fields = frozenset(\n    ${JSON.stringify(Object.keys(envelopeSchema(first).shape)).replaceAll(",", ", ")}\n)\n`,
    types.text(),
    `\nclass Envelope:\n    """What every answer contains besides its data."""\n\n${attributes.join("")}`,
  ].join("\n\n");
}

function operationTypes(): string {
  const types = new PythonTypes(named);
  const results = all.map((operation) => resultClass(operation, types));
  const table = all.map(({ name }) => `    "${name}": ${pascal(name)}Result,\n`);
  return [
    "from typing import Any, ClassVar, Dict, List, Literal, Optional, Type, TypedDict, Union",
    "from ._envelope import Source\nfrom ._result import Result",
    `OperationName = Literal[\n${all.map(({ name }) => `    "${name}",\n`).join("")}]\n`,
    types.text(),
    `\n${results.join("\n\n")}`,
    `\nresult_types: Dict[str, Type[Result[Any]]] = {\n${table.join("")}}`,
  ].join("\n\n");
}

/** The answer of an operation: its summary, and the fields of its record if it returns only one. */
function resultClass(operation: Operation, types: PythonTypes): string {
  const name = pascal(operation.name);
  const record = jsonSchema(operation.record, "output");
  types.add(`${name}Record`, record);
  const fields: string[] = [];
  if (operation.summary !== undefined) {
    types.add(`${name}Summary`, jsonSchema(operation.summary, "output"));
    fields.push(`    summary: ${name}Summary\n`);
  }
  const own = new Set([...Object.keys(envelopeSchema(operation).shape), "body", "response", "to_pandas"]);
  if (operation.kind !== "list") {
    const unnamed = new PythonTypes(named);
    for (const [field, schema] of Object.entries(record.properties ?? {})) {
      if (own.has(field)) continue;
      const type = unnamed.ofField(`${name}Record`, field, schema);
      const isRequired = record.required?.includes(field);
      fields.push(
        `    ${field}: ${isRequired ? type : `Optional[${type}]`}\n${docstring(schema.description, "    ")}`,
      );
    }
  }
  const data = operation.kind === "list" ? `List[${name}Record]` : `${name}Record`;
  return `class ${name}Result(Result[${data}]):\n${docstring(operation.description.en, "    ", "\n")}    operation_name: ClassVar[str] = "${operation.name}"\n${fields.join("")}`;
}

function methods(): string {
  const names = all.flatMap(({ name }) => [`${pascal(name)}Record`, `${pascal(name)}Result`]);
  return [
    "from typing import Any, Dict, Literal, Mapping, Optional, Type, Union, overload",
    [
      "from .records import (",
      ...names.map((name) => `    ${name},`),
      ")",
      "from ._options import PageOptions, QueryOptions",
      "from ._pages import AsyncPages, Pages",
      "from ._result import AnyResult",
      "from ._unpack import Unpack",
    ].join("\n"),
    face("Operations", "def", "", "Pages"),
    `\n${face("AsyncOperations", "async def", "await ", "AsyncPages")}`,
  ].join("\n\n");
}

function face(name: string, define: string, wait: string, pages: string): string {
  return [
    `class ${name}:\n    """Every operation as a method."""\n`,
    `    ${define} _query(\n        self, kind: Type[AnyResult], params: Mapping[str, object], options: Mapping[str, Any]\n    ) -> AnyResult:\n        raise NotImplementedError\n`,
    ...all.map((operation) => {
      const type = `${pascal(operation.name)}Result`;
      const params = Object.keys(paramsSchema(operation).properties ?? {});
      const dictionary = params.map((param) => `"${param}": ${param}`).join(", ");
      return [
        `    ${define} ${operation.name}(\n        self,\n${parameters(operation, "*")}        **options: Unpack[QueryOptions],\n    ) -> ${type}:\n`,
        `${docstringOf(operation)}`,
        `        params: Dict[str, object] = {${dictionary}}\n`,
        `        return ${wait}self._query(${type}, params, options)\n`,
      ].join("");
    }),
    ...all.map(
      (operation) =>
        `    @overload\n    def paginate(\n        self,\n        operation: Literal["${operation.name}"],\n        /,\n${parameters(operation, "*", true)}        **options: Unpack[PageOptions],\n    ) -> ${pages}[${pascal(operation.name)}Result, ${pascal(operation.name)}Record]: ...\n`,
    ),
    `    def paginate(self, operation: str, /, **given: Any) -> ${pages}[Any, Any]:\n        """The pages of a search. Each page is requested when you reach it."""\n        return self._paginate(operation, given)\n`,
    `    def _paginate(self, operation: str, given: Mapping[str, Any]) -> ${pages}[Any, Any]:\n        raise NotImplementedError\n`,
  ].join("\n");
}

/** The parameters of a method. Required parameters may be given by position; the others only by name. */
function parameters(operation: Operation, star: string, allByName = false): string {
  const { properties = {}, required = [] } = paramsSchema(operation);
  const types = new PythonTypes();
  const names = Object.keys(properties).map(attribute);
  for (const name of names) {
    if (options.has(name)) throw new Error(`${name} is an option of calls; choose another parameter name.`);
  }
  const typeOf = (name: string) => types.of("", properties[name] ?? {});
  const needed = required.map((name) => `        ${name}: ${typeOf(name)},\n`);
  const rest = names
    .filter((name) => !required.includes(name))
    .map((name) => `        ${name}: Optional[${typeOf(name)}] = None,\n`);
  if (allByName) return names.length === 0 ? "" : [`        ${star},\n`, ...needed, ...rest].join("");
  return [...needed, ...(rest.length === 0 ? [] : [`        ${star},\n`, ...rest])].join("");
}

/** Names that a parameter cannot have, because calls have options of the same names. */
const options = new Set(
  "timeout total_timeout max_retries retry_delay retry_backoff max_retry_wait retry_network_errors request_id headers cache fields snapshot max_tokens idempotency_key start_page max_pages max_items resume operation self".split(
    " ",
  ),
);

function docstringOf(operation: Operation): string {
  const { properties = {} } = paramsSchema(operation);
  const lines = Object.entries(properties)
    .filter(([, { description }]) => description !== undefined)
    .map(([name, { description = "" }]) => `        ${name}: ${description.replaceAll("\\", "\\\\")}\n`);
  const text = docstring(operation.description.en, "        ");
  return lines.length === 0 ? text : `${text.replace(/"""\n$/, "\n\n")}${lines.join("")}        """\n`;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  for (const [path, text] of generate()) writeFileSync(source + path, text);
}
