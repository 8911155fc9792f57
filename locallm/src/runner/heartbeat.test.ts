import { describe, expect, it } from "vitest";
import { Heartbeat } from "./heartbeat.ts";

describe("a heartbeat", () => {
  const beat = () => new Heartbeat({ everyMs: 5_000, questions: 4 });

  it("counts as late without an answer, and as stalled after the limit of unanswered questions", () => {
    const heartbeat = beat();
    const seen: string[] = [];
    for (let question = 1; question <= 5; question++) {
      heartbeat.ask();
      seen.push(heartbeat.isStalled ? "stalled" : heartbeat.isLate ? "late" : "well");
    }
    expect(seen).toEqual(["well", "well", "late", "late", "stalled"]);
  });

  it("continues as long as every loop makes progress, however slowly", () => {
    const heartbeat = beat();
    for (let question = 0; question < 100; question++) {
      heartbeat.ask();
      if (question % 4 === 0) heartbeat.hear([question, -question - 1]);
      expect(heartbeat.isStalled).toBe(false);
    }
  });

  it("is stalled if one loop hangs while another makes progress", () => {
    const heartbeat = beat();
    for (let question = 0; question < 6; question++) {
      heartbeat.ask();
      heartbeat.hear([question, 7]);
    }
    expect(heartbeat.isStalled).toBe(true);
  });

  it("recovers when a late runner answers, also with an additional loop", () => {
    const heartbeat = beat();
    for (let question = 0; question < 4; question++) heartbeat.ask();
    expect(heartbeat.isLate).toBe(true);
    heartbeat.hear([1]);
    expect(heartbeat.isLate).toBe(false);
    heartbeat.ask();
    heartbeat.hear([2, 1]);
    heartbeat.ask();
    expect(heartbeat.isLate).toBe(false);
  });
});
