// A Node process that only decodes: engine.mjs DIST MODEL, a prompt of 512 tokens and 16 more in a window of 2,048.
const [, , dist, modelPath] = process.argv;
const { openLibrary } = await import(`${dist}/engine/libllama/library.js`);
const { clearedMemory } = await import(`${dist}/engine/cleared-memory.js`);
const { Batch } = await import(`${dist}/engine/batch.js`);
const [window, rows, answer, threads] = [2048, 512, 16, 2];

const library = openLibrary();
const model = library.llama_model_load_from_file(modelPath, library.llama_model_default_params());
const pool = library.newThreadpool(threads, 50);
const { result: context, giveBack } = clearedMemory(() =>
  library.llama_init_from_model(model, {
    ...library.llama_context_default_params(),
    ...{ n_ctx: window, n_batch: rows, n_ubatch: rows, n_seq_max: 1, n_outputs_max: 1 },
    ...{ n_threads: threads, n_threads_batch: threads },
  }),
);
library.llama_attach_threadpool(context, pool.pointer, pool.pointer);
giveBack(Number.POSITIVE_INFINITY);
const batch = new Batch({
  ...{
    rows,
    sequences: 1,
    positions: window,
    vocabSize: rows + 1,
    inputLength: 1,
    hasGrids: false,
    outputs: 1,
  },
});
let position = 0;
for (const count of [rows, ...Array(answer).fill(1)]) {
  batch.clear();
  for (let row = 1; row <= count; row++) batch.add(row, position++, 0, row === count);
  const status = library.llama_decode(context, batch.native);
  if (status !== 0) throw new Error(`a step failed with ${status}`);
}
process.stdout.write("ready\n");
// Keeps the process, and what it has loaded.
setInterval(() => batch.clear(), 1_000_000);
