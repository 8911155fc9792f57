import type { FastifyInstance } from "fastify";
import type { ConversationsView } from "../../conversations/conversations.ts";
import type { Keys } from "../../keys/keys.ts";
import type { RemoteView } from "../../remotes/remotes.ts";
import type { ResidentView } from "../../scheduler/lease.ts";
import { addDocumentation } from "../documentation.ts";
import type { Metrics } from "../metrics.ts";
import type { ChatPage } from "../page.ts";
import type { Parts } from "../parts.ts";
import { addVary } from "../vary.ts";

/** The pages for people, and the status, health and metrics of the server. */
export function statusRoutes(app: FastifyInstance, parts: Parts, page: ChatPage): void {
  page.routes(app);
  addDocumentation(app, parts.version);
  app.get("/", async (request, reply) => {
    if (page.isAskedFor(request)) return page.send("index.html", request, reply);
    const notice = parts.settings.notice();
    addVary(reply, "Accept").type("text/plain; charset=utf-8");
    return reply.send(notice === null ? running : `${running}. ${notice}`);
  });

  const versions = { version: parts.settings.ollamaVersion, locallm: parts.version };
  app.get("/api/version", async () => versions);

  /** `live`: the server answers. `ready`: it accepts requests, and the process of every loaded model responds. */
  app.get("/health", { config: { quiet: true } }, async (_, reply) => {
    const { residents, waiting } = parts.scheduler.view();
    const accepts = parts.scheduler.accepts();
    const stalled = residents.filter(({ responds }) => !responds).map(({ model }) => model.name);
    const waitingElsewhere = parts.remotes.view().reduce((sum, model) => sum + model.waiting, 0);
    const ready = accepts && stalled.length === 0;
    return reply.code(ready ? 200 : 503).send({
      status: ready ? "ok" : accepts ? "stalled" : "busy",
      live: true,
      ready,
      loading: residents.some((resident) => resident.state === "loading"),
      stalled,
      queued: waiting.reduce((sum, line) => sum + line.count, waitingElsewhere),
    });
  });

  app.get("/metrics", { config: { quiet: true } }, async (_, reply) => {
    const { residents, waiting } = parts.scheduler.view();
    const { metrics } = parts;
    for (const gauge of [metrics.waiting, metrics.slots, metrics.activeSlots, metrics.modelBytes])
      gauge.reset();
    for (const line of waiting) metrics.waiting.set({ model: line.model }, line.count);
    for (const resident of residents) {
      metrics.slots.set({ model: resident.model.name }, resident.slots);
      metrics.activeSlots.set({ model: resident.model.name }, resident.activeSlots);
      setModelBytes(metrics, resident);
    }
    setRemotes(metrics, parts.remotes.view());
    setKeys(metrics, parts.keys.all);
    setConversations(metrics, parts.conversations.view());
    return reply.type(metrics.registry.contentType).send(await metrics.registry.metrics());
  });
}

function setRemotes(metrics: Metrics, views: readonly RemoteView[]): void {
  metrics.remoteOpen.reset();
  metrics.remoteBreaker.reset();
  metrics.remoteDrained.reset();
  for (const { model, waiting, replicas } of views) {
    if (waiting > 0) metrics.waiting.set({ model }, waiting);
    for (const { host, open, breaker, state } of replicas) {
      const labels = { model, host };
      metrics.remoteOpen.inc(labels, open);
      metrics.remoteBreaker.set(labels, breakerValues[breaker]);
      metrics.remoteDrained.set(labels, state === "drained" ? 1 : 0);
    }
  }
}

const breakerValues = { closed: 0, "half-open": 1, open: 2 };

function setConversations(metrics: Metrics, { memory, disk }: ConversationsView): void {
  for (const [where, { count, bytes, limitBytes }] of Object.entries({ memory, ...(disk && { disk }) })) {
    metrics.conversations.set({ where }, count);
    metrics.conversationBytes.set({ where }, bytes);
    metrics.conversationLimitBytes.set({ where }, limitBytes);
  }
}

/** Keys after the first ones of the file share a label, so that many keys do not make the metrics large. */
const mostKeyLabels = 1000;

function setKeys(metrics: Metrics, all: Keys["all"]): void {
  const counters = [metrics.keyRequests, metrics.keyPromptTokens, metrics.keyGeneratedTokens] as const;
  for (const counter of counters) counter.reset();
  for (const [index, { key, usage }] of all.entries()) {
    const label = { key: index < mostKeyLabels ? key.name : "(others)" };
    const { requests, promptTokens, generatedTokens } = usage.record.total;
    metrics.keyRequests.inc(label, requests);
    metrics.keyPromptTokens.inc(label, promptTokens);
    metrics.keyGeneratedTokens.inc(label, generatedTokens);
  }
}

const running = "locallm is running";

function setModelBytes(metrics: Metrics, { model, devices, sizeBytes }: ResidentView): void {
  let onProcessor = sizeBytes;
  for (const { name, bytes } of devices) {
    metrics.modelBytes.set({ model: model.name, device: name }, bytes);
    onProcessor -= bytes;
  }
  metrics.modelBytes.set({ model: model.name, device: "CPU" }, Math.max(0, onProcessor));
}
