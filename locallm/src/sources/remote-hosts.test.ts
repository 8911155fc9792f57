import { chmod, mkdtemp, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type NamedHosts, parseNamedHosts } from "../wire/remote-address.ts";
import { CredentialsFile } from "./credentials.ts";
import { RemoteHosts } from "./remote-hosts.ts";

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "locallm-remotes-"));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

const named = (text: string): NamedHosts => {
  const hosts = parseNamedHosts(text);
  if (hosts === null) throw new Error(`not hosts: ${text}`);
  return hosts;
};
const hosts = (text: string, file = "absent.json") =>
  new RemoteHosts({ file: join(folder, file), named: named(text) });

describe("the hosts that remote models may name", () => {
  test("are none by default, not even this machine", async () => {
    for (const url of ["https://gpu1.example/v1", "http://localhost:11434", "http://127.0.0.1:8000/v1"])
      await expect(hosts("").require(url)).rejects.toThrow("run `locallm remote allow");
  });

  test.each([
    ["gpu1.example", "https://gpu1.example:8000/v1", true],
    ["gpu1.example:8000, gpu2.example", "https://gpu2.example/v1", true],
    ["gpu1.example:8000", "https://gpu1.example/v1", false],
    ["gpu1.example", "https://sub.gpu1.example/v1", false],
    ["gpu1.example", "https://gpu1.example.evil.example/v1", false],
    ["127.0.0.1", "http://localhost:8000", false],
    ["*", "https://anything.example", true],
  ])("LOCALLM_REMOTES=%s allows %s: %s", async (text, url, isAllowed) => {
    const answer = await hosts(text)
      .require(url)
      .then(
        () => true,
        (error: { code: string }) => error.code !== "remote_not_allowed",
      );
    expect(answer).toBe(isAllowed);
  });

  test.each([
    // A name may lead to a public address or into a private network, but not to this machine or a metadata service.
    ["gpu1.example", "https://gpu1.example/v1", "203.0.113.7", true],
    ["gpu1.example", "https://gpu1.example/v1", "2606:4700::1", true],
    ["gpu1.example", "https://gpu1.example/v1", "10.1.2.3", true],
    ["gpu1.example", "https://gpu1.example/v1", "fd00::1", true],
    ["gpu1.example", "https://gpu1.example/v1", "::ffff:192.168.1.2", true],
    ["gpu1.example", "https://gpu1.example/v1", "127.0.0.1", false],
    ["gpu1.example", "https://gpu1.example/v1", "::1", false],
    ["gpu1.example", "https://gpu1.example/v1", "::ffff:127.0.0.1", false],
    ["gpu1.example", "https://gpu1.example/v1", "::ffff:7f00:1", false],
    ["gpu1.example", "https://gpu1.example/v1", "169.254.169.254", false],
    ["gpu1.example", "https://gpu1.example/v1", "::ffff:a9fe:a9fe", false],
    ["gpu1.example", "https://gpu1.example/v1", "fe80::1", false],
    ["gpu1.example", "https://gpu1.example/v1", "0.0.0.0", false],
    ["gpu1.example", "https://gpu1.example/v1", "64:ff9b::a9fe:a9fe", false],
    ["gpu1.example", "https://gpu1.example/v1", "not an address", false],
    // An address that is named explicitly is allowed.
    ["169.254.10.1", "http://169.254.10.1:8000/v1", "169.254.10.1", true],
    ["localhost", "http://localhost:11434", "127.0.0.1", true],
    ["localhost", "http://localhost:11434", "::1", true],
    ["[fd00::5]", "http://[fd00:0::5]:8000/v1", "fd00::5", true],
    // `*` allows public addresses only.
    ["*", "https://anything.example", "203.0.113.7", true],
    ["*", "https://anything.example", "10.1.2.3", false],
    ["*", "http://127.0.0.1:8000", "127.0.0.1", false],
    ["*, 127.0.0.1", "http://127.0.0.1:8000", "127.0.0.1", true],
  ])("LOCALLM_REMOTES=%s: %s may resolve to %s: %s", async (text, url, address, isAllowed) => {
    expect((await hosts(text).addressCheck(url))(address)).toBe(isAllowed);
  });

  test("can be added to a private file, which is read again for each request", async () => {
    const server = hosts("", "hosts.json");
    const commandLine = hosts("", "hosts.json");
    await commandLine.allow(["https://GPU1.example./v1", "http://[::1]:8000"]);
    await commandLine.allow(["https://gpu1.example/v2"]);
    expect(await commandLine.allowed()).toEqual(["[::1]:8000", "gpu1.example:443"]);
    await server.require("https://gpu1.example/v3");
    await expect(server.require("https://gpu1.example:8443/v1")).rejects.toThrow("gpu1.example:8443");
    expect((await server.addressCheck("http://[::1]:8000"))("::1")).toBe(true);
    expect(await commandLine.forbid("gpu1.example:443")).toBe(true);
    expect(await commandLine.forbid("gpu1.example:443")).toBe(false);
    await expect(server.require("https://gpu1.example/v3")).rejects.toThrow("gpu1.example:443");
    const { mode } = await stat(join(folder, "hosts.json"));
    if (process.platform !== "win32") expect(mode & 0o777).toBe(0o600);
  });

  test.each([
    ["{", "it is not JSON"],
    ["[]", "it must contain a list of hosts"],
    ['{"hosts":[1]}', "it must contain a list of hosts"],
  ])("are refused if the file contains %s", async (text, problem) => {
    const file = join(folder, "damaged.json");
    await writeFile(file, text, { mode: 0o600 });
    await expect(hosts("", "damaged.json").require("https://gpu1.example")).rejects.toThrow(problem);
  });

  test.skipIf(process.platform === "win32")("are refused if other users may access the file", async () => {
    const file = join(folder, "shared.json");
    await writeFile(file, '{"hosts":["gpu1.example:443"]}');
    await chmod(file, 0o666);
    await expect(hosts("", "shared.json").require("https://gpu1.example")).rejects.toThrow("run chmod 600");
  });
});

