import { expect, it } from "vitest";
import { seeded } from "./crowd.ts";
import { disturbLentStreams } from "./lent-streams.ts";

it.runIf(process.platform === "linux")(
  "streams that runners write are whole and right, whoever dies or leaves, and leave no descriptor",
  async () => {
    const result = await disturbLentStreams({ kills: 3, leaves: 12 }, seeded(38));
    expect(result.problems).toEqual([]);
    expect(result.loans).toBeGreaterThan(20);
    expect(result.leftWhileLent).toBeGreaterThan(3);
  },
);
