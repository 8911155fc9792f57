import type { QueryClient } from "@tanstack/react-query";
import {
  createRootRouteWithContext,
  createRoute,
  createRouter,
  lazyRouteComponent,
  Outlet,
  redirect,
} from "@tanstack/react-router";
import { MissingPage, StartFailure } from "./routes/missing.tsx";
import { Shell } from "./routes/shell.tsx";
import { send } from "./service/call.ts";
import { catalogQuery } from "./service/catalog.ts";
import { balanceQuery, recentUsageQuery } from "./service/money.ts";
import { sessionQuery } from "./service/session.ts";
import { Skeleton } from "./ui/states.tsx";

/**
 * A page's code that cannot be fetched is one of an older version, and the router loads the whole page anew. Where
 * nobody answers, that would lose the page: then it is the service that is away.
 */
function reached<Module>(load: () => Promise<Module>): () => Promise<Module> {
  return () =>
    load().catch(async (error: unknown) => {
      await send("/healthz");
      throw error;
    });
}

/** Every page's address. A page's code is fetched when it is first visited; its folder name is its address. */
const root = createRootRouteWithContext<{ client: QueryClient }>()({
  component: Outlet,
  errorComponent: StartFailure,
  notFoundComponent: MissingPage,
});

/** Pages for people who are not signed in. */
const door = createRoute({
  getParentRoute: () => root,
  id: "door",
  component: lazyRouteComponent(
    reached(() => import("./routes/door/frame.tsx")),
    "DoorFrame",
  ),
  beforeLoad: async ({ context, location }) => {
    const { user } = await context.client.ensureQueryData(sessionQuery);
    const isForAll = location.pathname === "/enter" || location.pathname === "/join";
    if (user?.accountId && !isForAll) throw redirect({ to: "/" });
  },
});

const shell = createRoute({
  getParentRoute: () => root,
  id: "shell",
  component: Shell,
  beforeLoad: async ({ context, location }) => {
    const { user } = await context.client.ensureQueryData(sessionQuery);
    if (!user) throw redirect({ to: "/sign-in", search: { next: location.href } });
    if (!user.accountId) throw redirect({ to: "/pending" });
  },
});

const admin = createRoute({
  getParentRoute: () => shell,
  id: "admin",
  component: Outlet,
  beforeLoad: async ({ context }) => {
    const { user } = await context.client.ensureQueryData(sessionQuery);
    if (user?.role !== "admin") throw redirect({ to: "/" });
  },
});

const doorPage = { getParentRoute: () => door };
const page = { getParentRoute: () => shell };
const adminPage = { getParentRoute: () => admin };

const textOf = (value: unknown) => (typeof value === "string" ? value : undefined);

const signIn = createRoute({
  ...doorPage,
  path: "/sign-in",
  validateSearch: (search) => ({ next: textOf(search["next"]) }),
  component: lazyRouteComponent(
    reached(() => import("./routes/door/sign-in.tsx")),
    "SignIn",
  ),
});
const signUp = createRoute({
  ...doorPage,
  path: "/sign-up",
  validateSearch: (search) => ({ next: textOf(search["next"]) }),
  component: lazyRouteComponent(
    reached(() => import("./routes/door/sign-up.tsx")),
    "SignUp",
  ),
});
const forgot = createRoute({
  ...doorPage,
  path: "/forgot",
  component: lazyRouteComponent(
    reached(() => import("./routes/door/forgot.tsx")),
    "Forgot",
  ),
});
const reset = createRoute({
  ...doorPage,
  path: "/reset",
  component: lazyRouteComponent(
    reached(() => import("./routes/door/reset.tsx")),
    "Reset",
  ),
});
const verify = createRoute({
  ...doorPage,
  path: "/verify",
  component: lazyRouteComponent(
    reached(() => import("./routes/door/verify.tsx")),
    "Verify",
  ),
});
const pending = createRoute({
  ...doorPage,
  path: "/pending",
  component: lazyRouteComponent(
    reached(() => import("./routes/door/pending.tsx")),
    "Pending",
  ),
});
const enter = createRoute({
  ...doorPage,
  path: "/enter",
  component: lazyRouteComponent(
    reached(() => import("./routes/door/enter.tsx")),
    "Enter",
  ),
});

const join = createRoute({
  ...doorPage,
  path: "/join",
  component: lazyRouteComponent(
    reached(() => import("./routes/door/join.tsx")),
    "Join",
  ),
});

