import { createRoute, redirect } from "@tanstack/react-router";
import { sessionQuery } from "../service/session.ts";
import { lazyPage } from "./lazy-page.ts";
import { rootRoute, textOf } from "./root-route.ts";

/** Pages for people who are not signed in. */
const door = createRoute({
  getParentRoute: () => rootRoute,
  id: "door",
  component: lazyPage(() => import("../routes/door/frame.tsx"), "DoorFrame"),
  beforeLoad: async ({ context, location }) => {
    const { user } = await context.client.ensureQueryData(sessionQuery);
    const isForAll = location.pathname === "/enter" || location.pathname === "/join";
    if (user?.accountId && !isForAll) throw redirect({ to: "/" });
  },
});

const doorPage = { getParentRoute: () => door };

const signIn = createRoute({
  ...doorPage,
  path: "/sign-in",
  validateSearch: (search) => ({ next: textOf(search["next"]) }),
  component: lazyPage(() => import("../routes/door/sign-in.tsx"), "SignIn"),
});
const signUp = createRoute({
  ...doorPage,
  path: "/sign-up",
  validateSearch: (search) => ({ next: textOf(search["next"]) }),
  component: lazyPage(() => import("../routes/door/sign-up.tsx"), "SignUp"),
});
const forgot = createRoute({
  ...doorPage,
  path: "/forgot",
  component: lazyPage(() => import("../routes/door/forgot.tsx"), "Forgot"),
});
const reset = createRoute({
  ...doorPage,
  path: "/reset",
  component: lazyPage(() => import("../routes/door/reset.tsx"), "Reset"),
});
const verify = createRoute({
  ...doorPage,
  path: "/verify",
  component: lazyPage(() => import("../routes/door/verify.tsx"), "Verify"),
});
const pending = createRoute({
  ...doorPage,
  path: "/pending",
  component: lazyPage(() => import("../routes/door/pending.tsx"), "Pending"),
});
const enter = createRoute({
  ...doorPage,
  path: "/enter",
  component: lazyPage(() => import("../routes/door/enter.tsx"), "Enter"),
});

const join = createRoute({
  ...doorPage,
  path: "/join",
  component: lazyPage(() => import("../routes/door/join.tsx"), "Join"),
});

export const doorRoutes = door.addChildren([signIn, signUp, forgot, reset, verify, pending, enter, join]);
