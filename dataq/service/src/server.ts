import { mkdir } from "node:fs/promises";
import { counted } from "@dataq/contract";
import type { KeptSocket } from "@locallm/autostart";
import { logOutput } from "@locallm/autostart/log-output";
import type { FastifyInstance } from "fastify";
import { type Logger, pino } from "pino";
import { lastSeal, sealAudit } from "./accounts/audit-chain.ts";
import { openIdentity } from "./accounts/local-account.ts";
import { takeAlerts } from "./alerts/alerts.ts";
import { tellLowBalances } from "./alerts/low-balance.ts";
import { FirstData } from "./background/first-data/first-data.ts";
import { Jobs } from "./background/import-jobs.ts";
import { startSchedule } from "./background/refresh/schedule.ts";
import { startSweeper } from "./background/sweeper.ts";
import { Uploads } from "./background/uploads.ts";
import { VectorSchedule } from "./background/vectors/schedule.ts";
import type { Config } from "./config.ts";
import { ContractBook } from "./connector/contract-book.ts";
import { divide } from "./database/connections.ts";
import { type Database, openDatabase } from "./database/database.ts";
import { migrate } from "./database/migrations.ts";
import { addressesOf } from "./database/servers.ts";
import { inTransaction, type Transaction } from "./database/transaction.ts";
import { createApp, type RouteName } from "./http/app.ts";
import { compressAnswers } from "./http/compression.ts";
import { addModelRoutes } from "./http/console/models.ts";
import { addConsolePages } from "./http/console/pages.ts";
import { addSessionRoutes } from "./http/console/session.ts";
import { addSignInRoutes } from "./http/console/sign-in.ts";
import { addSsoRoutes } from "./http/console/sso.ts";
import { allowOrigins } from "./http/cross-origin.ts";
import { offers } from "./http/docs/offer.ts";
import { addDocumentation } from "./http/docs/site.ts";
import { statusOf } from "./http/docs/status.ts";
import { Exports } from "./http/exports.ts";
import { createMetrics } from "./http/metrics.ts";
import type { HttpParts } from "./http/parts.ts";
import { addAccountRoutes } from "./http/routes/account.ts";
import { addAdminRoutes } from "./http/routes/admin/admin.ts";
import { addAlertRoutes } from "./http/routes/alerts.ts";
import { addCatalogRoutes } from "./http/routes/catalog.ts";
import { addConnectorRoutes } from "./http/routes/connectors.ts";
import { addDatasetRoutes } from "./http/routes/datasets.ts";
import { addHealthRoutes } from "./http/routes/health.ts";
import { addInvoiceRoutes } from "./http/routes/invoices.ts";
import { addJobRoutes } from "./http/routes/jobs.ts";
import { addKeyRoutes } from "./http/routes/keys.ts";
import { addLeavingRoutes } from "./http/routes/leaving.ts";
import { addLedgerRoutes } from "./http/routes/ledger.ts";
import { addMcpRoute } from "./http/routes/mcp.ts";
import { addMemberRoutes } from "./http/routes/members.ts";
import { addMetricsRoute } from "./http/routes/metrics.ts";
import { addOpenDataRoutes } from "./http/routes/open-data.ts";
import { addPaymentRoutes } from "./http/routes/payments.ts";
import { addProjectRoutes } from "./http/routes/projects.ts";
import { addQueryRoutes } from "./http/routes/query.ts";
import { addTrialRoute } from "./http/routes/trial.ts";
import { addWatchRoutes } from "./http/routes/watches.ts";
import { addWebhookRoutes } from "./http/routes/webhooks.ts";
import { scrub } from "./http/scrub.ts";
import { gatherStatements } from "./ledger/gather.ts";
import { recover, startInstance } from "./ledger/instance.ts";
import { PriceList, publishFirstPrices } from "./ledger/price.ts";
import { RecentEntries } from "./ledger/recent.ts";
import { Terms } from "./ledger/terms.ts";
import { ContractGate } from "./limits/contract-gate.ts";
import { Limiter } from "./limits/limiter.ts";
import { Maintenance } from "./maintenance/maintenance.ts";
import { legalIndexFill } from "./operations/legal/cases/corpus.ts";
import { commonLaws } from "./operations/legal/question/meanings.ts";
import { type RealData, realData } from "./operations/open-data.ts";
import { isOfSamples } from "./operations/sample-corpora.ts";
import { createSources, searchedByMeaning } from "./operations/sources.ts";
import { tellFailedCharges } from "./payments/auto-top-up.ts";
import type { PaymentFailpoint } from "./payments/failpoint.ts";
import { Payments } from "./payments/payments.ts";
import { readPaymentSettings } from "./payments/settings.ts";
import { makeLocalLink } from "./people/local-link.ts";
import type { LetterJob, OwnerNews } from "./people/owner-letters.ts";
import { People } from "./people/people.ts";
import { SingleSignOn } from "./people/sso.ts";
import { readSsoSettings } from "./people/sso-settings.ts";
import { TermsGate, takeUnaccepted } from "./people/terms.ts";
import { AnswerCache } from "./query/answer-cache.ts";
import type { Failpoint } from "./query/failpoint.ts";
import { Flights } from "./query/flights.ts";
import { CallHealth } from "./query/health.ts";
import { RequestLog } from "./query/request-log.ts";
import { migrations } from "./schema.ts";
import { Embedder } from "./search/meaning/embedder.ts";
import { Meaning } from "./search/meaning/meaning.ts";
import { openIndex } from "./search/open-index.ts";
import type { Sources } from "./sources/source.ts";
import { askAgain } from "./watches/ask.ts";
import { type DisabledWebhook, deliver } from "./webhooks/deliver.ts";
import { Queue } from "./webhooks/queue.ts";
import { SecretBox } from "./webhooks/secret.ts";
import { Webhooks } from "./webhooks/webhook.ts";

