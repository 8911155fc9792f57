import type { FastifyInstance } from "fastify";
import type { Parts } from "../parts.ts";
import { blobRoutes } from "./blobs.ts";
import { catalogueRoute } from "./catalogue.ts";
import { copyRoute } from "./copy.ts";
import { createRoute } from "./create.ts";
import { deleteRoute } from "./delete.ts";
import { pullRoute } from "./pull.ts";
import { pushRoute } from "./push.ts";
import { showRoute } from "./show.ts";
import { tagsRoute } from "./tags.ts";

/** The routes that manage the models on disk. */
export function libraryRoutes(app: FastifyInstance, parts: Parts): void {
  tagsRoute(app, parts);
  catalogueRoute(app, parts);
  showRoute(app, parts);
  createRoute(app, parts);
  copyRoute(app, parts);
  deleteRoute(app, parts);
  blobRoutes(app, parts);
  pullRoute(app, parts);
  pushRoute(app, parts);
}
