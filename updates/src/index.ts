export { describeInstallation, type Updatable, update, updateCommand, watchForUpdates } from "./command.ts";
export { findInstallation, launcherOf } from "./installation.ts";
export type { Get } from "./release.ts";
export { UpdateError } from "./update-error.ts";