/** A running service. */
export interface Service {
  readonly url: string;
  /** All its routes, for tests that check every one. */
  readonly routes: readonly RouteName[];
  /** The local account's key. */
  readonly localKey: string;
  /** The console, with a link that signs in the owner of the machine once. */
  readonly consoleUrl: string;
  /** Settled when the first start's laws are imported, or could not be. */
  readonly firstData: Promise<void>;
  /** How many operations have real data, and how many could have. */
  readonly realData: () => Promise<RealData>;
  /** A call that is answered, as JSON: for an article of law, or for a sample of one where no laws are here. */
  readonly firstCall: () => Promise<string>;
  /** Loads what the first search of real records would wait for. It blocks the process for a tenth of a second. */
  warm(): Promise<void>;
  /** Does now what the sweeper does every ten seconds. */
  sweep(): Promise<void>;
  /** Ends open calls, then everything that was started. Calling it twice is harmless. */
  close(): Promise<void>;
}

export interface ServiceOptions {
  /** One line for each step that takes time. */
  readonly progress: (line: string) => void;
  readonly clock?: () => Date;
  /** Replaces the sources of this service, for tests of everything around them. */
  readonly sources?: Sources;
  /** Time limit of a source; 30 s by default. */
  readonly sourceLimitMs?: number;
  /** How often the sweeper works; 10 s by default. */
  readonly sweepEveryMs?: number;
  /** How often jobs are looked for of which nobody was told, such as one whose time has come; 2 s by default. */
  readonly jobsEveryMs?: number;
  /** Where log lines go; standard error by default. */
  readonly logTo?: { write(line: string): void };
  /** Where a service of systemd listens. Default: a new socket, which ends with this process. */
  readonly socket?: KeptSocket;
}

const SOURCE_LIMIT_MS = 30_000;
const SWEEP_EVERY_MS = 10_000;
const JOBS_EVERY_MS = 2_000;

