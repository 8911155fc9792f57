import { createRoute, Outlet, redirect } from "@tanstack/react-router";
import { sessionQuery } from "../service/session.ts";
import { lazyPage } from "./lazy-page.ts";
import { shellRoute } from "./shell-route.ts";

/** Pages for operators. */
const admin = createRoute({
  getParentRoute: () => shellRoute,
  id: "admin",
  component: Outlet,
  beforeLoad: async ({ context }) => {
    const { user } = await context.client.ensureQueryData(sessionQuery);
    if (user?.role !== "admin") throw redirect({ to: "/" });
  },
});

const adminPage = { getParentRoute: () => admin };

const board = createRoute({
  ...adminPage,
  path: "/admin/board",
  component: lazyPage(() => import("../routes/admin/board.tsx"), "Board"),
});
const accounts = createRoute({
  ...adminPage,
  path: "/admin/accounts",
  component: lazyPage(() => import("../routes/admin/accounts.tsx"), "Accounts"),
});
const account = createRoute({
  ...adminPage,
  path: "/admin/accounts/$id",
  component: lazyPage(() => import("../routes/admin/account.tsx"), "OneAccount"),
});
const payments = createRoute({
  ...adminPage,
  path: "/admin/payments",
  component: lazyPage(() => import("../routes/admin/payments.tsx"), "Payments"),
});
const invoices = createRoute({
  ...adminPage,
  path: "/admin/invoices",
  component: lazyPage(() => import("../routes/admin/invoices.tsx"), "AllInvoices"),
});
const vouchers = createRoute({
  ...adminPage,
  path: "/admin/vouchers",
  component: lazyPage(() => import("../routes/admin/vouchers.tsx"), "Vouchers"),
});
const prices = createRoute({
  ...adminPage,
  path: "/admin/prices",
  component: lazyPage(() => import("../routes/admin/prices.tsx"), "Prices"),
});
const sources = createRoute({
  ...adminPage,
  path: "/admin/sources",
  component: lazyPage(() => import("../routes/admin/sources.tsx"), "Sources"),
});
const datasets = createRoute({
  ...adminPage,
  path: "/admin/datasets",
  component: lazyPage(() => import("../routes/admin/datasets.tsx"), "Datasets"),
});
const dataset = createRoute({
  ...adminPage,
  path: "/admin/datasets/$operation/$name",
  component: lazyPage(() => import("../routes/admin/dataset.tsx"), "OneDataset"),
});
const integrity = createRoute({
  ...adminPage,
  path: "/admin/integrity",
  component: lazyPage(() => import("../routes/admin/integrity.tsx"), "Integrity"),
});
const models = createRoute({
  ...adminPage,
  path: "/admin/models",
  beforeLoad: async ({ context }) => {
    const { models: hasServer } = await context.client.ensureQueryData(sessionQuery);
    if (!hasServer) throw redirect({ to: "/" });
  },
  component: lazyPage(() => import("../routes/admin/models.tsx"), "Models"),
});

export const adminRoutes = admin.addChildren([
  board,
  accounts,
  account,
  payments,
  invoices,
  vouchers,
  prices,
  sources,
  datasets,
  dataset,
  integrity,
  models,
]);
