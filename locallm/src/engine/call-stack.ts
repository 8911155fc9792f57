import koffi from "koffi";

/**
 * The stack size that koffi gives a call. Some tokenizers match words with a recursive `std::regex`. With
 * koffi's default of 128 KiB, a run of 1,000 equal letters ends the process. With this size, it takes a run
 * of over 32,768 letters.
 */
const stackBytes = 16 * 1024 * 1024;

// Imported by every module that opens a library, because koffi accepts no settings once one is open.
koffi.config({ sync_stack_size: stackBytes, async_stack_size: stackBytes });