/** While callers wait for the next process. Longer than a source may take. */
const LEAVE_MS = 45_000;

/** For all that is closed after that. */
const CLOSING_MS = 20_000;

/** Joins the parts by hand, in the order of their dependencies. */
export async function createService(config: Config, options: ServiceOptions): Promise<Service> {
  const clock = options.clock ?? (() => new Date());
  const { progress } = options;
  const paymentSettings = await readPaymentSettings(config.payments);
  const ssoSettings = await readSsoSettings(config.sso);
  const secrets = [...paymentSettings.secrets, ...(ssoSettings ? [ssoSettings.client_secret] : [])];
  const logger = createLogger(config, secrets, options.logTo);
  if (config.databaseUrl !== undefined) await mkdir(config.dataFolder, { recursive: true, mode: 0o700 });
  const database = await openDatabase({
    url: config.databaseUrl,
    directUrl: config.databaseDirectUrl,
    readUrl: config.databaseReadUrl,
    folder: config.dataFolder,
    ...divide(config.connections),
    applicationName: "dataq serve",
    progress,
    onError: (error) => logger.warn({ err: error.message }, "a database connection broke"),
  });
  const closers: (() => Promise<void> | void)[] = [() => database.close()];
  const close = once(async () => {
    for (const closer of closers.toReversed()) await closer();
  });
  try {
    const added = await migrate(database, migrations);
    if (added.length > 0)
      progress(
        added.length === migrations.length
          ? "Created the database tables."
          : `Updated the database tables: ${added.join(", ")}.`,
      );
    const { keys, localKey, secret } = await openIdentity(
      database,
      config.dataFolder,
      config.secret,
      clock(),
    );
    await publishFirstPrices(database, clock());
    const instance = await startInstance(database, clock());
    closers.push(() => instance.close());
    const seal = sealer(database, logger, clock);
    closers.push(() =>
      seal().catch((error: Error) => logger.warn({ err: error.message }, "could not seal the audit log")),
    );
    const recovered = await recover(database, clock());
    if (recovered > 0)
      progress(
        `The last stop of the service interrupted ${counted(recovered, "call")}; the tokens were returned.`,
      );

    const index = await openIndex(database, config.search);
    closers.push(() => index.close());
    if (config.search !== undefined)
      void index.health().then(({ trouble }) => {
        if (trouble !== null) progress(`Searches are unavailable: ${trouble}`);
      });
    const cache = new AnswerCache(database, (places) => index.read(places));
    // What the index knows may be from just before an import, which another thread or process did.
    const onSettled = (corpus: string) => index.forget(corpus);
    const firstData = new FirstData(database, { ...config, progress, onSettled });
    closers.push(() => firstData.close());
    const gate = new ContractGate(database);
    const contracts = await ContractBook.open(
      config.connectors,
      gate,
      (message) => logger.warn({ err: message }, "the contracts stay as they were"),
      () => clock().getTime(),
    );
    for (const { name, operations } of await contracts.all())
      for (const operation of operations) progress(`${operation} is answered by ${name}.`);
    const trouble = (message: string) => logger.warn({ err: message }, "search by meaning is off for now");
    const meaning =
      config.embed &&
      new Meaning({
        space: index.vectors,
        database,
        embedder: new Embedder(config.embed),
        withoutDataset: legalIndexFill.dataset,
        onTrouble: trouble,
      });
    closers.push(() => meaning?.close());
    const sources = createSources({
      index,
      meaning,
      samples: config.samples,
      contracts,
      ready: (corpus) => firstData.ready(corpus),
    });
    const prices = new PriceList(database);
    const pipeline = {
      database,
      sources: options.sources ?? sources,
      prices,
      terms: new Terms(database, prices),
      cache,
      flights: new Flights(),
      instance,
      run: gatherStatements(database),
      chargeEmpty: config.chargeEmpty,
      sourceLimitMs: options.sourceLimitMs ?? SOURCE_LIMIT_MS,
      clock,
      onUnkept: (error: Error) =>
        logger.warn({ err: error.message }, "could not store an answer for retries"),
      failpoint: failpointOf<Failpoint>(config.failpoint),
    };
    const requestLog = new RequestLog(database, (error) =>
      logger.warn({ err: error.message }, "could not write the request log"),
    );
    closers.push(() => requestLog.flush());
    let url = config.publicUrl ?? "";
    const publicUrl = () => config.publicUrl ?? url;
    const sso =
      ssoSettings && new SingleSignOn({ ...config, settings: ssoSettings, database, clock, publicUrl });
    const people = new People({
      ...config,
      database,
      secret,
      clock,
      sso,
      publicUrl,
      onWarning: (text, error) => logger.warn({ err: (error as Error).message }, text),
      onLetters: () => queue.start(),
    });
    const payments = new Payments({
      database,
      settings: paymentSettings,
      clock,
      publicUrl,
      onWarning: (text, error) => logger.warn({ err: error.message }, text),
      failpoint: failpointOf<PaymentFailpoint>(config.failpoint),
    });
    if (payments.options.length > 0)
      progress(`Customers can pay by ${payments.options.map(({ name }) => name).join(", ")}.`);
    const parts: HttpParts = {
      database,
      keys,
      people,
      pipeline,
      requestLog,
      limiter: new Limiter(database),
      maintenance: new Maintenance(database),
      terms: new TermsGate(database, config.terms, publicUrl),
      exports: new Exports(),
      fourEyesFen: config.fourEyesFen,
      metrics: createMetrics(database, index),
      clock,
      logger,
    };
    const app = createApp(parts, config);
    allowOrigins(app, config.origins);
    compressAnswers(app);
    addQueryRoutes(app, parts);
    addTrialRoute(app, parts, config);
    addMcpRoute(app, parts, config);
    addAccountRoutes(app, parts);
    addKeyRoutes(app, parts);
    addProjectRoutes(app, parts);
    addMemberRoutes(app, parts);
    addLedgerRoutes(app, parts);
    addAdminRoutes(app, parts);
    addPaymentRoutes(app, parts, payments);
    addInvoiceRoutes(app, parts, payments);
    const vectors =
      meaning &&
      new VectorSchedule({
        database,
        space: meaning.space,
        meaning,
        corpora: searchedByMeaning,
        progress,
        onTrouble: trouble,
      });
    closers.push(() => vectors?.close());
    addDocumentation(app);
    const offer = offers({ ...parts, index, contracts });
    const health = new CallHealth(database.reads.recent, clock);
    const status = () => statusOf({ ...parts, index, vectors, health });
    addCatalogRoutes(app, { offer, status });
    addHealthRoutes(app, { ...parts, index });
    addMetricsRoute(app, parts);
    const jobs = new Jobs(database, instance.id, clock, () => index.forget());
    closers.push(() => jobs.close());
    const uploads = new Uploads(database, config.dataFolder, config.uploadLimitBytes, clock);
    addJobRoutes(app, parts, jobs, uploads);
    addDatasetRoutes(app, parts, { jobs, index });
    addOpenDataRoutes(app, parts, { jobs, index, mirror: config.dataMirror });
    const box = new SecretBox(secret);
    const delivering = {
      database,
      box,
      rule: config.webhookTargets,
      clock,
      onDisabled: ({ accountId, url }: DisabledWebhook, transaction: Transaction) => {
        const data = { host: new URL(url).host };
        return people.tellOwners(accountId, { about: "webhook.disabled", data }, transaction);
      },
    };
    const queue = new Queue({
      everyMs: options.jobsEveryMs ?? JOBS_EVERY_MS,
      database,
      instance,
      tasks: {
        deliver_webhook: ({ delivery }, run) => deliver(delivering, Number(delivery), run),
        send_letter: (job, run) => people.sendLetter(job as unknown as LetterJob, run),
        ask_watch: async ({ watch }, { signal }) => {
          // The queue asks again later.
          await parts.maintenance.assertOff(clock());
          await askAgain(parts, String(watch), signal);
        },
      },
      onError: (error) => logger.warn({ err: error.message }, "the queue of webhooks failed"),
    });
    closers.push(() => queue.close());
    addWatchRoutes(app, parts);
    addAlertRoutes(app, parts);
    addLeavingRoutes(app, parts);
    addWebhookRoutes(app, parts, {
      webhooks: new Webhooks(database, box, config.webhookTargets),
      queue,
    });
    addConnectorRoutes(app, parts, { contracts, gate, path: config.connectors });
    let isPreparing = true;
    void firstData.laws.then(() => {
      isPreparing = false;
    });
    addConsolePages(app, { ...parts, offer, status, isPreparing: () => isPreparing }, config);
    addSignInRoutes(app, parts, config);
    addSsoRoutes(app, parts);
    addSessionRoutes(app, parts, config);
    if (config.locallm !== undefined) addModelRoutes(app, parts, config.locallm);
    closers.push(() => app.close());
    const sweeper = startSweeper({
      ...parts,
      everyMs: options.sweepEveryMs ?? SWEEP_EVERY_MS,
      cache,
      seal,
      queue,
      askPayments: async () => {
        // A charge that a backup lacks, which is restored then, would be lost.
        await payments.chargeDue(async () => (await parts.maintenance.current()) === undefined);
        await payments.askDue();
        if (people.sendsMail)
          await tellFailedCharges(database, ({ accountId, ...data }, transaction) =>
            people.tellOwners(accountId, { about: "top_up.failed", data }, transaction),
          );
      },
      dropAbsent: async () => {
        await sso?.dropAbsent(people.tellOfEndedKeys);
      },
      tellAlerts: async (since) => {
        await inTransaction(database, async (transaction) => {
          for (const { accountId, kind, data } of await takeAlerts(transaction, since, clock()))
            await people.tellOwners(accountId, { about: kind, data } as OwnerNews, transaction);
        });
        if (!people.sendsMail) return;
        const { terms } = config;
        if (terms?.from !== undefined) {
          const data = { ...terms, from: terms.from };
          await inTransaction(database, async (transaction) => {
            for (const id of await takeUnaccepted(transaction, terms, clock()))
              await people.tellOwners(id, { about: "terms.due", data }, transaction);
          });
        }
        await tellLowBalances(database, since, clock(), ({ accountId, ...data }, transaction) =>
          people.tellOwners(accountId, { about: "balance.low", data }, transaction),
        );
      },
    });
    closers.push(() => sweeper.close());

    url = await listen(app, config, options.socket?.descriptor);
    options.socket?.keep(app.server);
    closers.push(() => {
      options.socket?.stopping(LEAVE_MS + CLOSING_MS);
      return options.socket?.leave(app.server, LEAVE_MS);
    });
    const owner = await keys.authenticate(localKey, "127.0.0.1", clock());
    const link = await makeLocalLink(database, owner.account.id, clock());
    const consoleUrl = `${config.publicUrl ?? url}/console/enter#token=${link}`;
    void queue
      .startIfNeeded()
      .catch((error: Error) => logger.warn({ err: error.message }, "the queue of webhooks failed"));
    closers.push(startSchedule(database, { ...config, mirror: config.dataMirror, clock, progress }));
    const warm = async () => {
      try {
        // Samples alone are not worth the processor time: whoever has only these tries a few calls.
        const hasRecords = (await index.corpora()).some(({ corpus }) => !isOfSamples(corpus));
        if (!hasRecords) return;
        commonLaws();
        await index.warm();
      } catch (error) {
        logger.warn({ err: (error as Error).message }, "could not preload the index");
      }
    };
    const firstCall = async () => {
      const operation = "legal_laws";
      const laws = sources.find(operation);
      const [sample] = laws?.samples ?? [];
      const hasSamplesOnly = sample !== undefined && (await laws?.answeredBy?.("now")) === "sample";
      return JSON.stringify({
        operation,
        params: hasSamplesOnly ? sample : { query: "民法典 第五百七十七条" },
      });
    };
    const tellRealData = () => realData({ database, index, mirror: config.dataMirror }, sources);
    return {
      url,
      routes: app.routeList,
      localKey,
      consoleUrl,
      firstData: firstData.laws,
      realData: tellRealData,
      firstCall,
      warm,
      sweep: () => sweeper.sweep(),
      close,
    };
  } catch (error) {
    await close();
    throw error;
  }
}

