// A program with a model server inside: on a port that is free, with the models that `locallm` has on this machine,
// and gone when the program ends.
//   node embedded.ts smollm2:135m "The capital of France is"
import { createServer, LocallmError, readConfig } from "locallm";

const [model = "smollm2:135m", prompt = "The capital of France is"] = process.argv.slice(2);

const config = readConfig({ ...process.env, LOCALLM_HOST: "127.0.0.1:0" });
const server = await createServer(config, { log: false });
try {
  const response = await fetch(`${server.url}/api/generate`, {
    method: "POST",
    body: JSON.stringify({ model, prompt, stream: false, options: { num_predict: 20, temperature: 0 } }),
  });
  const answer = (await response.json()) as { response?: string; error?: string };
  console.log(answer.error === undefined ? prompt + answer.response : `${response.status}: ${answer.error}`);

  // Clients of Ollama and OpenAI work with it as with any server.
  console.log(`${server.url}/v1 is for OpenAI's clients, ${server.url} for Ollama's`);
} finally {
  await server.close();
}

// A setting that cannot be used is said by its name.
try {
  readConfig({ LOCALLM_HOST: "nowhere:port" });
} catch (error) {
  if (!(error instanceof LocallmError)) throw error;
  console.log(`${error.code}: ${error.message}`);
}
