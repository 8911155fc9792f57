export { serviceCommand } from "./command.ts";
export { KeptSocket } from "./kept-socket.ts";
export { type Program, programSettings } from "./program.ts";
export { packagedService } from "./systemd.ts";
