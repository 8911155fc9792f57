import { useQuery } from "@tanstack/react-query";
import { Link, useNavigate, useSearch } from "@tanstack/react-router";
import { type FormEvent, useState } from "react";
import Play from "~icons/lucide/play";
import { ServiceError } from "../../service/call.ts";
import { type CatalogOperation, catalogQuery, estimate, type QueryBody } from "../../service/catalog.ts";
import { useText } from "../../text/text.tsx";
import { Button, buttonClass } from "../../ui/button.tsx";
import { explain } from "../../ui/explain.ts";
import { Field, Select } from "../../ui/field.tsx";
import { useFormat } from "../../ui/format.tsx";
import { useLook } from "../../ui/look.ts";
import { textIn } from "../../ui/operation-name.ts";
import { PageHead, Panel } from "../../ui/panel.tsx";
import { useSettled } from "../../ui/settled.ts";
import { Empty, Failure, Loaded, Notice, Skeleton } from "../../ui/states.tsx";
import { Allowed } from "../allowed.tsx";
import { wordsOf } from "./hits.ts";
import { ParameterFields } from "./parameter-fields.tsx";
import { Provenance } from "./provenance.tsx";
import { ResultView } from "./result-view.tsx";
import { Snippets } from "./snippets.tsx";
import { useCall } from "./use-call.ts";

/** A form for any operation, with the price before sending and the result after it. */
export function Playground() {
  const t = useText();
  const catalog = useQuery(catalogQuery);
  const { operation: wanted } = useSearch({ from: "/shell/playground" });
  return (
    <>
      <PageHead title={t.pages.playground} about={t.playground.about} />
      <Loaded query={catalog} lines={8}>
        {(operations) => {
          const operation = operations.find(({ name }) => name === wanted) ?? firstShown(operations);
          if (!operation) return <Empty title={t.playground.noOperations} />;
          return <Bench key={operation.name} operation={operation} operations={operations} />;
        }}
      </Loaded>
    </>
  );
}

/** Laws, because everybody has a question about them; or whatever has real records. */
function firstShown(operations: readonly CatalogOperation[]): CatalogOperation | undefined {
  const isReal = ({ data }: CatalogOperation) => data === "imported" || data === "connector";
  const real = operations.filter(isReal);
  return real.find(({ name }) => name === "legal_laws") ?? real[0] ?? operations[0];
}

function Bench({
  operation,
  operations,
}: {
  readonly operation: CatalogOperation;
  readonly operations: readonly CatalogOperation[];
}) {
  const t = useText();
  const { language } = useLook();
  const navigate = useNavigate();
  const [values, setValues] = useState<Readonly<Record<string, string>>>(operation.example.params);
  /** The form values that the shown answer belongs to. */
  const [asked, setAsked] = useState(values);
  const { outcome, isRunning, run } = useCall();
  const shownPage = outcome.state === "done" && asked === values ? outcome.answer.page : 1;

  const send = (event: FormEvent) => {
    event.preventDefault();
    setAsked(values);
    void run(bodyOf(operation, values, 1));
  };
  const turn = (to: number) => void run(bodyOf(operation, asked, to));
  const domains = [...new Set(operations.map(({ domain }) => domain))];
  return (
    <div className="grid items-start gap-5 xl:grid-cols-[22rem_minmax(0,1fr)]">
      <div className="flex min-w-0 flex-col gap-5">
        <Panel>
          <form className="flex flex-col gap-4" onSubmit={send}>
            <Field label={t.requests.operation}>
              {(attributes) => (
                <Select
                  {...attributes}
                  value={operation.name}
                  disabled={isRunning}
                  onChange={(event) =>
                    void navigate({ to: "/playground", search: { operation: event.target.value } })
                  }
                >
                  {domains.map((domain) => (
                    <optgroup key={domain} label={t.domains[domain as keyof typeof t.domains] ?? domain}>
                      {operations
                        .filter((one) => one.domain === domain)
                        .map((one) => (
                          <option key={one.name} value={one.name}>
                            {textIn(one.title, language)}
                          </option>
                        ))}
                    </optgroup>
                  ))}
                </Select>
              )}
            </Field>
            <p className="text-sm text-soft">{textIn(operation.description, language)}</p>
            {operation.coverage && (
              <p className="text-sm text-soft">
                {t.playground.covers(textIn(operation.coverage.text, language))}
              </p>
            )}
            <Provenance operation={operation} />
            <Availability operation={operation} onSample={setValues} />
            <ParameterFields operation={operation} values={values} onChange={setValues} />
            <Allowed to="data:query">
              <Quote
                body={bodyOf(operation, values, 1)}
                told={outcome.state === "failed" && !isRunning ? outcome.error : undefined}
              />
              <Button type="submit" kind="primary" isBusy={isRunning} icon={<Play className="size-4" />}>
                {t.playground.send}
              </Button>
            </Allowed>
          </form>
        </Panel>
      </div>
      <div className="flex min-w-0 flex-col gap-5">
        <div aria-live="polite" className="min-w-0">
          {outcome.state === "idle" && !isRunning && (
            <Panel>
              <Empty icon={<Play className="size-5" />} title={t.playground.idle}>
                {t.playground.idleAbout}
              </Empty>
            </Panel>
          )}
          {outcome.state !== "done" && isRunning && (
            <Panel isFlush>
              <Skeleton lines={8} />
            </Panel>
          )}
          {outcome.state === "failed" && !isRunning && <Refusal error={outcome.error} />}
          {outcome.state === "done" && (
            <ResultView
              operation={operation}
              envelope={outcome.answer}
              tookMs={outcome.tookMs}
              isTurning={isRunning}
              onTurn={turn}
              words={wordsOf([asked["query"], asked["keyword"]].filter(Boolean).join(" "))}
            />
          )}
        </div>
        <Snippets body={bodyOf(operation, values, shownPage)} />
      </div>
    </div>
  );
}

