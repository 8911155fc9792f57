import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { connect, getCACertificates, setDefaultCACertificates } from "node:tls";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("../../", import.meta.url));

export interface FrontPorts {
  /** Where nginx listens, and where the product does. */
  readonly dataq: { readonly front: number; readonly product: number };
  readonly locallm: { readonly front: number; readonly product: number };
  /** Where nginx answers without TLS. */
  readonly plain: number;
}

/**
 * nginx with TLS in front of both products, as the documentation shows it: its two examples are read, and only their
 * ports, names and paths are changed. Its files are not on the small disk.
 */
export class TlsFront {
  readonly urls: { readonly dataq: string; readonly locallm: string };
  readonly #folder = mkdtempSync(join(tmpdir(), "a-day-tls-"));
  readonly #ports: FrontPorts;
  readonly #server: ChildProcess;
  #serial = 0;

  constructor(ports: FrontPorts) {
    this.#ports = ports;
    this.urls = {
      dataq: `https://localhost:${ports.dataq.front}`,
      locallm: `https://localhost:${ports.locallm.front}`,
    };
    this.#openssl([
      "-x509",
      ...newKey("authority.key"),
      "-out",
      "authority.pem",
      "-days",
      "3650",
      "-subj",
      "/CN=A day",
    ]);
    setDefaultCACertificates([
      ...getCACertificates(),
      readFileSync(join(this.#folder, "authority.pem"), "utf8"),
    ]);
    this.#issue();
    mkdirSync(join(this.#folder, "temporary"));
    writeFileSync(join(this.#folder, "nginx.conf"), this.#configuration());
    this.#server = spawn("nginx", this.#words(), { stdio: ["ignore", "ignore", "inherit"] });
  }

  /** Resolves when new connections get the new certificate. Throws after ten seconds without. */
  async renew(): Promise<void> {
    this.#issue();
    execFileSync("nginx", [...this.#words(), "-s", "reload"], { stdio: "pipe" });
    for (const port of [this.#ports.dataq.front, this.#ports.locallm.front])
      for (const end = Date.now() + 10_000; (await serialAt(port)) !== this.#serial; await sleep(50))
        if (Date.now() > end) throw new Error(`port ${port} keeps its old certificate`);
  }

  async stop(): Promise<void> {
    const ended = new Promise((resolve) => this.#server.once("close", resolve));
    this.#server.kill("SIGTERM");
    await ended;
    rmSync(this.#folder, { recursive: true, force: true });
  }

  #words(): string[] {
    return ["-p", this.#folder, "-c", "nginx.conf", "-e", "errors.log"];
  }

  /** Both files are replaced at once enough: nginx reads them only when it is told to. */
  #issue(): void {
    this.#serial++;
    const by = ["-CA", "authority.pem", "-CAkey", "authority.key", "-set_serial", String(this.#serial)];
    const names = ["-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost"];
    this.#openssl(["-x509", ...by, ...newKey("new.key"), "-out", "new.pem", "-days", "90", ...names]);
    for (const end of ["key", "pem"])
      renameSync(join(this.#folder, `new.${end}`), join(this.#folder, `front.${end}`));
  }

  #openssl(words: readonly string[]): void {
    execFileSync("openssl", ["req", ...words], { cwd: this.#folder, stdio: "pipe" });
  }

  #configuration(): string {
    const { dataq, locallm, plain } = this.#ports;
    const ofDataq = changed(readFileSync(join(root, "dataq/hosting/nginx.conf"), "utf8"), [
      ["listen 80;", `listen 127.0.0.1:${plain};`],
      ["listen 443 ssl http2;", `listen localhost:${dataq.front} ssl http2;`],
      ["data.example.com", "localhost"],
      ["/etc/letsencrypt/live/localhost/fullchain.pem", "front.pem"],
      ["/etc/letsencrypt/live/localhost/privkey.pem", "front.key"],
      ["127.0.0.1:11435", `127.0.0.1:${dataq.product}`],
    ]);
    const page = readFileSync(join(root, "docs/services.md"), "utf8");
    const [, example = ""] = /^nginx:\n\n```nginx\n(.*?)```/ms.exec(page) ?? [];
    const ofLocallm = changed(example, [
      ["listen 443 ssl;", `listen localhost:${locallm.front} ssl;`],
      ["models.example.com", "localhost"],
      ["/etc/ssl/models.pem", "front.pem"],
      ["/etc/ssl/models.key", "front.key"],
      ["127.0.0.1:11434", `127.0.0.1:${locallm.product}`],
    ]);
    const folders = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"].map(
      (of) => `${of}_temp_path temporary/${of};`,
    );
    return [
      "user root;\ndaemon off;\npid nginx.pid;\nworker_processes 1;\nevents {}\nhttp {\naccess_log off;",
      ...folders,
      ofDataq,
      ofLocallm,
      "}\n",
    ].join("\n");
  }
}

function newKey(file: string): string[] {
  return ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-keyout", file];
}

/** Throws if the example does not have what is to be replaced. */
function changed(text: string, pairs: readonly (readonly [string, string])[]): string {
  return pairs.reduce((sum, [from, to]) => {
    if (!sum.includes(from)) throw new Error(`The documented configuration of nginx has no "${from}".`);
    return sum.replaceAll(from, to);
  }, text);
}

function serialAt(port: number): Promise<number | undefined> {
  return new Promise((resolve) => {
    const socket = connect({ port, host: "localhost", servername: "localhost" }, () => {
      resolve(Number.parseInt(socket.getPeerCertificate().serialNumber, 16));
      socket.destroy();
    });
    socket.once("error", () => resolve(undefined));
  });
}
