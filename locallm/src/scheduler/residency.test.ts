import { describe, expect, it } from "vitest";
import { ManualClock } from "../../test/manual-clock.ts";
import { type Needs, onProcessor } from "../gpu/placement.ts";
import type { Runner } from "../runner/handle.ts";
import type { LeaseRequest, LoadWish, RunnableModel } from "./lease.ts";
import { contextLengthOf, lineOf, Resident } from "./residency.ts";

const model: RunnableModel = {
  ...{ name: "m", digest: "d", modelPath: "/m", weights: "w", adapters: [], trainContext: 4_096 },
};
const load: LoadWish = {
  ...{ numCtx: 1_000, numBatch: null, numThread: null, numGpu: null, mainGpu: null, useMmap: null },
};
const request = (uses: LeaseRequest["uses"] = "slot"): LeaseRequest => ({
  ...{ model, load, keepAliveMs: 5_000, uses, signal: new AbortController().signal },
});

function runner(
  changes: { readonly slots?: number; readonly devices?: number; readonly spareBytes?: number } = {},
): Runner {
  const devices = changes.devices === undefined ? [] : [{ bytes: changes.devices }];
  const sizeBytes = { weights: 100, context: 30, compute: 20, checkpoints: 7 };
  const info = { contextLength: 2_048, sizeBytes, devices, cells: 900 };
  return {
    info,
    slots: changes.slots ?? 2,
    pid: 7,
    responds: false,
    spareBytes: changes.spareBytes ?? 0,
  } as unknown as Runner;
}

function ready(changes: Parameters<typeof runner>[0] = {}) {
  const clock = new ManualClock();
  const resident = new Resident(clock, "line", request(), 1_000);
  resident.ready(runner(changes));
  return { clock, resident };
}

describe("which requests share a runner", () => {
  const line = lineOf(model, load);

  it("is decided by the weights, the adapters and the options of the load", () => {
    expect(lineOf({ ...model, name: "n", digest: "e", modelPath: "/n" }, { ...load, numCtx: 9 })).toBe(line);
    expect(lineOf(model, { ...load, cpuExperts: null, shares: null })).toBe(line);
    const others: string[] = [
      lineOf({ ...model, weights: "v" }, load),
      lineOf({ ...model, adapters: [{ path: "/a", scale: 1 }] }, load),
      lineOf({ ...model, adapters: [{ path: "/a", scale: 2 }] }, load),
      lineOf({ ...model, adapters: [{ path: "/b", scale: 1 }] }, load),
      lineOf({ ...model, draftPath: "/d" }, load),
      lineOf({ ...model, draftPath: "/e" }, load),
      ...Object.entries({ numBatch: 1, numThread: 1, numGpu: 1, mainGpu: 1, cpuExperts: 1, shares: [1] }).map(
        ([key, value]) => lineOf(model, { ...load, [key]: value }),
      ),
      lineOf(model, { ...load, useMmap: true }),
    ];
    expect(new Set([line, ...others]).size).toBe(1 + others.length);
  });

  it("a window is no longer than the model was trained with", () => {
    expect(contextLengthOf(model, { ...load, numCtx: 4_097 })).toBe(4_096);
    expect(contextLengthOf(model, { ...load, numCtx: 4_095 })).toBe(4_095);
    expect(contextLengthOf({ ...model, trainContext: null }, { ...load, numCtx: 9_999 })).toBe(9_999);
  });
});

it("shows why its window is as large as it is", () => {
  const why = (numCtx: number, had: number, whyCtx?: string) => {
    const own = { ...load, numCtx, ...(whyCtx === undefined ? {} : { whyCtx }) };
    return new Resident(new ManualClock(), "line", { ...request(), load: own }, had).view(3).whyCtx;
  };
  expect(why(1_000, 1_000, "asked")).toBe("asked");
  expect(why(1_001, 1_000, "asked")).toBe("asked, limited to what the model was trained with");
  expect(why(1_000, 1_000)).toBe("");
});

it("shows what it is before it has a runner, and with one", () => {
  const clock = new ManualClock();
  const resident = new Resident(clock, "line", request(), 1_000);
  const before = {
    state: "loading",
    slots: 0,
    sharedCells: null,
    pid: null,
    responds: true,
    devices: [],
    whyThere: "",
  };
  expect(resident.view(3)).toMatchObject({ ...before, waiting: 3, sizeBytes: 0 });
  const choice = { ...onProcessor({ total: 40 } as Needs, "no GPU"), deviceBytes: 60 };
  resident.place({ choice, cells: undefined });
  expect(resident.view(0)).toMatchObject({ ...before, whyThere: "no GPU", sizeBytes: 100 });
  resident.ready(runner());
  const after = { state: "ready", slots: 2, sharedCells: 900, pid: 7, responds: false };
  expect(resident.view(0)).toMatchObject({ ...after, sizeBytes: 157, waiting: 0 });
});

it("in the host's memory is what is on no other device; what unloading frees are no weights", () => {
  const sizes = (devices?: number) => {
    const { resident } = ready(devices === undefined ? {} : { devices });
    return [resident.sizeBytes, resident.hostBytes, resident.freeableBytes];
  };
  expect(sizes()).toEqual([157, 157, 57]);
  expect(sizes(57)).toEqual([157, 100, 57]);
  expect(sizes(120)).toEqual([157, 37, 37]);
  expect(sizes(200)).toEqual([157, 0, 0]);
  expect(new Resident(new ManualClock(), "line", request(), 1_000).freeableBytes).toBe(0);
});

