import type { Bilingual } from "@dataq/contract";
import { useQuery } from "@tanstack/react-query";
import { Link, useParams } from "@tanstack/react-router";
import ArrowLeft from "~icons/lucide/arrow-left";
import FlaskConical from "~icons/lucide/flask-conical";
import { catalogQuery, type Schema, statusQuery } from "../../service/catalog.ts";
import { pricingQuery } from "../../service/money.ts";
import { useText } from "../../text/text.tsx";
import { buttonClass } from "../../ui/button.tsx";
import { Code } from "../../ui/code.tsx";
import { useFormat } from "../../ui/format.tsx";
import { useLook } from "../../ui/look.ts";
import { textIn } from "../../ui/operation-name.ts";
import { PageHead, Panel } from "../../ui/panel.tsx";
import { Loaded } from "../../ui/states.tsx";
import { Table } from "../../ui/table.tsx";
import { Freshness } from "./freshness.tsx";

/** An operation with its parameters, fields and prices. */
export function OneOperation() {
  const t = useText();
  const format = useFormat();
  const priced = (tokens: number) => (
    <>
      {t.amount(format.tokens(tokens))}
      <span className="block text-xs text-soft">{format.yuan(tokens)}</span>
    </>
  );
  const { language } = useLook();
  const { operation: name } = useParams({ from: "/shell/pricing/$operation" });
  const catalog = useQuery(catalogQuery);
  const pricing = useQuery(pricingQuery);
  const status = useQuery(statusQuery);
  const versions = pricing.data?.data.filter((price) => price.operation === name) ?? [];
  return (
    <>
      <Link to="/pricing" className="mb-3 inline-flex items-center gap-1.5 text-sm text-soft hover:text-ink">
        <ArrowLeft className="size-4" />
        {t.pages.pricing}
      </Link>
      <Loaded query={catalog}>
        {(operations) => {
          const operation = operations.find((one) => one.name === name);
          if (!operation) return <PageHead title={t.missing.title} about={t.missing.about} />;
          return (
            <>
              <PageHead
                title={textIn(operation.title, language)}
                about={textIn(operation.description, language)}
                actions={
                  <Link to="/playground" search={{ operation: name }} className={buttonClass("primary")}>
                    <FlaskConical className="size-4" />
                    {t.overview.try}
                  </Link>
                }
              />
              <div className="mb-5 flex flex-wrap items-center gap-3">
                <code className="font-mono text-sm">{name}</code>
                <Freshness status={status.data} operation={name} />
              </div>
              <Panel title={t.pricing.parameters} className="mb-5" isFlush>
                <Fields
                  schema={operation.params}
                  meanings={operation.meanings.params}
                  none={t.playground.noParameters}
                />
              </Panel>
              <Panel title={t.pricing.record} about={t.pricing.recordAbout} className="mb-5" isFlush>
                <Fields schema={operation.record} meanings={operation.meanings.record} none="–" />
              </Panel>
              <Panel title={t.pricing.versions} className="mb-5" isFlush>
                <Table
                  label={t.pricing.versions}
                  rows={versions}
                  keyOf={({ version }) => version}
                  columns={[
                    { name: t.pricing.version, cell: ({ version }) => version },
                    {
                      name: t.pricing.since,
                      className: "tabular whitespace-nowrap",
                      cell: (price) => format.moment(price.effective_from),
                    },
                    {
                      name: t.pricing.call,
                      isNumber: true,
                      className: "whitespace-nowrap",
                      cell: ({ tokens }) => priced(tokens),
                    },
                    {
                      name: t.pricing.repeat,
                      isNumber: true,
                      cell: (price) =>
                        price.cached_tokens === null ? t.pricing.same : priced(price.cached_tokens),
                    },
                  ]}
                />
              </Panel>
              <Code
                label={t.pricing.example}
                text={JSON.stringify({ operation: name, params: operation.example.params }, null, 2)}
              />
            </>
          );
        }}
      </Loaded>
    </>
  );
}

function Fields({
  schema,
  meanings,
  none,
}: {
  readonly schema: Schema;
  readonly meanings: Readonly<Record<string, Bilingual>>;
  readonly none: string;
}) {
  const t = useText();
  const { language } = useLook();
  const rows = flatten(schema);
  if (rows.length === 0) return <p className="px-5 py-4 text-sm text-faint">{none}</p>;
  return (
    <Table
      label={t.pricing.field}
      rows={rows}
      keyOf={({ path }) => path}
      columns={[
        {
          name: t.pricing.field,
          className: "min-w-48 sm:w-1/2",
          cell: ({ path }) => (
            <>
              <code className="font-mono text-xs break-words">{path}</code>
              <span className="block text-sm text-soft empty:hidden">
                {meaningOf(path, meanings)?.[language]}
              </span>
            </>
          ),
        },
        {
          name: t.pricing.type,
          isWide: true,
          className: "min-w-32",
          cell: ({ type }) => <span className="text-xs break-words text-soft">{type}</span>,
        },
      ]}
    />
  );
}

/** The meaning of the field. A list without a meaning gets the meaning of its items. */
function meaningOf(path: string, meanings: Readonly<Record<string, Bilingual>>): Bilingual | undefined {
  return meanings[path] ?? (path.endsWith("[]") ? meanings[path.slice(0, -2)] : undefined);
}

/** All fields with their paths, at any depth. */
function flatten(schema: Schema, prefix = ""): { path: string; type: string }[] {
  return Object.entries(schema.properties ?? {}).flatMap(([name, property]) => {
    const variants = property.anyOf ?? [property];
    const real = variants.find(({ type }) => type !== "null") ?? property;
    const inner = real.type === "array" ? (real.items ?? {}) : real;
    const path = `${prefix}${name}${real.type === "array" ? "[]" : ""}`;
    const isNullable = variants.some(({ type }) => type === "null");
    const choices = (inner.enum ?? []).filter(Boolean).join(" | ");
    const type = `${choices || [inner.type ?? "any"].flat().join(" | ")}${isNullable ? " | null" : ""}`;
    return [{ path, type }, ...flatten(inner, `${path}.`)];
  });
}
