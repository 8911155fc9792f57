import { continuedAfter } from "./continued.ts";

export const figure = continuedAfter("the server was restarted", 14, async (peer) => {
  await peer.stop();
  await peer.start();
});