async function listen(app: FastifyInstance, config: Config, descriptor: number | undefined): Promise<string> {
  const open = descriptor === undefined ? {} : { fd: descriptor };
  try {
    await app.listen({ ...open, host: config.host, port: config.port });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EADDRINUSE") throw error;
    throw new Error(
      `${config.host}:${config.port} is already in use. Stop the other program, or set DATAQ_HOST to another address, such as 127.0.0.1:0 for a free port.`,
      { cause: error },
    );
  }
  const { port } = app.server.address() as { port: number };
  const host = config.host === "0.0.0.0" || config.host === "::" ? "127.0.0.1" : config.host;
  return `http://${host.includes(":") ? `[${host}]` : host}:${port}`;
}

/** Seals the audit log and logs its new end, so that a log stored elsewhere keeps it. See `Seal`. */
function sealer(database: Database, logger: Logger, clock: () => Date): () => Promise<void> {
  const recent = new RecentEntries();
  let told: string | undefined;
  return async () => {
    await recent.run(clock(), async (since) => {
      while (await sealAudit(database, clock(), since));
      return true;
    });
    const seal = await lastSeal(database);
    if (!seal || seal.sha256 === told) return;
    told = seal.sha256;
    logger.info({ audit_lines: seal.lines, audit_seal: seal.sha256 }, "audit log sealed");
  };
}

