import type { AddressInfo } from "node:net";
import PostalMime from "postal-mime";
import { SMTPServer } from "smtp-server";

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
  /** The next email to this address with these words in its subject that was not yet returned; waits for one that is on its way. */
  next(to: string, about?: string): Promise<ReceivedLetter>;
  close(): Promise<void>;
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
      void readLetter(stream, session.envelope.rcptTo[0]?.address ?? "").then((letter) => {
        letters.push(letter);
        for (const wake of waiting) wake();
        done();
      }, done);
    },
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.server.address() as AddressInfo;
  return {
    url: `smtp://${encodeURIComponent(user)}:${encodeURIComponent(password)}@127.0.0.1:${port}`,
    letters,
    async next(to, about = "") {
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
    close: () => new Promise((resolve) => server.close(() => resolve())),
  };
}

async function readLetter(stream: AsyncIterable<Buffer>, to: string): Promise<ReceivedLetter> {
  const chunks: Buffer[] = [];
  for await (const chunk of stream) chunks.push(chunk);
  const { from, subject = "", text = "" } = await PostalMime.parse(Buffer.concat(chunks));
  return { from: from?.address ?? "", to, subject, text, link: /https?:\/\/\S+/.exec(text)?.[0] ?? "" };
}
