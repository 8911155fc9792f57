"""A deployment of Ray Serve with OpenAI's API, for the proof remote-engines.

Its replicas forward to engines. Each line of the log file says what happened to a request, by the id in its last
message: "begin ID PID", and "end ID PID" when the whole answer was passed on. Commands come on standard input:
"scale N" changes the number of replicas. Answers go to standard output as JSON lines.
"""

import json
import os
import re
import sys

import aiohttp
import ray
from fastapi import FastAPI, Request, Response
from fastapi.responses import StreamingResponse
from ray import serve
from ray.serve.config import HTTPOptions

port, log, engines = int(sys.argv[1]), sys.argv[2], sys.argv[3:]
app = FastAPI()


@serve.deployment(
    name="engine",
    num_replicas=2,
    max_ongoing_requests=16,
    ray_actor_options={"num_cpus": 0.1},
    health_check_period_s=1,
    health_check_timeout_s=5,
    graceful_shutdown_timeout_s=10,
)
@serve.ingress(app)
class Engine:
    def __init__(self, log, engines):
        self.log, self.engines, self.turn = log, engines, os.getpid()
        self.session = None

    def engine(self):
        self.turn += 1
        return self.engines[self.turn % len(self.engines)]

    def write(self, what, request_id):
        with open(self.log, "a") as file:
            file.write(f"{what} {request_id} {os.getpid()}\n")

    def client(self):
        self.session = self.session or aiohttp.ClientSession()
        return self.session

    @app.get("/pid")
    async def pid(self):
        return {"pid": os.getpid()}

    @app.get("/v1/models")
    async def models(self):
        async with self.client().get(self.engine() + "/models") as answer:
            return await answer.json()

    @app.post("/v1/chat/completions")
    async def chat(self, request: Request):
        body = await request.json()
        found = re.search(r"#(\d+)", json.dumps(body["messages"][-1]))
        request_id = found.group(1) if found else "none"
        self.write("begin", request_id)
        answer = await self.client().post(self.engine() + "/chat/completions", json=body)
        kind = answer.headers.get("content-type", "application/json")
        if not body.get("stream"):
            text = await answer.read()
            self.write("end", request_id)
            return Response(text, status_code=answer.status, media_type=kind)

        async def pieces():
            async for piece in answer.content.iter_any():
                yield piece
            self.write("end", request_id)

        return StreamingResponse(pieces(), status_code=answer.status, media_type=kind)


def tell(**fields):
    print(json.dumps(fields), flush=True)


def run(replicas):
    serve.run(Engine.options(num_replicas=replicas).bind(log, engines), route_prefix="/")


ray.init(num_cpus=4, include_dashboard=False, object_store_memory=80 * 1024 * 1024, log_to_driver=False)
serve.start(http_options=HTTPOptions(host="127.0.0.1", port=port))
run(2)
controller = serve.context._get_global_client()._controller
tell(ready=True, controller=ray.get(controller.get_pid.remote()))
for line in sys.stdin:
    command = line.split()
    if command[:1] == ["scale"]:
        run(int(command[1]))
        tell(scaled=int(command[1]))
    if command[:1] == ["controller"]:
        tell(controller=ray.get(serve.context._get_global_client()._controller.get_pid.remote()))
serve.shutdown()
ray.shutdown()
