import type { AddressInfo } from "node:net";
import { runOnce } from "graphile-worker";
import PostalMime from "postal-mime";
import { SMTPServer } from "smtp-server";
import type { Database } from "../src/database/database.ts";
import type { LetterJob } from "../src/people/owner-letters.ts";
import type { People } from "../src/people/people.ts";
import { silent } from "../src/webhooks/queue-log.ts";

/** An email as its reader sees it. */
export interface ReceivedLetter {
  readonly from: string;
  readonly to: string;
  readonly subject: string;
  readonly text: string;
  /** The link in it. */
  readonly link: string;
}

/** A mail server on loopback that accepts and keeps every email. */
export interface LetterBox {
  /** For SMTP_URL, with the name and password that it requires. */
  readonly url: string;
  readonly letters: ReceivedLetter[];
  /** Emails that are on their way while the server `hangs`. */
  readonly held: number;
  /** It reads emails and does not say that it has them. */
  hangs: boolean;
  /** The next email to this address with these words in its subject that was not yet returned; waits for one that is on its way. */
  next(to: string, about?: string): Promise<ReceivedLetter>;
  close(): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
}

const user = "console@dataq.example";
const password = "let me send";

export async function openLetterBox(): Promise<LetterBox> {
  const letters: ReceivedLetter[] = [];
  const given = new Set<ReceivedLetter>();
  const waiting = new Set<() => void>();
  const server = new SMTPServer({
    hideSTARTTLS: true,
    allowInsecureAuth: true,
    onAuth: ({ username, password: sent }, _session, done) =>
      username === user && sent === password ? done(null, { user }) : done(new Error("unknown sender")),
    onData(stream, session, done) {
      if (box.hangs) {
        box.held += 1;
        stream.resume();
        return;
      }
      void readLetter(stream, session.envelope.rcptTo[0]?.address ?? "").then((letter) => {
        letters.push(letter);
        for (const wake of waiting) wake();
        done();
      }, done);
    },
  });
  // The connection of a process that was killed.
  server.on("error", () => {});
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.server.address() as AddressInfo;
  const box = {
    held: 0,
    hangs: false,
    url: `smtp://${encodeURIComponent(user)}:${encodeURIComponent(password)}@127.0.0.1:${port}`,
    letters,
    async next(to: string, about = "") {
      for (;;) {
        const letter = letters.find((one) => one.to === to && one.subject.includes(about) && !given.has(one));
        if (letter) {
          given.add(letter);
          return letter;
        }
        await new Promise<void>((resolve) => {
          const wake = () => {
            waiting.delete(wake);
            resolve();
          };
          waiting.add(wake);
        });
      }
    },
    close: () => new Promise<void>((resolve) => server.close(() => resolve())),
    [Symbol.asyncDispose]: () => box.close(),
  };
  return box;
}

/** Runs the jobs of emails, as the queue of a service does. */
export async function sendLetters({ pool }: Database, people: People): Promise<void> {
  await runOnce({
    pgPool: pool,
    logger: silent,
    noHandleSignals: true,
    taskList: {
      send_letter: (job, { job: { attempts } }) => people.sendLetter(job as LetterJob, { attempts }),
    },
  });
}

async function readLetter(stream: AsyncIterable<Buffer>, to: string): Promise<ReceivedLetter> {
  const chunks: Buffer[] = [];
  for await (const chunk of stream) chunks.push(chunk);
  const { from, subject = "", text = "" } = await PostalMime.parse(Buffer.concat(chunks));
  return { from: from?.address ?? "", to, subject, text, link: /https?:\/\/\S+/.exec(text)?.[0] ?? "" };
}
