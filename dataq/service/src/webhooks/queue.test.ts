import pg from "pg";
import { expect, test } from "vitest";
import { listeningOn } from "./queue.ts";

test("the end of a job that comes after the service has closed fails nobody", async () => {
  const pool = new pg.Pool({ host: "/nonexistent" });
  const own = listeningOn(pool, { id: 1, session: () => undefined } as never);
  await expect(own.connect()).rejects.toThrow("ENOENT");
  await pool.end();
  await expect(pool.connect()).rejects.toThrow("after calling end");
  const late = own.connect().then(
    () => "connected",
    () => "failed",
  );
  expect(await Promise.race([late, new Promise((resolve) => setTimeout(resolve, 50, "waits"))])).toBe(
    "waits",
  );
});
