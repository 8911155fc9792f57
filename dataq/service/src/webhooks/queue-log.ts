import { Logger } from "graphile-worker";

/** Jobs report their failures in the delivery log; graphile-worker would repeat each on the console. */
export const silent = new Logger(() => () => {});
