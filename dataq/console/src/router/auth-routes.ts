import { createRoute, redirect } from "@tanstack/react-router";
import { sessionQuery } from "../service/session.ts";
import { lazyPage } from "./lazy-page.ts";
import { rootRoute, textOf } from "./root-route.ts";

/** Pages for people who are not signed in. */
const auth = createRoute({
  getParentRoute: () => rootRoute,
  id: "auth",
  component: lazyPage(() => import("../routes/auth/frame.tsx"), "AuthFrame"),
  beforeLoad: async ({ context, location }) => {
    const { user } = await context.client.ensureQueryData(sessionQuery);
    const isForAll = location.pathname === "/enter" || location.pathname === "/join";
    if (user?.account_id && !isForAll) throw redirect({ to: "/" });
  },
});

const authPage = { getParentRoute: () => auth };

const signIn = createRoute({
  ...authPage,
  path: "/sign-in",
  validateSearch: (search) => ({ next: textOf(search["next"]) }),
  component: lazyPage(() => import("../routes/auth/sign-in.tsx"), "SignIn"),
});
const signUp = createRoute({
  ...authPage,
  path: "/sign-up",
  validateSearch: (search) => ({ next: textOf(search["next"]) }),
  component: lazyPage(() => import("../routes/auth/sign-up.tsx"), "SignUp"),
});
const forgot = createRoute({
  ...authPage,
  path: "/forgot",
  component: lazyPage(() => import("../routes/auth/forgot.tsx"), "Forgot"),
});
const reset = createRoute({
  ...authPage,
  path: "/reset",
  component: lazyPage(() => import("../routes/auth/reset.tsx"), "Reset"),
});
const verify = createRoute({
  ...authPage,
  path: "/verify",
  component: lazyPage(() => import("../routes/auth/verify.tsx"), "Verify"),
});
const pending = createRoute({
  ...authPage,
  path: "/pending",
  component: lazyPage(() => import("../routes/auth/pending.tsx"), "Pending"),
});
const enter = createRoute({
  ...authPage,
  path: "/enter",
  component: lazyPage(() => import("../routes/auth/enter.tsx"), "Enter"),
});

const join = createRoute({
  ...authPage,
  path: "/join",
  component: lazyPage(() => import("../routes/auth/join.tsx"), "Join"),
});

export const authRoutes = auth.addChildren([signIn, signUp, forgot, reset, verify, pending, enter, join]);
