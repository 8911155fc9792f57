import { counted } from "../src/wire/counted.ts";
import { createSmallStore } from "../test/model-store.ts";
import { startServer } from "../test/server-process.ts";
import { softwareGpus, vulkanEngines } from "../test/vulkan-engine.ts";

export const title = "Models on a Vulkan device: Debian's software driver";

interface Answer {
  response: string;
  load_duration: number;
  prompt_eval_duration: number;
  eval_duration: number;
}

export async function run(print: (line: string) => void): Promise<void> {
  const engines = await vulkanEngines();
  if (engines === null) {
    print("Not run: no Vulkan driver shows a device here (libvulkan1, mesa-vulkan-drivers).");
    return;
  }
  const store = await createSmallStore();
  const server = await startServer({
    hasSmallHeap: true,
    models: store.folder,
    env: { LOCALLM_ENGINES: engines, LOCALLM_LOAD_TIMEOUT: "0", ...softwareGpus },
  });
  print(
    "| options | runs on | bytes there | load, s | first answer, s | next answer, ms | same text twice |",
  );
  print("| --- | --- | --: | --: | --: | --: | --- |");
  try {
    const loads = [{ num_gpu: 3 }, { num_gpu: 2 }, { num_gpu: 0 }, { main_gpu: 1 }, { tensor_split: [1, 2] }];
    const answers = new Set<string>();
    for (const load of loads) {
      const options = { temperature: 0, num_predict: 8, num_ctx: 256, ...load };
      const body = { model: "small:a", prompt: "hello", stream: false, options };
      const first = await server.ask<Answer>("/api/generate", body);
      const next = await server.ask<Answer>("/api/generate", body);
      const { models } = await server.ask<{ models: { device: string; size_vram: number }[] }>("/api/ps");
      const seconds = (ns: number) => (ns / 1e9).toFixed(1);
      const answerNs = ({ prompt_eval_duration, eval_duration }: Answer) =>
        prompt_eval_duration + eval_duration;
      const cells = [
        JSON.stringify(load),
        models[0]?.device,
        models[0]?.size_vram,
        seconds(first.load_duration),
        seconds(answerNs(first)),
        (answerNs(next) / 1e6).toFixed(0),
        first.response === next.response ? "yes" : "no",
      ];
      print(`| ${cells.join(" | ")} |`);
      answers.add(first.response);
    }
    print(`They write ${counted(answers.size, "text")}.`);
  } finally {
    await server.stop();
    await store.remove();
  }
}
