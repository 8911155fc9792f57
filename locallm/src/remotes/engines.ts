import { anthropic } from "./anthropic/anthropic.ts";
import type { Protocol, RemoteEngine } from "./engine.ts";
import { ollama } from "./ollama/ollama.ts";
import { openai } from "./openai/openai.ts";

export const engines: Readonly<Record<Protocol, RemoteEngine>> = { openai, anthropic, ollama };
