import { type Capability, type CreateRequest, capabilities } from "../../wire/api/library.ts";
import {
  parseRemoteAddress,
  type RemoteAddress,
  remoteKeyName,
  remoteLimits,
  remoteProtocols,
} from "../../wire/remote-address.ts";
import { invalid } from "./parse.ts";

type Info = Partial<NonNullable<CreateRequest["info"]>>;

type Writable<Type> = { -readonly [Key in keyof Type]: Type[Key] };

/** Reads the FROM lines with addresses of engines, and the REMOTE lines, which apply to the FROM lines directly above. */
export class RemoteLines {
  readonly #addresses: Writable<RemoteAddress>[] = [];
  /** The addresses that the next REMOTE line applies to. */
  #group: Writable<RemoteAddress>[] = [];
  /** The settings that the group's REMOTE lines have made. */
  #set = new Set<string>();
  readonly #info: Info = {};

  get isEmpty(): boolean {
    return this.#addresses.length === 0;
  }

  address(value: string, line: number): void {
    const parsed = parseRemoteAddress(value);
    if ("problem" in parsed) throw invalid(line, `FROM ${parsed.problem}`);
    const { url, model } = parsed;
    if (this.#addresses.some((each) => each.url === url && each.model === model))
      throw invalid(line, "FROM repeats an address");
    if (this.#addresses.length === remoteLimits.addresses)
      throw invalid(line, `FROM exceeds the limit of ${remoteLimits.addresses} addresses`);
    if (this.#set.size > 0) this.#group = [];
    this.#set = new Set();
    const address = { url, model, protocol: "openai" as const, key: null, weight: 1, requests: null };
    this.#addresses.push(address);
    this.#group.push(address);
  }

  setting({ name, value, line = 0 }: { name: string; value: string; line?: number }): void {
    if (this.#group.length === 0)
      throw invalid(line, "REMOTE must follow a FROM line with the address of an engine");
    const read = readers[name];
    if (read === undefined)
      throw invalid(line, `REMOTE must be followed by one of ${Object.keys(readers).join(", ")}`);
    const setting = read(value.trim());
    if (typeof setting === "string") throw invalid(line, `REMOTE ${name} ${setting}`);
    const isOfModel = "info" in setting;
    const isRepeated = isOfModel
      ? Object.keys(setting.info).some((key) => Object.hasOwn(this.#info, key))
      : this.#set.has(name);
    if (isRepeated) throw invalid(line, `REMOTE ${name} is already set`);
    this.#set.add(name);
    if (isOfModel) Object.assign(this.#info, setting.info);
    else for (const address of this.#group) Object.assign(address, setting.address);
  }

  /** The fields of the create request. Empty for a local model. */
  fields(): Pick<Partial<CreateRequest>, "remotes" | "info"> {
    if (this.isEmpty) return {};
    const info = Object.keys(this.#info).length === 0 ? {} : { info: this.#info as CreateRequest["info"] };
    return { remotes: this.#addresses as unknown as CreateRequest["remotes"], ...info };
  }
}

/** A setting of the addresses or of the whole model, or the problem with its value. */
type Setting = { readonly address: Partial<RemoteAddress> } | { readonly info: Info } | string;

const readers: Readonly<Record<string, (value: string) => Setting>> = {
  protocol(value) {
    const protocol = remoteProtocols.find((each) => each === value.toLowerCase());
    return protocol === undefined
      ? `must be one of ${remoteProtocols.join(", ")}`
      : { address: { protocol } };
  },
  key: (value) =>
    remoteKeyName.test(value)
      ? { address: { key: value } }
      : "must be the name of a key in the credentials file, not the key itself",
  weight: (value) => integer(value, remoteLimits.weight, (weight) => ({ address: { weight } })),
  requests: (value) => integer(value, remoteLimits.requests, (requests) => ({ address: { requests } })),
  context: (value) => integer(value, 2 ** 31 - 1, (length) => ({ info: { context_length: length } })),
  capabilities(value) {
    const words = value.split(/[\s,]+/).filter((word) => word !== "");
    const known = words.filter((word): word is Capability =>
      (capabilities as readonly string[]).includes(word),
    );
    return words.length === 0 || known.length < words.length
      ? `must be a list of ${capabilities.join(", ")}`
      : { info: { capabilities: known } };
  },
};

function integer(value: string, max: number, setting: (number: number) => Setting): Setting {
  const number = Number(value);
  return /^\d{1,10}$/.test(value) && number >= 1 && number <= max
    ? setting(number)
    : `must be an integer between 1 and ${max}`;
}
