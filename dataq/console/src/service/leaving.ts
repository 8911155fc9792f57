import type { Closing } from "@dataq/contract/wire";
import { call } from "./call.ts";

export const closeAccount = (wishes: Closing) => call("/v1/account/close", { method: "POST", body: wishes });
