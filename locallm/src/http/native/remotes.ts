import type { FastifyInstance } from "fastify";
import type { Model } from "../../library/model.ts";
import type { RemoteView, ReplicaView } from "../../remotes/remotes.ts";
import { remoteHostRequest } from "../../wire/api/library.ts";
import { LocallmError } from "../../wire/errors.ts";
import { displayModelName } from "../../wire/model-name.ts";
import { isNamedHost, type NamedHost, namedHostText, parseNamedHost } from "../../wire/remote-address.ts";
import { readBody } from "../body.ts";
import { requireAllModels } from "../known-model.ts";
import type { Parts } from "../parts.ts";

/**
 * The engines that remote models use: `GET` lists them, `drain` stops new requests to a host, and `resume`
 * allows them again.
 */
export function remoteRoutes(app: FastifyInstance, parts: Parts): void {
  app.get("/api/remotes", async ({ caller }) => {
    const stored = await remoteModels(parts);
    const visible = stored.filter(({ name }) => caller.seesModel(name));
    return { models: await Promise.all(visible.map((model) => entry(parts, model))) };
  });

  app.post("/api/remotes/drain", async (request, reply) => {
    requireAllModels(request.caller);
    const host = hostOf(readBody(request, reply, remoteHostRequest).host);
    await parts.remotes.drain(host, await remoteUrls(parts));
    return changed(parts, host);
  });

  app.post("/api/remotes/resume", async (request, reply) => {
    requireAllModels(request.caller);
    const host = hostOf(readBody(request, reply, remoteHostRequest).host);
    await parts.remotes.resume(host, await remoteUrls(parts));
    return changed(parts, host);
  });
}

/** A model's replicas, as this API and `ps?explain` show them. */
export function shownRemote({ model, waiting, oldestMs, replicas }: RemoteView) {
  return {
    model,
    waiting,
    ...(waiting === 0 ? {} : { oldest_seconds: oldestMs / 1000 }),
    replicas: replicas.map(shownReplica),
  };
}

function shownReplica(view: ReplicaView) {
  const { url, host, model, protocol, state, breaker, open, answered, failed, weight, places } = view;
  return {
    ...{ url, host, model, protocol, state, breaker, open, answered, failed, weight, places },
    requests: view.maxRequests,
    has_model: view.hasModel,
    retry_seconds: view.pauseMs / 1000,
    probed_at: view.probedAtMs === null ? null : new Date(view.probedAtMs).toISOString(),
    last_error:
      view.lastError === null
        ? null
        : { at: new Date(view.lastError.atMs).toISOString(), message: view.lastError.message },
    last_chosen: view.lastChosen,
  };
}

async function entry(parts: Parts, stored: Model) {
  try {
    const [view] = parts.remotes.view([await parts.remoteAccess.modelOf(stored)]);
    return shownRemote(view!);
  } catch (error) {
    if (!(error instanceof LocallmError)) throw error;
    return { model: displayModelName(stored.name), waiting: 0, replicas: [], error: error.message };
  }
}

async function remoteModels({ store }: Parts): Promise<Model[]> {
  const { models } = await store.list();
  return models.filter(({ remotes }) => remotes !== null);
}

async function remoteUrls(parts: Parts): Promise<string[]> {
  const models = await remoteModels(parts);
  return models.flatMap(({ remotes }) => remotes ?? []).map(({ url }) => url);
}

/** `open` is the number of requests that the host still computes. */
function changed({ remotes }: Parts, host: NamedHost) {
  const replicas = remotes.view().flatMap((view) => view.replicas);
  const meant = replicas.filter(({ url }) => isNamedHost(url, host));
  return { host: namedHostText(host), open: meant.reduce((sum, { open }) => sum + open, 0) };
}

function hostOf(text: string): NamedHost {
  const host = parseNamedHost(text);
  if (host !== null) return host;
  throw new LocallmError("invalid_field", {
    field: "host",
    problem: "must be a host, with or without a port, such as gpu1.example:8000",
  });
}
