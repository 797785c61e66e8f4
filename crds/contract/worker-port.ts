/** Paths of the controller's port for workers, below the host and port of the heartbeat URL. */
export const HEARTBEAT_PATH = '/heartbeat';
/** POST of the outcome of an attempt that runs in a standby: the kubelet reports a container's end up to a second late. */
export const OUTCOME_PATH = '/outcome';
/** POST of a standby that asks for its run, with the token of its pod. */
export const STANDBY_PATH = '/standby';

/** Returns the URL of another path at the port of a heartbeat URL. */
export function portAddress(heartbeatUrl: string, path: string): string {
  return heartbeatUrl.replace(/\/heartbeat$/, path);
}
