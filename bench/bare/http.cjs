// A Node process that only listens.
require("node:http")
  .createServer((_, response) => response.end("ok"))
  .listen(0, "127.0.0.1", () => process.stdout.write("ready\n"));
