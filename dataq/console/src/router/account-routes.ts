import { createRoute } from "@tanstack/react-router";
import { catalogQuery } from "../service/catalog.ts";
import { balanceQuery, recentUsageQuery } from "../service/money.ts";
import { lazyPage } from "./lazy-page.ts";
import { textOf } from "./root-route.ts";
import { shellRoute } from "./shell-route.ts";

const page = { getParentRoute: () => shellRoute };

const overview = createRoute({
  ...page,
  path: "/",
  // The data loads in parallel with the page's code.
  loader: ({ context: { client } }) => {
    void client.prefetchQuery(balanceQuery);
    void client.prefetchQuery(recentUsageQuery());
  },
  component: lazyPage(() => import("../routes/overview/overview.tsx"), "Overview"),
});
const playground = createRoute({
  ...page,
  path: "/playground",
  loader: ({ context: { client } }) => {
    void client.prefetchQuery(catalogQuery);
  },
  validateSearch: (search) => ({ operation: textOf(search["operation"]) }),
  component: lazyPage(() => import("../routes/playground/playground.tsx"), "Playground"),
});
const citations = createRoute({
  ...page,
  path: "/citations",
  component: lazyPage(() => import("../routes/citations/citations.tsx"), "Citations"),
});
const keys = createRoute({
  ...page,
  path: "/keys",
  component: lazyPage(() => import("../routes/keys/keys.tsx"), "Keys"),
});
const webhooks = createRoute({
  ...page,
  path: "/webhooks",
  component: lazyPage(() => import("../routes/webhooks/webhooks.tsx"), "Webhooks"),
});
const deliveries = createRoute({
  ...page,
  path: "/webhooks/$id",
  component: lazyPage(() => import("../routes/webhooks/deliveries.tsx"), "Deliveries"),
});
const usage = createRoute({
  ...page,
  path: "/usage",
  component: lazyPage(() => import("../routes/usage/usage.tsx"), "Usage"),
});
const requests = createRoute({
  ...page,
  path: "/requests",
  component: lazyPage(() => import("../routes/requests/requests.tsx"), "Requests"),
});
const request = createRoute({
  ...page,
  path: "/requests/$id",
  component: lazyPage(() => import("../routes/requests/request.tsx"), "OneRequest"),
});
const ledger = createRoute({
  ...page,
  path: "/ledger",
  component: lazyPage(() => import("../routes/ledger/ledger.tsx"), "Ledger"),
});
const topUp = createRoute({
  ...page,
  path: "/top-up",
  validateSearch: (search): { payment?: string } => {
    const payment = textOf(search["payment"]);
    return payment === undefined ? {} : { payment };
  },
  component: lazyPage(() => import("../routes/top-up/top-up.tsx"), "TopUp"),
});
const invoices = createRoute({
  ...page,
  path: "/invoices",
  component: lazyPage(() => import("../routes/invoices/invoices.tsx"), "Invoices"),
});
const pricing = createRoute({
  ...page,
  path: "/pricing",
  component: lazyPage(() => import("../routes/pricing/pricing.tsx"), "Pricing"),
});
const operation = createRoute({
  ...page,
  path: "/pricing/$operation",
  component: lazyPage(() => import("../routes/pricing/operation.tsx"), "OneOperation"),
});
const quickStart = createRoute({
  ...page,
  path: "/quick-start",
  component: lazyPage(() => import("../routes/quick-start/quick-start.tsx"), "QuickStart"),
});
const settings = createRoute({
  ...page,
  path: "/settings",
  component: lazyPage(() => import("../routes/settings/settings.tsx"), "Settings"),
});

/** Pages about the user's account. */
export const accountRoutes = [
  overview,
  playground,
  citations,
  keys,
  webhooks,
  deliveries,
  usage,
  requests,
  request,
  ledger,
  topUp,
  invoices,
  pricing,
  operation,
  quickStart,
  settings,
] as const;