/** Log lines are JSON and never contain a key, wherever it came from. */
function createLogger(
  config: Config,
  otherSecrets: readonly string[],
  logTo: ServiceOptions["logTo"],
): Logger {
  const secrets = [
    ...otherSecrets,
    config.secret ?? "",
    ...passwordsOf(config.databaseUrl),
    ...passwordsOf(config.databaseDirectUrl),
    ...passwordsOf(config.databaseReadUrl),
    ...passwordsOf(config.smtpUrl),
    config.search?.credentials?.password ?? "",
  ].filter((secret) => secret.length >= 4);
  const clean = (line: string) => secrets.reduce((text, secret) => text.replaceAll(secret, "…"), scrub(line));
  // A stream would end the service when the disk of its log is full, or when nobody reads it any more.
  const destination = logTo ?? logOutput(2, { waitMs: 0 });
  return pino({ base: null }, { write: (line) => void destination.write(clean(line)) });
}

/** The passwords in a URL, encoded and decoded. */
function passwordsOf(url: string | undefined): string[] {
  if (url === undefined) return [];
  const { password } = new URL(addressesOf(url)[0]!);
  try {
    return [password, decodeURIComponent(password)];
  } catch {
    return [password];
  }
}

function failpointOf<Name extends Failpoint | PaymentFailpoint>(
  name: Config["failpoint"],
): (at: Name) => void {
  if (name === undefined) return () => {};
  return (at) => {
    if (at === name) process.kill(process.pid, "SIGKILL");
  };
}

function once(run: () => Promise<void>): () => Promise<void> {
  let running: Promise<void> | undefined;
  return () => {
    running ??= run();
    return running;
  };
}