describe("the keys of remote models", () => {
  test("are sent only to their hosts, encrypted or to this machine", async () => {
    const file = join(folder, "credentials.json");
    await writeFile(file, '{"registry.example": {"token": "abc"}}', { mode: 0o600 });
    const keys = new CredentialsFile(file);
    const keyFor = async (key: string, url: string) => (await keys.remoteKeys([{ key, url }]))[0];
    const host = ["gpu1.example:8000", "localhost:8000", "gpu2.example:80"];
    expect(await keys.setRemoteKey("gpu", { token: "s3cret", hosts: host })).toBe(false);
    expect(await keyFor("gpu", "https://gpu1.example:8000/v1")).toBe("s3cret");
    expect(await keyFor("gpu", "http://localhost:8000/v1")).toBe("s3cret");
    await expect(keyFor("gpu", "https://evil.example:8000/v1")).rejects.toThrow("evil.example:8000");
    await expect(keyFor("gpu", "https://gpu1.example/v1")).rejects.toThrow("gpu1.example:443");
    await expect(keyFor("other", "https://gpu1.example:8000/v1")).rejects.toThrow("has no key other");
    await expect(keyFor("gpu", "http://gpu2.example/v1")).rejects.toThrow("http is not encrypted");
    expect(await keys.setRemoteKey("gpu", { token: "new", hosts: host, insecure: true })).toBe(true);
    expect(await keyFor("gpu", "http://gpu2.example/v1")).toBe("new");
    // The entries of registries stay, and no registry gets a key.
    expect(await keys.of("registry.example", { encrypted: true })).toEqual({ token: "abc" });
    expect(await keys.of("remote/gpu", { encrypted: true })).toBeNull();
    expect(await keys.setRemoteKey("gpu", null)).toBe(true);
    expect(await keys.setRemoteKey("gpu", null)).toBe(false);
    expect(JSON.parse(await readFile(file, "utf8"))).toEqual({ "registry.example": { token: "abc" } });
  });

  test("are rejected without their value in the error", async () => {
    const keys = new CredentialsFile(join(folder, "none.json"));
    const adding = keys.setRemoteKey("gpu", { token: "two words", hosts: ["a:1"] });
    await expect(adding).rejects.toThrow(/^the key must be printable ASCII without spaces$/);
  });
});
