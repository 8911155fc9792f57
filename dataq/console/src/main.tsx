import "./styles.css";
import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { type AnyRoute, RouterProvider } from "@tanstack/react-router";
import { StrictMode } from "react";
import { createRoot } from "react-dom/client";
import { makeRouter } from "./router/router.ts";
import { ServiceError } from "./service/call.ts";
import { sessionQuery } from "./service/session.ts";
import { fetchText, TextProvider } from "./text/text.tsx";
import { FieldProblems } from "./ui/field-problems.tsx";
import { FormatProvider } from "./ui/format.tsx";
import { readLook } from "./ui/look.ts";
import { ToastProvider } from "./ui/toast.tsx";

const client = new QueryClient({
  defaultOptions: {
    // The service may run on this machine, so requests go out even when the browser is offline.
    mutations: { networkMode: "always" },
    queries: {
      networkMode: "always",
      staleTime: 5_000,
      retry: (count, error) =>
        count < 2 && error instanceof ServiceError && (error.status === 0 || error.status >= 502),
    },
  },
});
const router = makeRouter(client);
// Loads session, texts, page code and data in parallel, before the first frame.
void client.prefetchQuery(sessionQuery);
void fetchText(readLook().language);
const routes: Readonly<Record<string, AnyRoute>> = router.routesById;
for (const { routeId } of router.matchRoutes(router.latestLocation)) {
  const route = routes[routeId];
  if (route) void router.loadRouteChunk(route);
}
void router.load();

// Any 401 means that the session ended elsewhere.
for (const cache of [client.getQueryCache(), client.getMutationCache()])
  cache.subscribe((event) => {
    if (event.type !== "updated" || event.action.type !== "error") return;
    const { error } = event.action;
    if (error instanceof ServiceError && error.status === 401)
      void client.invalidateQueries({ queryKey: sessionQuery.queryKey });
  });

createRoot(document.getElementById("root")!).render(
  <StrictMode>
    <QueryClientProvider client={client}>
      <TextProvider>
        <FieldProblems />
        <FormatProvider>
          <ToastProvider>
            <RouterProvider router={router} />
          </ToastProvider>
        </FormatProvider>
      </TextProvider>
    </QueryClientProvider>
  </StrictMode>,
);
