import { readFile } from "node:fs/promises";
import { Failure, invalid } from "@dataq/contract";
import type { FastifyRequest } from "fastify";
import { callerOf } from "../../accounts/address.ts";
import type { Rate } from "../../limits/tier.ts";
import type { HttpParts } from "../parts.ts";

export interface SignUpSettings {
  readonly mode: "local" | "hosted";
  /** DATAQ_REFUSED_MAIL */
  readonly refusedMail: string;
}

const DAY_S = 86_400;
/** Sign-ups from one address, of one mail domain, and of one mailbox. */
const limits = {
  address: { perSecond: 10 / DAY_S, burst: 10 },
  domain: { perSecond: 30 / DAY_S, burst: 30 },
  mailbox: { perSecond: 1 / (30 * DAY_S), burst: 3 },
} as const satisfies Record<string, Rate>;

/** Domains at which everybody can have a mailbox: they are not one customer. */
const everybodys: ReadonlySet<string> = new Set(
  "qq.com foxmail.com 163.com 126.com yeah.net 139.com 189.cn sina.com sina.cn sohu.com aliyun.com gmail.com outlook.com hotmail.com live.com msn.com icloud.com me.com yahoo.com proton.me protonmail.com".split(
    " ",
  ),
);

/**
 * Keeps one person from collecting trials on a service for everybody: limits sign-ups by address, mail domain and mailbox,
 * and refuses domains of disposable mail and those in the operator's file. Counts before better-auth looks, so that the
 * answer says nothing about whether an address is known.
 */
export async function assertMaySignUp(
  { limiter, clock }: Pick<HttpParts, "limiter" | "clock">,
  request: FastifyRequest,
  { mode, refusedMail }: SignUpSettings,
): Promise<void> {
  const mail = mode === "hosted" ? mailOf(request.body) : undefined;
  if (mail === undefined) return;
  const { mailbox, domain } = mail;
  const { disposableEmailBlocklistSet } = await import("disposable-email-domains-js");
  if (isRefused(domain, await readOwn(refusedMail), disposableEmailBlocklistSet()))
    throw invalid(
      "email",
      "choice",
      "email has a domain that this service does not accept",
      "use an address of your company or of another provider",
      "请使用公司邮箱或其他邮箱",
    );
  const taken: readonly (readonly [string, Rate])[] = [
    [`sign-up:${callerOf(request.ip)}`, limits.address],
    ...(everybodys.has(domain) ? [] : ([[`sign-up-domain:${domain}`, limits.domain]] as const)),
    [`sign-up-mailbox:${mailbox}@${domain}`, limits.mailbox],
  ];
  for (const [bucket, rate] of taken) {
    const waitS = await limiter.take(bucket, 1, rate, clock());
    if (waitS !== undefined) throw new Failure("rate_limited", { retry_after: waitS });
  }
}

/** The mailbox behind an address: providers ignore what follows a plus sign, and Gmail dots. */
function mailOf(body: unknown): { readonly mailbox: string; readonly domain: string } | undefined {
  let email: unknown;
  try {
    ({ email } = JSON.parse(String(body)) as { email?: unknown });
  } catch {
    // better-auth says what is wrong with it.
    return undefined;
  }
  if (typeof email !== "string" || email.length > 254) return undefined;
  const at = email.lastIndexOf("@");
  if (at < 1) return undefined;
  const domain = email
    .slice(at + 1)
    .toLowerCase()
    .replace(/\.$/, "");
  const [name = ""] = email.slice(0, at).toLowerCase().split("+");
  return { mailbox: /^(?:gmail|googlemail)\.com$/.test(domain) ? name.replaceAll(".", "") : name, domain };
}

/**
 * The operator's word on domains: true refuses. One domain a line; ! before it lets it in, and a line that begins with # is
 * a comment. There need not be a file.
 */
async function readOwn(path: string): Promise<ReadonlyMap<string, boolean>> {
  const text = await readFile(path, "utf8").catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return "";
    throw error;
  });
  return new Map(
    text
      .split("\n")
      .map((line) => line.trim().toLowerCase())
      .filter((line) => line !== "" && !line.startsWith("#"))
      .map((line) => (line.startsWith("!") ? [line.slice(1).trim(), false] : [line, true])),
  );
}

/** A domain is refused with all below it. The operator's closest word counts before the list. */
function isRefused(
  domain: string,
  own: ReadonlyMap<string, boolean>,
  disposable: ReadonlySet<string>,
): boolean {
  const labels = domain.split(".");
  const above = labels.map((_, from) => labels.slice(from).join("."));
  const said = above.find((one) => own.has(one));
  return said === undefined ? above.some((one) => disposable.has(one)) : own.get(said) === true;
}
