import koffi from "koffi";
import "../engine/call-stack.ts";

/**
 * Returns a function that tells whether the system's buffer of a connection is less than half full. A line that is much
 * shorter than the other half is then written whole. Linux only; false where the system does not say it.
 */
export function socketRoom(): (fd: number) => boolean {
  let read: ReturnType<typeof readOption> | null = null;
  const memory = new Uint32Array(16);
  const length = new Uint32Array(1);
  return (fd) => {
    read ??= readOption();
    length[0] = memory.byteLength;
    if (read(fd, socketLevel, memoryOption, memory, length) !== 0) return false;
    const limit = memory[sendLimit]!;
    return memory[queued]! + leastBytes < limit / 2;
  };
}

function readOption() {
  return koffi
    .load(null)
    .func(
      "int getsockopt(int fd, int level, int name, _Inout_ uint32_t *value, _Inout_ uint32_t *length)",
    ) as (
    ...given: [fd: number, level: number, name: number, value: Uint32Array, length: Uint32Array]
  ) => number;
}

/** The values of `SOL_SOCKET`, `SO_MEMINFO` and of `SK_MEMINFO_SNDBUF` and `SK_MEMINFO_WMEM_QUEUED`. */
const socketLevel = 1;
const memoryOption = 55;
const sendLimit = 3;
const queued = 5;

/** So much fits then, however many lines it is. */
export const leastBytes = 4096;
