import { continuedAfter } from "./continued.ts";

export const figure = continuedAfter("its model was unloaded", 13, (peer) => peer.unload());
