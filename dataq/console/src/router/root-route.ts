import type { QueryClient } from "@tanstack/react-query";
import { createRootRouteWithContext, Outlet } from "@tanstack/react-router";
import { MissingPage, StartFailure } from "../routes/missing.tsx";

export const rootRoute = createRootRouteWithContext<{ client: QueryClient }>()({
  component: Outlet,
  errorComponent: StartFailure,
  notFoundComponent: MissingPage,
});

export function textOf(value: unknown): string | undefined {
  return typeof value === "string" ? value : undefined;
}
