import { Failure } from "@dataq/contract";
import type { FastifyInstance } from "fastify";
import { writeAudit } from "../../accounts/audit.ts";
import type { Jobs } from "../../background/import-jobs.ts";
import { datasetBody } from "../../importer/dataset-body.ts";
import { type Dataset, listDatasets } from "../../importer/datasets.ts";
import type { SearchIndex } from "../../search/search-index.ts";
import { authorOf } from "../caller.ts";
import type { HttpParts } from "../parts.ts";

interface Named {
  readonly Params: { readonly operation: string; readonly name: string };
}

/** What was imported, and how operators remove or restore it. */
export function addDatasetRoutes(
  app: FastifyInstance,
  parts: HttpParts,
  { jobs, index }: { readonly jobs: Jobs; readonly index: SearchIndex },
): void {
  const find = async ({ operation, name }: Named["Params"]): Promise<Dataset> => {
    const all = await listDatasets(parts.database, index, parts.clock());
    const found = all.find((set) => set.target === operation && set.name === name);
    if (found === undefined) throw new Failure("not_found", { what: "The data set" });
    return found;
  };

  app.get("/admin/v1/datasets", async () => ({
    data: (await listDatasets(parts.database, index, parts.clock())).map(datasetBody),
  }));

  app.get<Named>("/admin/v1/datasets/:operation/:name", async (request) =>
    datasetBody(await find(request.params)),
  );

  for (const kind of ["remove", "restore"] as const)
    app.post<Named>(`/admin/v1/datasets/:operation/:name/${kind}`, async (request, reply) => {
      const { target, name, state, past } = await find(request.params);
      if (kind === "remove" ? state === "removed" : past === null)
        throw new Failure("not_found", { what: "The data set" });
      const job = await jobs.changeDataset(kind, target, name);
      await writeAudit(parts.database, authorOf(parts, request), `dataset.${kind}`, target, null, { name });
      return reply.code(202).send(job);
    });
}
