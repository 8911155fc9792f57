import { useQueryClient } from "@tanstack/react-query";
import { useEffect, useRef, useState } from "react";
import { type Answer, type QueryBody, runQuery } from "../../service/catalog.ts";

type Outcome =
  | { readonly state: "idle" }
  | { readonly state: "done"; readonly answer: Answer; readonly tookMs: number }
  | { readonly state: "failed"; readonly error: unknown };

/**
 * Runs one call at a time. Every call is charged, so the next one must wait until this answer is shown.
 * Leaving the page cancels the call, and a cancelled call is not charged.
 */
export function useCall() {
  const client = useQueryClient();
  const running = useRef<AbortController | null>(null);
  const [isRunning, setRunning] = useState(false);
  const [outcome, setOutcome] = useState<Outcome>({ state: "idle" });
  useEffect(() => () => running.current?.abort(), []);

  const run = async (body: QueryBody) => {
    if (running.current) return;
    const controller = new AbortController();
    running.current = controller;
    setRunning(true);
    try {
      const { answer, tookMs } = await runQuery(body, controller.signal);
      setOutcome({ state: "done", answer, tookMs });
    } catch (error) {
      if (!controller.signal.aborted) setOutcome({ state: "failed", error });
    } finally {
      running.current = null;
      setRunning(false);
      for (const queryKey of [["balance"], ["usage"], ["requests"], ["ledger"], ["estimate"]])
        void client.invalidateQueries({ queryKey });
    }
  };
  return { outcome, isRunning, run };
}
