import { quantile } from "../testing/speed/bursts.ts";
import type { Peer, Timing } from "../testing/speed/peer.ts";
import { prompt } from "../testing/speed/text.ts";

export const title = "Two alternating agents: first token, total time, tokens computed";

export interface AgentOptions {
  /**
   * The size of the workload. 1 means a first prompt of 10,000 tokens, 30 turns, and tool results of 60 to
   * 900 tokens.
   */
  readonly scale: number;
}

const agents = 2;
const answerTokens = 24;

/**
 * The prompts of two sessions of one coding agent. Both sessions start with the same system prompt and 12
 * tools. Each turn adds a short call and the tool's result, and results grow. The script, not the model,
 * provides the calls, so the prompt differs from the tokens in the cache, as it does when an agent renders an
 * answer again. The sessions alternate, so with one slot each request finds the other session's cache in it.
 */
export function session(agent: number, { scale }: AgentOptions): string[] {
  const turns = Math.max(3, Math.round(30 * Math.sqrt(scale)));
  const tools = Array.from({ length: 12 }, (_, tool) => toolText(tool, Math.round(350 * scale)));
  let said = `${prompt(1, Math.round(5_000 * scale))}\n${tools.join("\n")}\n`;
  said += `Task of agent ${agent}: ${prompt(100 + agent, Math.round(200 * scale) + 8)}\n`;
  return Array.from({ length: turns }, (_, turn) => {
    const sent = said;
    const length = Math.round((60 + 28 * turn) * scale) + 4;
    said += `call {"tool": ${turn % 12}, "turn": ${turn}}\nresult ${prompt(1_000 * (agent + 1) + turn, length)}\n`;
    return sent;
  });
}

/** A tool definition in JSON, as agents send it, with about `tokens` tokens. */
function toolText(tool: number, tokens: number): string {
  const properties = Object.fromEntries(
    ["path", "text", "limit"].map((name, index) => [
      name,
      {
        type: index === 2 ? "integer" : "string",
        description: prompt(tool * 10 + index, Math.ceil(tokens / 6)),
      },
    ]),
  );
  const parameters = { type: "object", properties, required: ["path"], additionalProperties: false };
  return JSON.stringify({
    name: `tool_${tool}`,
    description: prompt(tool, Math.ceil(tokens / 3)),
    parameters,
  });
}

/** Measures each turn on all servers, one server after the other. */
export async function report(
  peers: readonly Peer[],
  options: AgentOptions,
  print: (line: string) => void,
): Promise<void> {
  const sessions = Array.from({ length: agents }, (_, agent) => session(agent, options));
  const turns = sessions[0]!.length;
  const seen = new Map<Peer, Timing[]>(peers.map((peer) => [peer, []]));
  print(`${title}; ${turns} turns each, scale ${options.scale}`);
  print("");
  print(
    `| turn | tokens sent |${peers.map(({ name }) => ` ${name}: computed | first token, ms |`).join("")}`,
  );
  print(`|---:|---:|${peers.map(() => "---:|---:|").join("")}`);
  for (let turn = 0; turn < turns; turn++) {
    for (const [agent, session] of sessions.entries()) {
      const at = turn * agents + agent;
      for (let index = 0; index < peers.length; index++) {
        const peer = peers[(index + at) % peers.length]!;
        seen.get(peer)!.push(await peer.complete({ prompt: session[turn]!, tokens: answerTokens, seed: 1 }));
      }
      const cells = peers.map((peer) => {
        const { computedTokens, firstMs } = seen.get(peer)![at]!;
        return ` ${computedTokens} | ${firstMs.toFixed(0)} |`;
      });
      print(`| ${turn + 1}${"ab"[agent]} | ${seen.get(peers[0]!)![at]!.promptTokens} |${cells.join("")}`);
    }
  }
  print("");
  print(
    "| server | tokens sent | computed | share | median first token, ms | total, s | ratio of the total |",
  );
  print("|---|---:|---:|---:|---:|---:|---:|");
  const sum = (peer: Peer, of: (timing: Timing) => number) =>
    seen.get(peer)!.reduce((total, timing) => total + of(timing), 0);
  for (const peer of peers) {
    const sent = sum(peer, (timing) => timing.promptTokens);
    const computed = sum(peer, (timing) => timing.computedTokens);
    const totalMs = sum(peer, (timing) => timing.lastMs);
    const ratios = peers
      .slice(1)
      .filter((base) => base !== peer)
      .map((base) => `${(totalMs / sum(base, (timing) => timing.lastMs)).toFixed(2)} of ${base.name}'s`);
    const first = quantile(
      seen.get(peer)!.map((timing) => timing.firstMs),
      0.5,
    );
    print(
      `| ${peer.name} | ${sent} | ${computed} | ${((100 * computed) / sent).toFixed(1)} % | ${first.toFixed(0)} | ${(totalMs / 1000).toFixed(1)} | ${ratios.join(", ")} |`,
    );
  }
}
