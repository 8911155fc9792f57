import { useQueryClient } from "@tanstack/react-query";
import { useEffect, useRef, useState } from "react";

/**
 * Runs one charged work at a time; a second one is ignored until the first has ended. Leaving the page cancels it, and a
 * cancelled call is not charged. Afterwards everything that shows the account's money is read again, and `alsoChanged`.
 */
export function useCharged(alsoChanged: readonly string[] = []) {
  const client = useQueryClient();
  const running = useRef<AbortController | null>(null);
  const [isRunning, setRunning] = useState(false);
  useEffect(() => () => running.current?.abort(), []);

  const run = async (work: (signal: AbortSignal) => Promise<void>, onError: (error: unknown) => void) => {
    if (running.current) return;
    const controller = new AbortController();
    running.current = controller;
    setRunning(true);
    try {
      await work(controller.signal);
    } catch (error) {
      if (!controller.signal.aborted) onError(error);
    } finally {
      running.current = null;
      setRunning(false);
      for (const name of ["balance", "usage", "requests", "ledger", ...alsoChanged])
        void client.invalidateQueries({ queryKey: [name] });
    }
  };
  return { isRunning, run };
}
