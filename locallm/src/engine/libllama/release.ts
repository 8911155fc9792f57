/** The one release of llama.cpp that this locallm speaks to, and that of the packages which carry it. */
export const release = { version: "0.5.0", packageVersion: "3.22.1" } as const;
