/** Bindings of standbys to attempts. */
import type { RunningStandby } from '#controller/standby-view.ts';

/** Results of bindings: a closed set, because they are values of a metric label. */
export const BINDING_RESULTS = ['bound', 'none_ready', 'failed'] as const;
export type BindingResult = (typeof BINDING_RESULTS)[number];

/** Standby that is bound to an attempt whose Job does not exist yet. */
export interface Binding {
  readonly name: string;
  /** Sends the run to the standby. */
  send(): void;
  /** Ends the binding. Without a Job of the attempt that names it, the standby is deleted. */
  end(): void;
}

/** Returns the result of an attempt to bind a standby. */
export function resultOf(standby: RunningStandby | null, binding: Binding | null): BindingResult {
  if (standby === null) return 'none_ready';
  return binding === null ? 'failed' : 'bound';
}
