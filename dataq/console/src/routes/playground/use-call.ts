import { useState } from "react";
import { type Answer, type QueryBody, runQuery } from "../../service/catalog.ts";
import { useCharged } from "./use-charged.ts";

type Outcome =
  | { readonly state: "idle" }
  | { readonly state: "done"; readonly answer: Answer; readonly tookMs: number }
  | { readonly state: "failed"; readonly error: unknown };

/** Runs one call at a time. Every call is charged, so the next one must wait until this answer is shown. */
export function useCall() {
  const { isRunning, run: charge } = useCharged(["estimate"]);
  const [outcome, setOutcome] = useState<Outcome>({ state: "idle" });

  const run = (body: QueryBody) =>
    charge(
      async (signal) => {
        const { answer, tookMs } = await runQuery(body, signal);
        setOutcome({ state: "done", answer, tookMs });
      },
      (error) => setOutcome({ state: "failed", error }),
    );
  return { outcome, isRunning, run };
}
