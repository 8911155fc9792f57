import type { OwnPrice, Price } from "@dataq/contract/wire";
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { catalogQuery, statusQuery } from "../../service/catalog.ts";
import { ownPricesQuery, pricingQuery } from "../../service/money.ts";
import { useText } from "../../text/text.tsx";
import { TOKENS_PER_FEN, useFormat } from "../../ui/format.tsx";
import { useLook } from "../../ui/look.ts";
import { textIn } from "../../ui/operation-name.ts";
import { PageHead, Panel } from "../../ui/panel.tsx";
import { Loaded, Notice } from "../../ui/states.tsx";
import { Table } from "../../ui/table.tsx";
import { Freshness } from "./freshness.tsx";

/** The operations with prices and the age of their data. */
export function Pricing() {
  const t = useText();
  const format = useFormat();
  const { language } = useLook();
  const catalog = useQuery(catalogQuery);
  const pricing = useQuery(pricingQuery);
  const status = useQuery(statusQuery);
  const own = useQuery(ownPricesQuery);
  const ownOf = (name: string) => own.data?.data.find((price) => price.operation === name);
  const now = new Date().toISOString();
  const priceOf = (name: string) =>
    pricing.data?.data.findLast((price) => price.operation === name && price.effective_from <= now);
  const volume = pricing.data?.volume.findLast(({ effective_from }) => effective_from <= now);
  const coming = pricing.data?.data.filter((price) => price.effective_from > now) ?? [];
  return (
    <>
      <PageHead title={t.pages.pricing} about={t.pricing.about} />
      {coming.length > 0 && (
        <div className="mb-5">
          <Notice tone="warn" title={t.pricing.coming}>
            <ul>
              {coming.map((price: Price) => (
                <li key={`${price.operation}-${price.version}`} className="tabular">
                  {format.moment(price.effective_from)} · {price.operation} ·{" "}
                  {t.amount(format.tokens(price.tokens))}
                </li>
              ))}
            </ul>
          </Notice>
        </div>
      )}
      <Loaded query={catalog} lines={10}>
        {(operations) => [
          <SamplesOnly key="samples" count={operations.filter(({ data }) => data === "sample").length} />,
          ...[...new Set(operations.map(({ domain }) => domain))].map((domain) => (
            <Panel
              key={domain}
              title={t.domains[domain as keyof typeof t.domains] ?? domain}
              className="mb-5"
              isFlush
            >
              <Table
                label={t.domains[domain as keyof typeof t.domains] ?? domain}
                rows={operations.filter((one) => one.domain === domain)}
                keyOf={({ name }) => name}
                columns={[
                  {
                    name: t.requests.operation,
                    className: "min-w-52",
                    cell: (operation) => (
                      <>
                        <Link
                          to="/pricing/$operation"
                          params={{ operation: operation.name }}
                          className="font-medium text-accent underline-offset-4 hover:underline"
                        >
                          {textIn(operation.title, language)}
                        </Link>
                        <code className="block font-mono text-xs text-faint">{operation.name}</code>
                      </>
                    ),
                  },
                  {
                    name: t.pricing.call,
                    isNumber: true,
                    className: "whitespace-nowrap sm:w-36",
                    cell: ({ name, data }) => (
                      <>
                        <PriceCell tokens={priceOf(name)?.tokens} isSample={data === "sample"} />
                        <PricedPer per={priceOf(name)?.per} />
                        {data !== "sample" && <OwnTerms own={ownOf(name)} />}
                      </>
                    ),
                  },
                  {
                    name: t.pricing.repeat,
                    isNumber: true,
                    className: "whitespace-nowrap sm:w-36",
                    cell: ({ name, data }) =>
                      data === "sample" ? "–" : <PriceCell tokens={priceOf(name)?.cached_tokens} />,
                  },
                  {
                    name: t.pricing.freshness,
                    isWide: true,
                    className: "sm:w-60",
                    cell: ({ name, data, needs }) => (
                      <>
                        <Freshness status={status.data} operation={name} />
                        {(data === "sample" || data === "none") && (
                          <span className="mt-1 block text-xs text-faint">
                            {t.pricing.needs(textIn(needs, language))}
                          </span>
                        )}
                      </>
                    ),
                  },
                ]}
              />
            </Panel>
          )),
        ]}
      </Loaded>
      {volume && volume.steps.length > 0 && (
        <p className="mb-2 text-sm text-soft">
          {t.pricing.volume}{" "}
          {volume.steps
            .map(({ from_tokens, percent }) => `${format.yuan(from_tokens)} → −${percent}%`)
            .join(" · ")}
        </p>
      )}
      {pricing.data && pricing.data.packages.length > 0 && (
        <p className="mb-2 text-sm text-soft">
          {t.pricing.packages}{" "}
          {pricing.data.packages
            .map(
              ({ tokens, price_fen, days }) =>
                `${t.packages.offer(format.tokens(tokens), format.number(days))} → ${format.yuan(price_fen * TOKENS_PER_FEN)}`,
            )
            .join(" · ")}
        </p>
      )}
      <p className="text-sm text-faint">{t.pricing.foot}</p>
    </>
  );
}

/** Whoever reads prices must know which answers are not facts yet. */
function SamplesOnly({ count }: { readonly count: number }) {
  const t = useText();
  const format = useFormat();
  if (count === 0) return null;
  return (
    <div className="mb-5">
      <Notice tone="warn" title={t.pricing.samplesOnly(format.number(count))}>
        <p>{t.pricing.samplesAbout}</p>
      </Notice>
    </div>
  );
}

/** What this account pays instead of the list price, and its free calls. */
function OwnTerms({ own }: { readonly own: OwnPrice | undefined }) {
  const t = useText();
  const format = useFormat();
  if (own === undefined) return null;
  return (
    <>
      {own.reason && (
        <span className="block text-xs text-good">
          {t.pricing.yours(format.yuan(own.tokens), t.playground.reasons[own.reason])}
        </span>
      )}
      {own.free_calls > 0 && (
        <span className="block text-xs text-good">
          {t.pricing.freeLeft(format.number(own.free_left), format.number(own.free_calls))}
        </span>
      )}
    </>
  );
}

/** What the price is for, if it is not for the whole call. */
function PricedPer({ per }: { readonly per: Price["per"] }) {
  const t = useText();
  const { language } = useLook();
  if (per === undefined) return null;
  return (
    <span className="block text-xs text-faint">{t.pricing.per(per.count, textIn(per.what, language))}</span>
  );
}

function PriceCell({
  tokens,
  isSample = false,
}: {
  readonly tokens: number | null | undefined;
  readonly isSample?: boolean;
}) {
  const t = useText();
  const format = useFormat();
  if (tokens === undefined) return "–";
  if (isSample)
    return (
      <>
        {t.pricing.free}
        <span className="block text-xs text-faint">{t.pricing.listPrice(format.tokens(tokens ?? 0))}</span>
      </>
    );
  if (tokens === null) return <span className="text-faint">{t.pricing.same}</span>;
  return (
    <>
      {format.yuan(tokens)}
      <span className="block text-xs text-faint">{t.amount(format.tokens(tokens))}</span>
    </>
  );
}
