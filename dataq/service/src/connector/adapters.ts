import type { Adapter, AdapterParts } from "./adapter.ts";
import { kuaidi100 } from "./kuaidi100.ts";

/** What a description by data cannot say. A preset names them as `{"adapter": "kuaidi100"}`. */
export const adapters = {
  kuaidi100,
} satisfies Readonly<Record<string, (parts: AdapterParts) => Adapter>>;
