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
 * If code cannot be loaded, the router reloads the page, because the code is probably outdated. While the
 * service is down, a reload would lose the page, so this function throws the service's own error instead.
 */
async function afterFailure(error: unknown): Promise<never> {
  await send("/healthz");
  throw error;
}
