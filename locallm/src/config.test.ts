import { homedir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { baseUrl, cacheLimitBytes, readCommandConfig, readConfig, settings } from "./config.ts";

it.each([
  [null, 8000, 1000],
  [null, 8007, 1000],
  [null, 2 ** 40, 8 * 2 ** 30],
  [0, 8000, 0],
  [9000, 8000, 9000],
])(
  "allows kept conversations, with LOCALLM_CACHE_RAM as %s, of %i bytes available %i",
  (cacheRamBytes, available, limit) => {
    expect(cacheLimitBytes({ cacheRamBytes }, available)).toBe(limit);
  },
);

describe("readConfig", () => {
  it("has the defaults of the specification", () => {
    expect(readConfig({})).toEqual({
      host: { scheme: "http", hostname: "127.0.0.1", port: 11_434, path: "" },
      numParallel: 1,
      maxLoadedModels: 1,
      maxQueue: 512,
      keepAliveMs: 300_000,
      loadTimeoutMs: 300_000,
      stopTimeoutMs: null,
      modelsFolder: join(homedir(), ".locallm/models"),
      derived: true,
      debug: false,
      origins: [],
      apiKey: null,
      contextLength: 2048,
      flashAttention: "auto",
      kvCacheType: "f16",
      sharedCache: "auto",
      drafts: "auto",
      cacheRamBytes: null,
      cacheDiskBytes: 0,
      cacheFolder: join(homedir(), ".locallm/conversations"),
      responsesBytes: 64 * 2 ** 20,
      responsesLifetimeMs: 24 * 3600_000,
      responsesFolder: null,
      generate: "auto",
      ollamaVersion: "0.33.0",
      specialTokens: "template",
      intelGpu: false,
      marginBytes: 2 ** 30,
      cpuExperts: null,
      tensorSplit: null,
      cudaVisibleDevices: null,
      vulkanVisibleDevices: null,
      enginesFolder: join(homedir(), ".locallm", "engines"),
      registries: null,
      credentialsFile: join(homedir(), ".locallm/credentials.json"),
      remotes: [],
      imageHosts: [],
      remoteTimeoutMs: 300_000,
      remoteHostsFile: join(homedir(), ".locallm/remotes.json"),
      drainedHostsFile: join(homedir(), ".locallm/drained.json"),
      keysFolder: join(homedir(), ".locallm/keys"),
      launchFolder: join(homedir(), ".locallm/launch"),
      caFile: null,
      releases: { from: null, key: null, isChecked: false },
      proxy: { http: null, https: null, except: null },
    });
  });

  it.each([
    ["0.0.0.0", "0.0.0.0", 11_434, "http://127.0.0.1:11434"],
    ["example.test", "example.test", 11_434, "http://example.test:11434"],
    ["example.test:80", "example.test", 80, "http://example.test:80"],
    [":1234", null, 1234, "http://127.0.0.1:1234"],
    ["http://1.2.3.4", "1.2.3.4", 80, "http://1.2.3.4:80"],
    ["https://1.2.3.4", "1.2.3.4", 443, "https://1.2.3.4:443"],
    ["https://1.2.3.4:8443/", "1.2.3.4", 8443, "https://1.2.3.4:8443"],
    ["http://example.test/models/", "example.test", 80, "http://example.test:80/models"],
    ["[::1]:5000", "::1", 5000, "http://[::1]:5000"],
    ["[::1]", "::1", 11_434, "http://[::1]:11434"],
    ["::1", "::1", 11_434, "http://[::1]:11434"],
    ["::", "::", 11_434, "http://[::1]:11434"],
    [' "1.2.3.4:0" ', "1.2.3.4", 0, "http://1.2.3.4:0"],
    ["", "127.0.0.1", 11_434, "http://127.0.0.1:11434"],
  ])("reads LOCALLM_HOST=%j", (text, hostname, port, url) => {
    const { host } = readConfig({ LOCALLM_HOST: text });
    expect(host).toMatchObject({ hostname, port });
    expect(baseUrl(host)).toBe(url);
  });

  it.each([
    ["LOCALLM_NUM_PARALLEL", "4", "numParallel", 4],
    ["LOCALLM_MAX_LOADED_MODELS", "3", "maxLoadedModels", 3],
    ["LOCALLM_MAX_QUEUE", "1", "maxQueue", 1],
    ["LOCALLM_KEEP_ALIVE", "-1", "keepAliveMs", Number.POSITIVE_INFINITY],
    ["LOCALLM_KEEP_ALIVE", "90", "keepAliveMs", 90_000],
    ["LOCALLM_KEEP_ALIVE", "1h30m", "keepAliveMs", 5_400_000],
    ["LOCALLM_LOAD_TIMEOUT", "0", "loadTimeoutMs", Number.POSITIVE_INFINITY],
    ["LOCALLM_LOAD_TIMEOUT", "30s", "loadTimeoutMs", 30_000],
    ["LOCALLM_STOP_TIMEOUT", "0", "stopTimeoutMs", 0],
    ["LOCALLM_STOP_TIMEOUT", "45", "stopTimeoutMs", 45_000],
    ["LOCALLM_STOP_TIMEOUT", "1h", "stopTimeoutMs", 3_600_000],
    ["LOCALLM_MODELS", "~/m", "modelsFolder", join(homedir(), "m")],
    ["LOCALLM_MODELS", "/srv/models", "modelsFolder", "/srv/models"],
    ["LOCALLM_DEBUG", "1", "debug", true],
    [
      "LOCALLM_ORIGINS",
      "https://a.example, http://*.b.example:80/",
      "origins",
      ["https://a.example", "http://*.b.example:80"],
    ],
    ["LOCALLM_ORIGINS", "*", "origins", ["*"]],
    [
      "LOCALLM_REGISTRIES",
      "Models.Example, 10.0.0.5:5000",
      "registries",
      ["models.example", "10.0.0.5:5000"],
    ],
    ["LOCALLM_API_KEY", "s3cret", "apiKey", "s3cret"],
    ["LOCALLM_REMOTE_TIMEOUT", "90", "remoteTimeoutMs", 90_000],
    ["LOCALLM_REMOTE_TIMEOUT", "0", "remoteTimeoutMs", Number.POSITIVE_INFINITY],
    ["LOCALLM_CONTEXT_LENGTH", "8192", "contextLength", 8192],
    ["LOCALLM_CONTEXT_LENGTH", "Auto", "contextLength", "auto"],
    ["LOCALLM_FLASH_ATTENTION", "off", "flashAttention", "off"],
    ["LOCALLM_FLASH_ATTENTION", "1", "flashAttention", "on"],
    ["LOCALLM_KV_CACHE_TYPE", "q8_0", "kvCacheType", "q8_0"],
    ["LOCALLM_CACHE_RAM", "0", "cacheRamBytes", 0],
    ["LOCALLM_CACHE_RAM", "AUTO", "cacheRamBytes", null],
    ["LOCALLM_CACHE_RAM", "1.5GiB", "cacheRamBytes", 1.5 * 2 ** 30],
    ["LOCALLM_CACHE_RAM", "500 mb", "cacheRamBytes", 500e6],
    ["LOCALLM_CACHE_DISK", "20g", "cacheDiskBytes", 20e9],
    ["LOCALLM_CACHE_DISK", "4096", "cacheDiskBytes", 4096],
    ["LOCALLM_GPU_MARGIN", "300MB", "marginBytes", 3e8],
    ["LOCALLM_N_CPU_MOE", "12", "cpuExperts", 12],
    ["LOCALLM_TENSOR_SPLIT", "3, 0,1", "tensorSplit", [3, 0, 1]],
    ["LOCALLM_CACHE_FOLDER", "/var/cache/locallm", "cacheFolder", "/var/cache/locallm"],
    ["LOCALLM_RESPONSES", "0", "responsesBytes", 0],
    ["LOCALLM_RESPONSES_LIFETIME", "0", "responsesLifetimeMs", Number.POSITIVE_INFINITY],
    ["LOCALLM_RESPONSES_FOLDER", "/var/responses", "responsesFolder", "/var/responses"],
    ["LOCALLM_GENERATE", "template", "generate", "template"],
    ["LOCALLM_GENERATE", "raw", "generate", "raw"],
    ["LOCALLM_OLLAMA_VERSION", "0.34.1-rc2", "ollamaVersion", "0.34.1-rc2"],
    ["LOCALLM_INTEL_GPU", "1", "intelGpu", true],
    ["CUDA_VISIBLE_DEVICES", "0,2", "cudaVisibleDevices", "0,2"],
    ["CUDA_VISIBLE_DEVICES", "", "cudaVisibleDevices", ""],
    ["GGML_VK_VISIBLE_DEVICES", " 1 ", "vulkanVisibleDevices", "1"],
    ["LOCALLM_ENGINES", "/opt/engines", "enginesFolder", "/opt/engines"],
    ["CUDA_VISIBLE_DEVICES", "-1", "cudaVisibleDevices", "-1"],
    ["CUDA_VISIBLE_DEVICES", "GPU-8f1c-22", "cudaVisibleDevices", "GPU-8f1c-22"],
    ["https_proxy", "http://p:3128", "proxy", { http: null, https: "http://p:3128", except: null }],
    ["HTTP_PROXY", "p:3128", "proxy", { http: "http://p:3128", https: null, except: null }],
    ["NO_PROXY", ".example, 10.0.0.1", "proxy", { http: null, https: null, except: ".example, 10.0.0.1" }],
  ] as const)("reads %s=%s", (variable, text, field, value) => {
    expect(readConfig({ [variable]: text })[field]).toEqual(value);
  });

  it.each([
    ["LOCALLM_HOST", "127.0.0.1:99999"],
    ["LOCALLM_HOST", "127.0.0.1:http"],
    ["LOCALLM_HOST", "127.0.0.1:"],
    ["LOCALLM_HOST", "ftp://x"],
    ["LOCALLM_HOST", "a b"],
    ["LOCALLM_HOST", "[::1"],
    ["LOCALLM_HOST", "::g"],
    ["LOCALLM_NUM_PARALLEL", "0"],
    ["LOCALLM_NUM_PARALLEL", "many"],
    ["LOCALLM_MAX_LOADED_MODELS", "-1"],
    ["LOCALLM_MAX_QUEUE", "1.5"],
    ["LOCALLM_KEEP_ALIVE", "soon"],
    ["LOCALLM_LOAD_TIMEOUT", "soon"],
    ["LOCALLM_STOP_TIMEOUT", "61m"],
    ["LOCALLM_STOP_TIMEOUT", "-1"],
    ["LOCALLM_MODELS", "a\0b"],
    ["LOCALLM_DEBUG", "maybe"],
    ["LOCALLM_ORIGINS", "not an origin"],
    ["LOCALLM_REGISTRIES", "https://models.example"],
    ["LOCALLM_API_KEY", "two words"],
    ["LOCALLM_CONTEXT_LENGTH", "0"],
    ["LOCALLM_FLASH_ATTENTION", "sometimes"],
    ["LOCALLM_KV_CACHE_TYPE", "q2"],
    ["LOCALLM_CACHE_RAM", "much"],
    ["LOCALLM_CACHE_RAM", "-1"],
    ["LOCALLM_CACHE_RAM", "1e9"],
    ["LOCALLM_CACHE_RAM", "9999999TiB"],
    ["LOCALLM_GPU_MARGIN", "-1"],
    ["LOCALLM_N_CPU_MOE", "all"],
    ["LOCALLM_TENSOR_SPLIT", "0,0"],
    ["LOCALLM_TENSOR_SPLIT", "1,,2"],
    ["LOCALLM_CACHE_DISK", "auto"],
    ["LOCALLM_CACHE_DISK", "10%"],
    ["LOCALLM_RESPONSES", "auto"],
    ["LOCALLM_RESPONSES_LIFETIME", "long"],
    ["LOCALLM_GENERATE", "both"],
    ["LOCALLM_OLLAMA_VERSION", "0.33"],
    ["LOCALLM_OLLAMA_VERSION", "v0.33.0"],
    ["LOCALLM_OLLAMA_VERSION", "0.33.0\nX: 1"],
    ["LOCALLM_INTEL_GPU", "arc"],
    ["CUDA_VISIBLE_DEVICES", "the first"],
    ["GGML_VK_VISIBLE_DEVICES", "GPU-1"],
    ["HTTP_PROXY", "socks5://p:1080"],
    ["https_proxy", "http://"],
  ])("refuses %s=%j by name", (variable, text) => {
    expect(() => readConfig({ [variable]: text })).toThrow(`${variable}=`);
  });

  it("never prints an invalid key, or a proxy with its password", () => {
    expect(() => readConfig({ LOCALLM_API_KEY: "two words" })).not.toThrow(/two words/);
    expect(() => readConfig({ HTTP_PROXY: "ftp://me:secret@p" })).not.toThrow(/secret/);
  });

  it("rejects conversations on disk if no memory is allowed for them", () => {
    const both = { LOCALLM_CACHE_RAM: "0", LOCALLM_CACHE_DISK: "1GB" };
    expect(() => readConfig(both)).toThrow('LOCALLM_CACHE_DISK="1GB": needs memory');
    expect(readConfig({ LOCALLM_CACHE_RAM: "0", LOCALLM_CACHE_DISK: "0" })).toMatchObject({
      cacheRamBytes: 0,
    });
  });

  it("rejects a quantised cache without flash attention, because no model could be loaded with it", () => {
    const both = { LOCALLM_FLASH_ATTENTION: "off", LOCALLM_KV_CACHE_TYPE: "q8_0" };
    expect(() => readConfig(both)).toThrow('LOCALLM_KV_CACHE_TYPE="q8_0": needs flash attention');
    expect(readConfig({ ...both, LOCALLM_KV_CACHE_TYPE: "f16" }).flashAttention).toBe("off");
  });

  it("does not stop other verbs for invalid settings that only the server needs", () => {
    const env = {
      HTTPS_PROXY: "socks5://p",
      LOCALLM_NUM_PARALLEL: "0",
      CUDA_VISIBLE_DEVICES: "?",
      LOCALLM_API_KEY: "k",
    };
    expect(readCommandConfig(env)).toMatchObject({ host: { port: 11_434 }, apiKey: "k" });
    expect(() => readCommandConfig({ LOCALLM_HOST: "a b" })).toThrow("LOCALLM_HOST=");
  });

  it("lists every variable that it reads", () => {
    const asked = new Set<string>();
    const spy = new Proxy({}, { get: (_, name) => void asked.add(String(name)) });
    readConfig(spy);
    const listed = new Set([...settings.map((setting) => setting.variable), "HTTP_PROXY", "NO_PROXY"]);
    expect(new Set([...asked].map((name) => name.toUpperCase()))).toEqual(listed);
  });
});
