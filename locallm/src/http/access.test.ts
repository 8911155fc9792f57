import Fastify from "fastify";
import { expect, it } from "vitest";
import { Keys } from "../keys/keys.ts";
import { systemKeyClock } from "../keys/usage.ts";
import { authorize } from "./access.ts";

it("does not start with a route that the table does not name", async () => {
  const keys = await Keys.open({
    folder: "/nonexistent",
    administrator: null,
    clock: systemKeyClock,
    after: () => () => {},
    onProblem: () => {},
  });
  const app = Fastify();
  authorize(app, keys);
  app.get("/api/tags", async () => "");
  expect(() => app.get("/api/new", async () => "")).toThrow("http/access.ts has no row for GET /api/new");
  expect(() => app.post("/api/tags", async () => "")).toThrow("no row for POST /api/tags");
  await expect(
    app.register(async (inner) => {
      inner.get("/v1/new", async () => "");
    }),
  ).rejects.toThrow("no row for GET /v1/new");
});
