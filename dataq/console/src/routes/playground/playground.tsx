import { useQuery, useQueryClient } from "@tanstack/react-query";
import { Link, useNavigate, useSearch } from "@tanstack/react-router";
import { Play } from "lucide-react";
import { type FormEvent, useState } from "react";
import { ServiceError } from "../../service/call.ts";
import {
  type Answer,
  type CatalogOperation,
  catalogQuery,
  estimate,
  type QueryBody,
  runQuery,
} from "../../service/catalog.ts";
import { useText } from "../../text/text.tsx";
import { Button, buttonClass } from "../../ui/button.tsx";
import { Field, Select } from "../../ui/field.tsx";
import { useFormat } from "../../ui/format.tsx";
import { useLook } from "../../ui/look.ts";
import { textIn } from "../../ui/operation-name.ts";
import { PageHead, Panel } from "../../ui/panel.tsx";
import { useSettled } from "../../ui/settled.ts";
import { Empty, explain, Failure, Loaded, Notice, Skeleton } from "../../ui/states.tsx";
import { ParameterFields } from "./parameter-fields.tsx";
import { ResultView } from "./result-view.tsx";
import { Snippets } from "./snippets.tsx";

/** Asks any operation: the form from the catalogue, the price before sending, the answer as it came. */
export function Playground() {
  const t = useText();
  const catalog = useQuery(catalogQuery);
  const { operation: wanted } = useSearch({ from: "/shell/playground" });
  return (
    <>
      <PageHead title={t.pages.playground} about={t.playground.about} />
      <Loaded query={catalog} lines={8}>
        {(operations) => {
          const operation = operations.find(({ name }) => name === wanted) ?? operations[0];
          if (!operation) return <Empty title={t.playground.noOperations} />;
          return <Bench key={operation.name} operation={operation} operations={operations} />;
        }}
      </Loaded>
    </>
  );
}

type Outcome =
  | { readonly state: "idle" | "running" }
  | { readonly state: "done"; readonly envelope: Answer; readonly tookMs: number }
  | { readonly state: "failed"; readonly error: unknown };

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
  const client = useQueryClient();
  const [values, setValues] = useState<Readonly<Record<string, string>>>(operation.example.params);
  const [page, setPage] = useState(1);
  const [outcome, setOutcome] = useState<Outcome>({ state: "idle" });
  const body = bodyOf(operation, values, page);

  const run = async (asked: QueryBody) => {
    setOutcome({ state: "running" });
    try {
      const { answer, tookMs } = await runQuery(asked);
      setOutcome({ state: "done", envelope: answer, tookMs });
    } catch (error) {
      setOutcome({ state: "failed", error });
    } finally {
      for (const queryKey of [["balance"], ["usage"], ["requests"], ["ledger"], ["estimate"]])
        void client.invalidateQueries({ queryKey });
    }
  };
  const send = (event: FormEvent) => {
    event.preventDefault();
    setPage(1);
    void run(bodyOf(operation, values, 1));
  };
  const turn = (to: number) => {
    setPage(to);
    void run(bodyOf(operation, values, to));
  };
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
            <ParameterFields operation={operation} values={values} onChange={setValues} />
            <Quote body={body} />
            <Button
              type="submit"
              kind="primary"
              isBusy={outcome.state === "running"}
              icon={<Play className="size-4" aria-hidden />}
            >
              {t.playground.send}
            </Button>
          </form>
        </Panel>
      </div>
      <div className="flex min-w-0 flex-col gap-5">
        <div aria-live="polite" className="min-w-0">
          {outcome.state === "idle" && (
            <Panel>
              <Empty icon={<Play className="size-5" />} title={t.playground.idle}>
                {t.playground.idleAbout}
              </Empty>
            </Panel>
          )}
          {outcome.state === "running" && (
            <Panel isFlush>
              <Skeleton lines={8} />
            </Panel>
          )}
          {outcome.state === "failed" && <Refusal error={outcome.error} />}
          {outcome.state === "done" && (
            <ResultView
              operation={operation}
              envelope={outcome.envelope}
              tookMs={outcome.tookMs}
              onTurn={turn}
            />
          )}
        </div>
        <Snippets body={body} />
      </div>
    </div>
  );
}

/** Why there is no answer; where money is missing, how much and where there is more. */
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

/** What pressing the button will cost, from the code that will charge it. */
function Quote({ body }: { readonly body: QueryBody }) {
  const t = useText();
  const format = useFormat();
  const text = useSettled(JSON.stringify(body));
  const query = useQuery({
    queryKey: ["estimate", text],
    queryFn: ({ signal }) => estimate(JSON.parse(text) as QueryBody, signal),
    retry: false,
    placeholderData: (before) => before,
  });
  return (
    <div aria-live="polite" className="min-h-16 rounded-lg bg-sunken px-3.5 py-2.5">
      {query.error ? (
        <p className="text-sm text-bad">{explain(query.error, t).title}</p>
      ) : query.data ? (
        <>
          <p className="tabular flex items-baseline justify-between gap-3">
            <span className="text-sm text-soft">{t.playground.price}</span>
            <span className="font-semibold" data-testid="price">
              {format.tokens(query.data.tokens)} {t.tokens}
              <span className="ml-1.5 font-normal text-soft">{format.yuan(query.data.tokens)}</span>
            </span>
          </p>
          <p className="tabular mt-0.5 text-xs text-faint">
            {query.data.cached ? `${t.playground.fromCache} ` : ""}
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
