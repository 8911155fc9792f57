import { describe, expect, test } from "vitest";
import { readConfig } from "./config.ts";

describe("every setting has a default, accepts a valid value and rejects an invalid one by name", () => {
  const settings: [string, string, string, unknown, unknown, string | null][] = [
    ["DATAQ_HOST", "port", "0.0.0.0:8080", 11_435, 8_080, "127.0.0.1:99999"],
    ["DATABASE_URL", "databaseUrl", "postgres://h/d", undefined, "postgres://h/d", "mysql://user:hush@h/d"],
    ["DATAQ_POOL", "connections", "40", 24, 40, "8"],
    ["DATAQ_MODE", "mode", "hosted", "local", "hosted", "cloud"],
    ["DATAQ_SIGNUP", "signup", "approve", "open", "approve", "maybe"],
    ["DATAQ_SECRET", "secret", "0123456789abcdef", undefined, "0123456789abcdef", "short"],
    ["DATAQ_CHARGE_EMPTY", "chargeEmpty", "false", true, false, "no"],
    [
      "DATAQ_ORIGINS",
      "origins",
      "https://a.example, https://b.example:8443",
      [],
      ["https://a.example", "https://b.example:8443"],
      "a.example",
    ],
    [
      "DATAQ_TRUSTED_PROXIES",
      "trustedProxies",
      "10.0.0.0/8, ::1",
      [],
      ["10.0.0.0/8", "::1"],
      "proxy.example",
    ],
    [
      "DATAQ_ALLOWED_HOSTS",
      "allowedHosts",
      "data.example.com, 10.0.0.5",
      [],
      ["data.example.com", "10.0.0.5"],
      "https://data.example.com",
    ],
    ["DATAQ_FOUR_EYES", "fourEyesFen", "500", undefined, 50_000, "5.5"],
    ["DATAQ_TRIALS", "trialsPerDay", "0", 5_000, 0, "-1"],
    ["DATAQ_SAMPLES", "samples", "off", true, false, "some"],
    ["DATAQ_LOCALLM", "locallm", "http://127.0.0.1:11434", undefined, "http://127.0.0.1:11434", "localhost"],
    ["SMTP_URL", "smtpUrl", "smtp://mail.example", undefined, "smtp://mail.example", "mail.example"],
    ["DATAQ_DATA", "dataFolder", "/tmp/here", expect.any(String), "/tmp/here", null],
  ];
  test.each(settings)("%s", (name, field, right, byDefault, read, wrong) => {
    const value = (environment: Record<string, string>) =>
      readConfig(environment)[field as keyof ReturnType<typeof readConfig>];
    expect(value({})).toEqual(byDefault);
    expect(value({ [name]: "" })).toEqual(byDefault);
    expect(value({ [name]: right })).toEqual(read);
    if (wrong !== null) expect(() => readConfig({ [name]: wrong })).toThrow(name);
  });

  test("sign-up is closed where others can reach the service", () => {
    expect(readConfig({ DATAQ_HOST: "0.0.0.0" }).signup).toBe("closed");
    expect(readConfig({ DATAQ_HOST: "[::1]:8000" })).toMatchObject({
      host: "::1",
      port: 8_000,
      signup: "open",
    });
  });

  test("a hosted service approves nobody automatically", () => {
    expect(readConfig({ DATAQ_MODE: "hosted" }).signup).toBe("approve");
    expect(readConfig({ DATAQ_MODE: "hosted", DATAQ_SIGNUP: "open" }).signup).toBe("open");
  });

  test("the model server must be on this machine", () => {
    for (const near of ["http://localhost:1", "http://[::1]:1", "http://127.9.9.9"])
      expect(readConfig({ DATAQ_LOCALLM: near }).locallm).toBe(near);
    for (const far of ["http://192.168.1.9:11434", "http://models.example", "http://127.evil.example"])
      expect(() => readConfig({ DATAQ_LOCALLM: far })).toThrow("DATAQ_LOCALLM");
  });

  test("a model for vectors is an address and a name, on any host, without credentials", () => {
    const read = (DATAQ_EMBED: string) => readConfig({ DATAQ_EMBED }).embed;
    expect(readConfig({}).embed).toBeUndefined();
    expect(read("http://127.0.0.1:11434#all-minilm:22m")).toEqual({
      address: "http://127.0.0.1:11434",
      name: "all-minilm:22m",
    });
    expect(read(" https://models.example/#hf.co/owner/model:q8 ")).toEqual({
      address: "https://models.example",
      name: "hf.co/owner/model:q8",
    });
    for (const wrong of [
      "all-minilm",
      "127.0.0.1:11434#all-minilm",
      "http://127.0.0.1:11434",
      "http://127.0.0.1:11434#",
      "http://127.0.0.1:11434/api#m",
      "http://127.0.0.1:11434?a=b#m",
      "http://u:hush@127.0.0.1:11434#m",
      "http://127.0.0.1:11434#m m",
      "http://127.0.0.1:11434#%zz",
      "file:///etc/passwd#m",
    ])
      expect(() => read(wrong)).toThrow("DATAQ_EMBED");
    expect(() => read("http://u:hush@127.0.0.1#m")).not.toThrow("hush");
  });

  test("a database may have several hosts, and each of them must be valid", () => {
    const url = "postgres://user:hush@a:5432,b:5433,[::1]:5434/d?sslmode=verify-full";
    expect(readConfig({ DATABASE_URL: url }).databaseUrl).toBe(url);
    for (const wrong of ["postgres://user:hush@a:5432,b:x/d", "postgres://a:99999,b/d"])
      expect(() => readConfig({ DATABASE_URL: wrong })).toThrow("DATABASE_URL");
  });

  test.each(["DATABASE_DIRECT_URL", "DATABASE_READ_URL"])("%s needs DATABASE_URL", (name) => {
    expect(() => readConfig({ [name]: "postgres://h/d" })).toThrow(`${name} is set and DATABASE_URL is not`);
    expect(() => readConfig({ DATABASE_URL: "postgres://h/d", [name]: "mysql://h/d" })).toThrow(name);
    expect(() => readConfig({ DATABASE_URL: "postgres://h/d", [name]: "postgres://h/e" })).not.toThrow();
  });

  test("a service among others opens fewer connections than one with a server of its own", () => {
    expect(readConfig({}).connections).toBe(24);
    expect(readConfig({ DATABASE_URL: "postgres://h/d" }).connections).toBe(9);
  });

  test("an error about an address does not repeat the password in it", () => {
    expect(() => readConfig({ DATABASE_URL: "mysql://user:hush@h/d" })).not.toThrow("hush");
  });
});

