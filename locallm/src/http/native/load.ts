import type { Parts } from "../parts.ts";
import type { Run } from "../run.ts";

/** An empty prompt loads the model, or unloads it with `keep_alive: 0`. `fields` are the route's answer fields. */
export async function loadOrUnload<Fields extends object>(parts: Parts, run: Run, fields: Fields) {
  const unload = run.keepAliveMs === 0;
  // Another engine decides itself what it loads.
  if (run.remote === null) {
    if (unload) parts.scheduler.expire(run.runnable);
    else (await run.lease("load")).release();
  }
  return {
    model: run.typedName,
    created_at: new Date().toISOString(),
    ...fields,
    done: true,
    done_reason: unload ? "unload" : "load",
  };
}
