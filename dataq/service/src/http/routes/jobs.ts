import type { FastifyInstance } from "fastify";
import { z } from "zod";
import { writeAudit } from "../../accounts/audit.ts";
import { importNames } from "../../importer/import.ts";
import type { Jobs } from "../../importer/jobs.ts";
import type { HttpParts } from "../app.ts";
import { check, readJson } from "../body.ts";
import { admitOperator } from "../console/session.ts";
import { authorOf } from "./keys.ts";

const wantedImport = z.strictObject({
  operation: z.string().min(1).max(64),
  /** A path on the server, an https address, or a package. */
  from: z.string().trim().min(1).max(1000),
});

/** Imports and index builds, started and watched by operators. */
export function addJobRoutes(app: FastifyInstance, parts: HttpParts, jobs: Jobs): void {
  app.get("/admin/v1/jobs", async (request) => {
    await admitOperator(parts, request);
    return { data: await jobs.list(), operations: importNames };
  });

  app.post("/admin/v1/imports", async (request, reply) => {
    await admitOperator(parts, request);
    const { operation, from } = check(wantedImport, readJson(request));
    const job = jobs.startImport(operation, from);
    await writeAudit(parts.database, authorOf(parts, request), "import.start", operation, null, { from });
    return reply.code(202).send(job);
  });

  app.post("/admin/v1/index/refresh", async (request, reply) => {
    await admitOperator(parts, request);
    const job = jobs.refreshIndex();
    await writeAudit(parts.database, authorOf(parts, request), "index.refresh", job.operation, null, null);
    return reply.code(202).send(job);
  });
}
