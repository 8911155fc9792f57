import { createServer, request as send } from "node:http";
import type { AddressInfo } from "node:net";

/**
 * A proxy as a process: it hands every request on to the service named in its arguments, and loses the first
 * answer to each POST: the service did the work, the client gets a 502.
 */
const target = new URL(process.argv[2] ?? "");
const lost = new Set<string>();
const seen: unknown[] = [];

const server = createServer((request, response) => {
  if (request.url === "/_seen") {
    response.end(JSON.stringify(seen));
    return;
  }
  const { method, url: path, headers } = request;
  const onward = send({ host: target.hostname, port: target.port, method, path, headers }, (answer) => {
    const key = String(headers["idempotency-key"]);
    seen.push({ key, status: answer.statusCode });
    if (method === "POST" && !lost.has(key)) {
      lost.add(key);
      answer.resume().on("end", () => response.writeHead(502).end("<html>Bad Gateway</html>"));
      return;
    }
    response.writeHead(answer.statusCode ?? 500, answer.headers);
    answer.pipe(response);
  });
  request.pipe(onward);
});

server.listen(0, "127.0.0.1", () => {
  console.log(JSON.stringify({ url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` }));
});
process.stdin.resume().on("end", () => process.exit(0));
