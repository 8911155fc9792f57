import { createRoute, redirect } from "@tanstack/react-router";
import { Shell } from "../routes/shell.tsx";
import { sessionQuery } from "../service/session.ts";
import { rootRoute } from "./root-route.ts";

/** The frame of all pages for people who are signed in. */
export const shellRoute = createRoute({
  getParentRoute: () => rootRoute,
  id: "shell",
  component: Shell,
  beforeLoad: async ({ context, location }) => {
    const { user } = await context.client.ensureQueryData(sessionQuery);
    if (!user) throw redirect({ to: "/sign-in", search: { next: location.href } });
    if (!user.account_id) throw redirect({ to: "/pending" });
  },
});
