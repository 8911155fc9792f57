import { lazyRouteComponent } from "@tanstack/react-router";
import { send } from "../service/call.ts";

/** A component whose code is loaded when its page is first visited. */
export function lazyPage<Module extends Record<string, unknown>, Name extends keyof Module>(
  load: () => Promise<Module>,
  name: Name,
) {
  return lazyRouteComponent(() => load().catch(afterFailure), name);
}

/**
 * The router reloads the whole page when code cannot be loaded, because the code is probably of an older version. While
 * the service is away that would lose the page, so this fails with the service's own error instead.
 */
async function afterFailure(error: unknown): Promise<never> {
  await send("/healthz");
  throw error;
}
