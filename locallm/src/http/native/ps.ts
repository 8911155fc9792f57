import type { FastifyInstance } from "fastify";
import type { Caller } from "../../keys/keys.ts";
import type { Model } from "../../library/model.ts";
import { type ModelDetails, modelDetails } from "../../library/model-details.ts";
import type { ResidentView, SchedulerView } from "../../scheduler/lease.ts";
import { counted } from "../../wire/counted.ts";
import { parseModelName } from "../../wire/model-name.ts";
import { modelOptions } from "../../wire/options.ts";
import type { Parts } from "../parts.ts";
import { shownRemote } from "./remotes.ts";

/**
 * `GET /api/ps`: lists loaded models, those that stay loaded longest first. `?explain` adds the queue, the
 * scheduler's reasons, the replicas of remote models and the kept conversations, for callers that see all models: the
 * reasons name models.
 */
export function psRoute(app: FastifyInstance, parts: Parts): void {
  /** The details of a model never change. */
  const known = new WeakMap<Model, ShownDetails>();
  app.get("/api/ps", async (request) => {
    const view = parts.scheduler.view();
    const { caller } = request;
    const shown = view.residents.filter(
      ({ state, model }) => state !== "loading" && sees(caller, model.name),
    );
    shown.sort((a, b) => (b.expiresAtMs ?? forEverMs) - (a.expiresAtMs ?? forEverMs));
    const models = await Promise.all(shown.map((resident) => entry(parts, resident, known)));
    const { explain } = request.query as { explain?: string };
    if (explain === undefined || explain === "false" || explain === "0" || !caller.seesAllModels)
      return { models };
    const remotes = parts.remotes.view().map(shownRemote);
    return { models, explain: { ...(await explanation(parts, view)), remotes, conversations: kept(parts) } };
  });
}

function sees(caller: Caller, text: string): boolean {
  const name = parseModelName(text);
  return caller.seesAllModels || (name !== null && caller.seesModel(name));
}

async function entry(parts: Parts, resident: ResidentView, known: WeakMap<Model, ShownDetails>) {
  const { model } = resident;
  return {
    name: model.name,
    model: model.name,
    size: resident.sizeBytes,
    digest: model.digest,
    details: await details(parts, model.name, known),
    expires_at: new Date(resident.expiresAtMs ?? forEverMs).toISOString(),
    size_vram: resident.devices.reduce((sum, { bytes }) => sum + bytes, 0),
    device: deviceText(resident),
    context_length: resident.numCtx,
  };
}

/**
 * Returns the details that Ollama reports, without lengths. Empty for a model that was deleted while loaded.
 */
async function details(parts: Parts, name: string, known: WeakMap<Model, ShownDetails>) {
  const parsed = parseModelName(name);
  const stored = parsed === null ? null : await parts.store.find(parsed).catch(() => null);
  if (stored === null) return {};
  const found = known.get(stored);
  if (found !== undefined) return found;
  const { context_length, embedding_length, ...rest } = await modelDetails(parts.store, stored);
  known.set(stored, rest);
  return rest;
}

type ShownDetails = Omit<ModelDetails, "context_length" | "embedding_length">;

/** `CPU`, or the GPUs with their layers. Ollama has no such field. */
export function deviceText({ devices }: Pick<ResidentView, "devices">): string {
  if (devices.length === 0) return "CPU";
  return devices
    .map(({ name, description, layers }) => `${name} (${description}): ${counted(layers, "layer")}`)
    .join(", ");
}

/** Ollama also reports "never" as a distant date. */
const forEverMs = Date.UTC(2300, 0, 1);

/** Conversations whose slot was given to another one. */
function kept({ conversations }: Parts) {
  const { memory, disk } = conversations.view();
  const shown = ({ count, bytes, limitBytes }: typeof memory) => ({ count, bytes, limit_bytes: limitBytes });
  return { memory: shown(memory), disk: disk === null ? null : shown(disk) };
}

/** Reports how far the window can grow. Empty for a window that cannot grow. */
async function windowLimit(parts: Parts, { model, load, state }: ResidentView) {
  if (parts.settings.contextLength !== "auto" || state !== "ready") return {};
  const parsed = parseModelName(model.name);
  const stored = parsed === null ? null : await parts.store.find(parsed).catch(() => null);
  if (stored === null || modelOptions(stored.params).options.num_ctx !== undefined) return {};
  const limit = await parts.scheduler.windowLimit(model, load).catch(() => null);
  return limit === null ? {} : { context_limit: limit.tokens, context_limit_why: limit.why };
}

/** What the shared cache did not get when it last asked for more memory. */
function refusedGrowth({ refusedGrowth: refused }: ResidentView) {
  if (refused === null) return {};
  const { bytes, why, atMs } = refused;
  return { cache_refused: { bytes, why, at: new Date(atMs).toISOString() } };
}

async function explanation(parts: Parts, view: SchedulerView) {
  const limits = await Promise.all(view.residents.map((resident) => windowLimit(parts, resident)));
  return {
    loaded: view.residents.map((resident, index) => ({
      model: resident.model.name,
      state: resident.state,
      device: deviceText(resident),
      why_there: resident.whyThere,
      context_length: resident.numCtx,
      context_why: resident.whyCtx,
      ...limits[index],
      slots: resident.slots,
      ...(resident.sharedCells === null ? {} : { shared_cache: resident.sharedCells }),
      ...refusedGrowth(resident),
      active: resident.activeSlots,
      waiting: resident.waiting,
      keep_alive_seconds: Number.isFinite(resident.keepAliveMs) ? resident.keepAliveMs / 1000 : -1,
      loaded_at: new Date(resident.loadedAtMs).toISOString(),
      pid: resident.pid,
    })),
    waiting: view.waiting.map((line) => ({
      model: line.model,
      count: line.count,
      oldest_seconds: line.oldestMs / 1000,
    })),
    decisions: view.decisions.map(({ atMs, tookMs, ...decision }) => ({
      at: new Date(atMs).toISOString(),
      ...decision,
      ...(tookMs === null ? {} : { seconds: tookMs / 1000 }),
    })),
  };
}