it("what its runner spares is not its own, and unloading does not free it", () => {
  const sizes = (spareBytes: number) => {
    const { resident } = ready({ spareBytes });
    return [resident.sizeBytes, resident.takenBytes, resident.freeableBytes];
  };
  expect(sizes(0)).toEqual([157, 157, 57]);
  expect(sizes(12)).toEqual([157, 145, 45]);
});

describe("a request", () => {
  it("starts if the model is open, its window is large enough, and a slot is free", () => {
    const { resident } = ready();
    expect([999, 1_000, 1_001].map((ctx) => resident.canServe(request(), ctx))).toEqual([true, true, false]);
    resident.enter(request(), 5_000);
    expect(resident.canServe(request(), 1)).toBe(true);
    resident.enter(request(), 5_000);
    expect([resident.activeSlots, resident.canServe(request(), 1)]).toEqual([2, false]);
    expect(resident.canServe(request("load"), 1_000)).toBe(true);
    expect(resident.canServe(request("visit"), 1)).toBe(true);
    resident.leave(request());
    expect(resident.canServe(request(), 1)).toBe(true);
    resident.draining = { why: "", toMakeRoom: true };
    expect([resident.isOpen, resident.canServe(request("visit"), 1)]).toEqual([false, false]);
    expect(new Resident(new ManualClock(), "line", request(), 1_000).canServe(request("visit"), 1)).toBe(
      false,
    );
  });

  it("is counted where it is, so that the model is idle only without any", () => {
    const { resident } = ready();
    const seen: boolean[] = [resident.isIdle];
    for (const uses of ["slot", "load", "visit"] as const) {
      resident.enter(request(uses), 5_000);
      seen.push(resident.isIdle);
      resident.leave(request(uses));
      seen.push(resident.isIdle);
    }
    expect(seen).toEqual([true, false, true, false, true, false, true]);
  });
});

describe("while another model waits", () => {
  it("a model serves 16 requests or two seconds, and then none, however often it is told", async () => {
    const { clock, resident } = ready({ slots: 99 });
    await clock.pass(700);
    expect([resident.tenureSpent, resident.tenureEndsInMs]).toEqual([null, null]);
    resident.startTenure();
    for (let served = 0; served < 16; served++) {
      expect([served, resident.tenureSpent, resident.canServe(request(), 1)]).toEqual([served, null, true]);
      resident.enter(request(), 5_000);
      resident.enter(request("visit"), 5_000);
      resident.startTenure();
    }
    expect([resident.tenureSpent, resident.canServe(request(), 1)]).toEqual(["16 requests", false]);
    expect(resident.canServe(request("load"), 1_000)).toBe(true);
    resident.endTenure();
    expect(resident.canServe(request(), 1)).toBe(true);
    resident.startTenure();
    await clock.pass(1_999);
    expect([resident.tenureSpent, resident.tenureEndsInMs]).toEqual([null, 1]);
    await clock.pass(1);
    expect([resident.tenureSpent, resident.tenureEndsInMs]).toEqual(["2 s", 0]);
  });

  it("it is drained to make room, and no longer when nobody waits", () => {
    const { resident } = ready();
    resident.draining = { why: "room", toMakeRoom: true };
    resident.endTenure();
    expect(resident.draining).toBeNull();
    resident.draining = { why: "asked", toMakeRoom: false };
    resident.endTenure();
    expect(resident.draining?.why).toBe("asked");
  });
});

describe("the keep-alive", () => {
  it("ends once after the last use, and not while the model is used or pinned", async () => {
    const { clock, resident } = ready();
    let expired = 0;
    const arm = () => resident.armExpiry(() => expired++);
    await clock.pass(1_000);
    resident.enter(request(), 5_000);
    expect(resident.expiresAtMs).toBe(clock.now() + 5_000);
    await clock.pass(1_000);
    arm();
    await clock.pass(60_000);
    expect([expired, resident.expiresAtMs]).toEqual([0, clock.now() + 5_000]);
    resident.leave(request());
    const leftMs = clock.now();
    arm();
    arm();
    await clock.pass(4_999);
    expect([expired, resident.expiresAtMs]).toEqual([0, leftMs + 5_000]);
    await clock.pass(1);
    expect(expired).toBe(1);
    await clock.pass(60_000);
    expect(expired).toBe(1);
    // What is over already ends at once.
    arm();
    await clock.pass(0);
    expect(expired).toBe(2);
    resident.keepAliveMs = Number.POSITIVE_INFINITY;
    arm();
    await clock.pass(1e9);
    expect([expired, resident.expiresAtMs, resident.isPinned]).toEqual([2, null, true]);
  });

  it("does not end a model that is used meanwhile", async () => {
    const { clock, resident } = ready();
    let expired = 0;
    resident.armExpiry(() => expired++);
    await clock.pass(4_000);
    resident.enter(request("visit"), 5_000);
    await clock.pass(60_000);
    expect(expired).toBe(0);
    resident.leave(request("visit"));
    resident.armExpiry(() => expired++);
    resident.cancelExpiry();
    await clock.pass(60_000);
    expect(expired).toBe(0);
  });
});