const overview = createRoute({
  ...page,
  path: "/",
  // Asked for while the page's code is on its way.
  loader: ({ context: { client } }) => {
    void client.prefetchQuery(balanceQuery);
    void client.prefetchQuery(recentUsageQuery());
  },
  component: lazyRouteComponent(
    reached(() => import("./routes/overview/overview.tsx")),
    "Overview",
  ),
});
const playground = createRoute({
  ...page,
  path: "/playground",
  loader: ({ context: { client } }) => {
    void client.prefetchQuery(catalogQuery);
  },
  validateSearch: (search) => ({ operation: textOf(search["operation"]) }),
  component: lazyRouteComponent(
    reached(() => import("./routes/playground/playground.tsx")),
    "Playground",
  ),
});
const keys = createRoute({
  ...page,
  path: "/keys",
  component: lazyRouteComponent(
    reached(() => import("./routes/keys/keys.tsx")),
    "Keys",
  ),
});
const usage = createRoute({
  ...page,
  path: "/usage",
  component: lazyRouteComponent(
    reached(() => import("./routes/usage/usage.tsx")),
    "Usage",
  ),
});
const requests = createRoute({
  ...page,
  path: "/requests",
  component: lazyRouteComponent(
    reached(() => import("./routes/requests/requests.tsx")),
    "Requests",
  ),
});
const request = createRoute({
  ...page,
  path: "/requests/$id",
  component: lazyRouteComponent(
    reached(() => import("./routes/requests/request.tsx")),
    "OneRequest",
  ),
});
const ledger = createRoute({
  ...page,
  path: "/ledger",
  component: lazyRouteComponent(
    reached(() => import("./routes/ledger/ledger.tsx")),
    "Ledger",
  ),
});
const topUp = createRoute({
  ...page,
  path: "/top-up",
  component: lazyRouteComponent(
    reached(() => import("./routes/top-up/top-up.tsx")),
    "TopUp",
  ),
});
const pricing = createRoute({
  ...page,
  path: "/pricing",
  component: lazyRouteComponent(
    reached(() => import("./routes/pricing/pricing.tsx")),
    "Pricing",
  ),
});
const operation = createRoute({
  ...page,
  path: "/pricing/$operation",
  component: lazyRouteComponent(
    reached(() => import("./routes/pricing/operation.tsx")),
    "OneOperation",
  ),
});
const quickStart = createRoute({
  ...page,
  path: "/quick-start",
  component: lazyRouteComponent(
    reached(() => import("./routes/quick-start/quick-start.tsx")),
    "QuickStart",
  ),
});
const settings = createRoute({
  ...page,
  path: "/settings",
  component: lazyRouteComponent(
    reached(() => import("./routes/settings/settings.tsx")),
    "Settings",
  ),
});

const accounts = createRoute({
  ...adminPage,
  path: "/admin/accounts",
  component: lazyRouteComponent(
    reached(() => import("./routes/admin/accounts.tsx")),
    "Accounts",
  ),
});
const account = createRoute({
  ...adminPage,
  path: "/admin/accounts/$id",
  component: lazyRouteComponent(
    reached(() => import("./routes/admin/account.tsx")),
    "OneAccount",
  ),
});
const vouchers = createRoute({
  ...adminPage,
  path: "/admin/vouchers",
  component: lazyRouteComponent(
    reached(() => import("./routes/admin/vouchers.tsx")),
    "Vouchers",
  ),
});
const prices = createRoute({
  ...adminPage,
  path: "/admin/prices",
  component: lazyRouteComponent(
    reached(() => import("./routes/admin/prices.tsx")),
    "Prices",
  ),
});
const sources = createRoute({
  ...adminPage,
  path: "/admin/sources",
  component: lazyRouteComponent(
    reached(() => import("./routes/admin/sources.tsx")),
    "Sources",
  ),
});
const integrity = createRoute({
  ...adminPage,
  path: "/admin/integrity",
  component: lazyRouteComponent(
    reached(() => import("./routes/admin/integrity.tsx")),
    "Integrity",
  ),
});
const models = createRoute({
  ...adminPage,
  path: "/admin/models",
  beforeLoad: async ({ context }) => {
    const { models: hasServer } = await context.client.ensureQueryData(sessionQuery);
    if (!hasServer) throw redirect({ to: "/" });
  },
  component: lazyRouteComponent(
    reached(() => import("./routes/admin/models.tsx")),
    "Models",
  ),
});

const tree = root.addChildren([
  door.addChildren([signIn, signUp, forgot, reset, verify, pending, enter, join]),
  shell.addChildren([
    overview,
    playground,
    keys,
    usage,
    requests,
    request,
    ledger,
    topUp,
    pricing,
    operation,
    quickStart,
    settings,
    admin.addChildren([accounts, account, vouchers, prices, sources, integrity, models]),
  ]),
]);

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
    /** The address that somebody signed up with just now. */
    signedUpAs?: string;
  }
}