/**
 * What a caller should know before sending: whether the operation has only samples (and which), or no data at
 * all.
 */
function Availability({
  operation,
  onSample,
}: {
  readonly operation: CatalogOperation;
  readonly onSample: (params: Readonly<Record<string, string>>) => void;
}) {
  const t = useText();
  const { language } = useLook();
  if (operation.data === "none")
    return (
      <Notice tone="warn" title={t.playground.unavailable}>
        {t.playground.unavailableAbout(textIn(operation.needs, language))}
      </Notice>
    );
  if (operation.data !== "sample") return null;
  return (
    <Notice tone="warn" title={t.playground.samplesOnly}>
      <p>{t.playground.samplesOnlyAbout}</p>
      <ul className="mt-2 flex flex-wrap gap-1.5" aria-label={t.playground.samples}>
        {operation.samples
          .filter(({ params }) => Object.keys(params).length > 0)
          .map(({ params }) => (
            <li key={JSON.stringify(params)}>
              <Button size="small" onClick={() => onSample(params)}>
                {Object.values(params).join(" ")}
              </Button>
            </li>
          ))}
      </ul>
    </Notice>
  );
}

/** Why a call failed. If the balance is too low, shows how many tokens are missing. */
function Refusal({ error }: { readonly error: unknown }) {
  const t = useText();
  const format = useFormat();
  if (!(error instanceof ServiceError) || error.code !== "insufficient_balance")
    return <Failure error={error} />;
  const tokens = (name: string) => format.tokens(Number(error.body[name] ?? 0));
  return (
    <Notice
      tone="bad"
      title={t.errors.insufficient_balance}
      actions={
        <Link to="/top-up" className={buttonClass("plain", "small")}>
          {t.pages.topUp}
        </Link>
      }
    >
      {t.playground.short(tokens("balance"), tokens("required"), tokens("shortfall"))}
    </Notice>
  );
}

/** The price of the call. The service computes it with the same code that charges calls. */
function Quote({
  body,
  told,
}: {
  readonly body: QueryBody;
  /** Why the last call failed, which the page says already. */
  readonly told: unknown;
}) {
  const t = useText();
  const format = useFormat();
  const text = useSettled(JSON.stringify(body));
  const query = useQuery({
    queryKey: ["estimate", text],
    queryFn: ({ signal }) => estimate(JSON.parse(text) as QueryBody, signal),
    retry: false,
    placeholderData: (before) => before,
  });
  const problem = query.error ? explain(query.error, t).title : "";
  return (
    <div aria-live="polite" className="min-h-16 rounded-lg bg-sunken px-3.5 py-2.5">
      {query.error ? (
        <p className="text-sm text-bad">
          {told !== undefined && explain(told, t).title === problem ? "–" : problem}
        </p>
      ) : query.data ? (
        <>
          <p className="tabular flex items-baseline justify-between gap-3">
            <span className="text-sm text-soft">{t.playground.price}</span>
            <span className="font-semibold" data-testid="price">
              {t.amount(format.tokens(query.data.tokens))}
              <span className="ml-1.5 font-normal text-soft">{format.yuan(query.data.tokens)}</span>
            </span>
          </p>
          <p className="tabular mt-0.5 text-xs text-faint">
            {query.data.cached && t.playground.fromCache}
            {query.data.balance_after < 0
              ? t.playground.tooDear
              : t.playground.after(format.tokens(query.data.balance_after))}
          </p>
        </>
      ) : (
        <p className="text-sm text-faint">{t.loading}</p>
      )}
    </div>
  );
}

function bodyOf(
  operation: CatalogOperation,
  values: Readonly<Record<string, string>>,
  page: number,
): QueryBody {
  const params = Object.fromEntries(Object.entries(values).filter(([, value]) => value.trim() !== ""));
  return { operation: operation.name, params, ...(operation.paged && { page, page_size: 10 }) };
}
