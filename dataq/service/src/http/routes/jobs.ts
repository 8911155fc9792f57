import { type jobList, newImport, type Sent } from "@dataq/contract/wire";
import type { FastifyInstance } from "fastify";
import { writeAudit } from "../../accounts/audit.ts";
import type { Jobs } from "../../background/import-jobs.ts";
import { importNames } from "../../operations/imports.ts";
import { check, readJson } from "../body.ts";
import { authorOf } from "../caller.ts";
import type { HttpParts } from "../parts.ts";

/** Imports and index builds, started and watched by operators. */
export function addJobRoutes(app: FastifyInstance, parts: HttpParts, jobs: Jobs): void {
  app.get("/admin/v1/jobs", async (): Promise<Sent<typeof jobList>> => {
    return { data: await jobs.list(), operations: importNames };
  });

  app.post("/admin/v1/imports", async (request, reply) => {
    const { operation, from } = check(newImport, readJson(request));
    const job = jobs.startImport(operation, from);
    await writeAudit(parts.database, authorOf(parts, request), "import.start", operation, null, { from });
    return reply.code(202).send(job);
  });

  app.post("/admin/v1/index/refresh", async (request, reply) => {
    const job = jobs.refreshIndex();
    await writeAudit(parts.database, authorOf(parts, request), "index.refresh", job.operation, null, null);
    return reply.code(202).send(job);
  });
}