describe("DATAQ_SEARCH", () => {
  const read = (DATAQ_SEARCH: string, more: Record<string, string> = {}) =>
    readConfig({ DATAQ_SEARCH, ...more }).search;

  test("is the address of an OpenSearch, with credentials, a prefix and certificates", () => {
    expect(read("")).toBeUndefined();
    expect(read("opensearch+http://127.0.0.1:9200")).toEqual({
      url: "http://127.0.0.1:9200",
      prefix: "dataq",
    });
    const whole = read("OpenSearch+https://us%40er:p%3Aw@search.example:9200/mine/", {
      DATAQ_SEARCH_CA: "/ca.pem",
    });
    expect(whole).toEqual({
      url: "https://search.example:9200",
      prefix: "mine",
      credentials: { user: "us@er", password: "p:w" },
      certificateFile: "/ca.pem",
    });
  });

  test.each([
    "https://search.example",
    "opensearch+ftp://search.example",
    "opensearch+http://search.example",
    "opensearch+https://u:hush-hush@search.example/Upper",
    "opensearch+https://u:hush-hush@search.example/a/b",
    "opensearch+https://u:hush-hush@search.example/?a=b",
    "opensearch+https://u:hush-hush@",
    "opensearch+https://u:hush-hush%@search.example",
    "opensearch+",
  ])("rejects %s by name, without repeating a password", (wrong) => {
    expect(() => read(wrong)).toThrow("DATAQ_SEARCH");
    expect(() => read(wrong)).not.toThrow("hush-hush");
  });
});
