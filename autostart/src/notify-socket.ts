import { closeSync } from "node:fs";
import koffi from "koffi";

/** Variables of the environment. */
export type Environment = Record<string, string | undefined>;

// As <sys/socket.h> of Linux has them, on processors of 64 bits with the low byte first.
const unixDomain = 1;
const datagram = 2;
const closedInChildren = 0o2000000;
const withoutSignal = 0x4000;
const socketLevel = 1;
const passesDescriptors = 1;
const bothWays = 2;

/** Where systemd reads messages of its services (`NOTIFY_SOCKET`). */
export class NotifySocket {
  readonly #address: Buffer;
  readonly #calls = systemCalls();

  /** `path` is that of a file, or begins with `@` for a name without one. Throws if calls cannot be made here. */
  constructor(path: string) {
    const family = Buffer.alloc(2);
    family.writeUInt16LE(unixDomain);
    const name = path.startsWith("@") ? `\0${path.slice(1)}` : `${path}\0`;
    this.#address = Buffer.concat([family, Buffer.from(name)]);
  }

  /** Sends lines, and with them a descriptor of this process. Returns whether they were taken. */
  tell(lines: string, descriptor?: number): boolean {
    const { socket, sendmsg } = this.#calls;
    const sender = socket(unixDomain, datagram | closedInChildren, 0);
    if (sender < 0) return false;
    try {
      const bytes = Buffer.from(lines);
      const control = descriptor === undefined ? null : controlMessage(descriptor);
      const message = {
        name: this.#address,
        nameLength: this.#address.length,
        parts: [{ base: bytes, length: bytes.length }],
        partsLength: 1,
        control,
        controlLength: control?.length ?? 0,
        flags: 0,
      };
      return sendmsg(sender, message, withoutSignal) === bytes.length;
    } finally {
      closeSync(sender);
    }
  }

  /** Makes the address free, although another process holds the same socket. Who waits there is refused. */
  stopListening(descriptor: number): void {
    this.#calls.shutdown(descriptor, bothWays);
  }
}

function controlMessage(descriptor: number): Buffer {
  // cmsghdr: its length with the data, level, type; then the data, to the next 8 bytes.
  const message = Buffer.alloc(24);
  message.writeBigUInt64LE(20n, 0);
  message.writeInt32LE(socketLevel, 8);
  message.writeInt32LE(passesDescriptors, 12);
  message.writeInt32LE(descriptor, 16);
  return message;
}

interface SystemCalls {
  readonly socket: (domain: number, type: number, protocol: number) => number;
  readonly sendmsg: (descriptor: number, message: object, flags: number) => number;
  readonly shutdown: (descriptor: number, how: number) => number;
}

function systemCalls(): SystemCalls {
  const part = koffi.struct({ base: "uint8_t *", length: "size_t" });
  const message = koffi.struct({
    name: "uint8_t *",
    nameLength: "uint32_t",
    parts: koffi.pointer(part),
    partsLength: "size_t",
    control: "uint8_t *",
    controlLength: "size_t",
    flags: "int",
  });
  const library = koffi.load(null);
  return {
    socket: library.func("socket", "int", ["int", "int", "int"]),
    sendmsg: library.func("sendmsg", "intptr_t", ["int", koffi.pointer(message), "int"]),
    shutdown: library.func("shutdown", "int", ["int", "int"]),
  };
}
