import { expect, vi } from "vitest";
import type { CallOptions, CallResult } from "./service-process.ts";

/** What fills the path of a route, its body, and the action that the audit log must have. */
export type Audited = readonly [params: Readonly<Record<string, string>>, body: object, action: string];

/** Routes that start a process, so they are walked in operator-data.test.ts, whose service is a process itself. */
export const jobRoutes = [
  "POST /admin/v1/imports",
  "POST /admin/v1/index/refresh",
  "POST /admin/v1/open-data/:name",
  "POST /admin/v1/datasets/:operation/:name/remove",
  "POST /admin/v1/datasets/:operation/:name/restore",
] as const;

/** Calls a route by which an operator changes something, and expects a row of the audit log of this very request. */
export async function expectAudited(
  service: { call(path: string, options?: CallOptions): Promise<CallResult> },
  route: string,
  [params, body, action]: Audited,
): Promise<CallResult> {
  const [method, pattern] = route.split(" ") as [string, string];
  const path = pattern.replace(/:(\w+)/g, (_, name) => encodeURIComponent(params[name]!));
  // A job of the same operation may still run.
  const answer = await vi.waitUntil(
    async () => {
      const got = await service.call(path, { method, body });
      return got.status === 409 || got.status === 429 ? undefined : got;
    },
    { timeout: 60_000, interval: 300 },
  );
  expect(answer.status, `${route} ${answer.text}`).toBeLessThan(300);
  const rows = (await service.call("/admin/v1/audit?limit=20")).body.data;
  expect(rows, route).toContainEqual(
    expect.objectContaining({ action, request_id: answer.headers.get("x-request-id") }),
  );
  return answer;
}
