import type { QueryClient } from "@tanstack/react-query";
import { createRouter } from "@tanstack/react-router";
import { StartFailure } from "../routes/missing.tsx";
import { Skeleton } from "../ui/states.tsx";
import { accountRoutes } from "./account-routes.ts";
import { adminRoutes } from "./admin-routes.ts";
import { authRoutes } from "./auth-routes.ts";
import { rootRoute } from "./root-route.ts";
import { shellRoute } from "./shell-route.ts";

/** All pages. A page's folder has the name of its path. */
const tree = rootRoute.addChildren([authRoutes, shellRoute.addChildren([...accountRoutes, adminRoutes])]);

export function makeRouter(client: QueryClient) {
  return createRouter({
    routeTree: tree,
    basepath: "/console",
    context: { client },
    defaultPreload: "intent",
    defaultPendingComponent: Skeleton,
    defaultErrorComponent: StartFailure,
    scrollRestoration: true,
  });
}

declare module "@tanstack/react-router" {
  interface Register {
    router: ReturnType<typeof makeRouter>;
  }
  interface HistoryState {
    /** The email address of a sign-up that has just been completed. */
    signedUpAs?: string;
  }
}
