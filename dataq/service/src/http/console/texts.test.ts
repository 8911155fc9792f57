import { operations, sourceKinds } from "@dataq/contract";
import {
  deliveryStates,
  disabledReasons,
  entryKinds,
  memberRoles,
  paymentStates,
  paymentTroubles,
  revocationReasons,
  scopes,
  tiers,
  voucherStates,
  webhookEvents,
} from "@dataq/contract/wire";
import { expect, test } from "vitest";
import { en, type Text } from "../../../../console/src/text/en.ts";
import { zh } from "../../../../console/src/text/zh.ts";
import { auditActions, namedActors } from "../../accounts/audit.ts";
import { currentNote, ownNotes } from "../../ledger/own-notes.ts";
import { importNames } from "../../operations/imports.ts";
import { dueReasons } from "../../query/tariff.ts";

type Table = (text: Text) => Readonly<Record<string, string>>;

const operationNames = new Set<string>(operations.map(({ name }) => name));

/** Codes that the service can return and the console shows as text. */
const vocabularies: readonly (readonly [string, readonly string[], Table])[] = [
  ["what was done, in the audit log", auditActions, (text) => text.integrity.actions],
  ["who did it, in the audit log", namedActors, (text) => text.integrity.actors],
  ["why a key was revoked", revocationReasons, (text) => text.keys.revokedReasons],
  ["the rights of a key", scopes, (text) => text.keys.scopeNames],
  ["what the rights are", scopes, (text) => text.keys.scopeHints],
  ["the ledger's own notes", Object.values(ownNotes), (text) => text.ledger.notes],
  ["movements of the ledger", entryKinds, (text) => text.ledger.kinds],
  ["why a call costs less", dueReasons, (text) => text.playground.reasons],
  ["roles of members", memberRoles, (text) => text.team.roles],
  ["tiers of accounts", tiers, (text) => text.accounts.tiers],
  ["events of webhooks", webhookEvents, (text) => text.webhooks.events],
  ["states of messages", deliveryStates, (text) => text.webhooks.states],
  ["why a webhook was disabled", disabledReasons, (text) => text.webhooks.disabledReasons],
  ["states of vouchers", voucherStates, (text) => text.vouchers.states],
  ["what does not fit about a payment", paymentTroubles, ({ payments }) => withExamples(payments.troubles)],
  ["states of payments", paymentStates, (text) => text.pay.states],
  ["kinds of sources", sourceKinds, (text) => text.sourceKinds],
  ["domains", [...new Set(operations.map(({ domain }) => domain))], (text) => text.domains],
  [
    "what is imported and is no operation",
    importNames.filter((name) => !operationNames.has(name)),
    (text) => text.sources.targets,
  ],
];

/** Texts that take the parts of a sentence. */
function withExamples(texts: Readonly<Record<string, string | ((...parts: string[]) => string)>>) {
  return Object.fromEntries(
    Object.entries(texts).map(([code, text]) => [code, typeof text === "string" ? text : text("7", "8")]),
  );
}

test.each(vocabularies)("%s: every code has a text in English and in Chinese", (_, codes, tableOf) => {
  const [english, chinese] = [tableOf(en), tableOf(zh)];
  expect(Object.keys(english).sort()).toEqual([...codes].sort());
  expect(Object.keys(chinese).sort()).toEqual([...codes].sort());
  for (const code of codes) {
    expect(english[code]).not.toMatch(/\p{Script=Han}/u);
    expect(chinese[code]).toMatch(/\p{Script=Han}/u);
  }
});

test("a note of an earlier version is shown in today's words, and notes that people wrote as they are", () => {
  expect(currentNote("the trial's time is over")).toBe(ownNotes.trialOver);
  for (const note of [...Object.values(ownNotes), "the trial's time is over, again", "", "赔偿"])
    expect(currentNote(note)).toBe(note);
});

test("English texts have no plural after 1", () => {
  const said = (text: unknown): string[] => {
    if (typeof text === "function") return [String(text("1", "1", "1"))];
    return typeof text === "object" && text !== null ? Object.values(text).flatMap(said) : [];
  };
  expect(said(en).length).toBeGreaterThan(40);
  for (const text of said(en)) expect(text).not.toMatch(/\b1 \w+(?<!s)s\b(?!\/s)/);
});
