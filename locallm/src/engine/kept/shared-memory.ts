import { closeSync, fstatSync, openSync } from "node:fs";
import koffi from "koffi";
import "../call-stack.ts";
import type { Pointer } from "../libllama/functions.ts";

/**
 * Memory that other processes can open through this process's file descriptor. It has no path in any folder,
 * so nothing is left over when processes end: the system frees it with the last descriptor.
 */
export class SharedMemory {
  readonly fd: number;
  readonly bytes: number;
  readonly #address: Pointer;
  #isMapped = true;

  private constructor(fd: number, bytes: number, isWritable: boolean) {
    this.fd = fd;
    this.bytes = bytes;
    const { mmap } = systemCalls();
    const address = mmap(null, bytes, isWritable ? readAndWrite : readOnly, mapShared, fd, 0);
    if (address === null || address === mapFailed) {
      closeSync(fd);
      throw new Error(`cannot map ${bytes} bytes of shared memory`);
    }
    this.#address = address;
  }

  /** Throws if the system has not enough memory. */
  static create(bytes: number): SharedMemory {
    const { memfd_create, ftruncate } = systemCalls();
    const fd = memfd_create("locallm conversation", closeOnExec);
    if (fd < 0) throw new Error("cannot create shared memory");
    if (ftruncate(fd, bytes) !== 0) {
      closeSync(fd);
      throw new Error(`cannot create ${bytes} bytes of shared memory`);
    }
    return new SharedMemory(fd, bytes, true);
  }

  /** Opens the memory read-only. Throws if the path does not exist or is empty. */
  static open(path: string): SharedMemory {
    const fd = openSync(path, "r");
    return new SharedMemory(fd, fstatSync(fd).size, false);
  }

  /** Returns the address of a range for the library. Throws a RangeError if the range exceeds the memory. */
  address(offset: number, length: number): Pointer {
    this.#check(offset, length);
    return this.#address + BigInt(offset);
  }

  /** Returns a range as bytes. Do not use them after `unmap`. */
  view(offset: number, length: number): Uint8Array {
    return new Uint8Array(koffi.view(this.address(offset, length), length));
  }

  /** Unmaps the memory from this process. The descriptor stays open. */
  unmap(): void {
    if (!this.#isMapped) return;
    this.#isMapped = false;
    systemCalls().munmap(this.#address, this.bytes);
  }

  close(): void {
    this.unmap();
    closeSync(this.fd);
  }

  #check(offset: number, length: number): void {
    const isInside =
      this.#isMapped &&
      Number.isSafeInteger(offset) &&
      Number.isSafeInteger(length) &&
      offset >= 0 &&
      length >= 0 &&
      offset + length <= this.bytes;
    if (!isInside) throw new RangeError(`${offset} + ${length} is outside of ${this.bytes} bytes`);
  }
}

const closeOnExec = 1;
const readOnly = 1;
const readAndWrite = 3;
const mapShared = 1;
const mapFailed = 2n ** 64n - 1n;

interface SystemCalls {
  memfd_create(name: string, flags: number): number;
  ftruncate(fd: number, bytes: number): number;
  mmap(
    address: null,
    bytes: number,
    protection: number,
    flags: number,
    fd: number,
    offset: number,
  ): Pointer | null;
  munmap(address: Pointer, bytes: number): number;
}

let found: SystemCalls | null = null;

/** Whether this system supports such memory. Only Linux does. */
export function hasSharedMemory(): boolean {
  if (process.platform !== "linux") return false;
  try {
    systemCalls();
    return true;
  } catch {
    return false;
  }
}

function systemCalls(): SystemCalls {
  if (found !== null) return found;
  const c = koffi.load(null);
  found = {
    memfd_create: c.func("memfd_create", "int", ["str", "uint32_t"]),
    ftruncate: c.func("ftruncate", "int", ["int", "int64_t"]),
    mmap: c.func("mmap", "void *", ["void *", "size_t", "int", "int", "int", "int64_t"]),
    munmap: c.func("munmap", "int", ["void *", "size_t"]),
  } as SystemCalls;
  return found;
}
