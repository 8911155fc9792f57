export const workerSource = "";
