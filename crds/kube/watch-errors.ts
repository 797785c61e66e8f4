/** Errors of lists and watches, and what a reflector does about them. Independent of any domain. */
import { isRefusal, KubeError } from '#crds/kube/kube-error.ts';

/** Reasons of a watch's restart; label of a metric. */
export const RESTART_REASONS = ['ended', 'expired', 'refused', 'broken', 'silent'] as const;
export type RestartReason = (typeof RESTART_REASONS)[number];

/** Returns the error of an ERROR event: the versions after the last event are lost. */
export function expired({ code, message }: { code?: number; message?: string }): KubeError {
  return new KubeError(`watch: ${message ?? 'the server sent an error'}`, { status: code ?? 410, reason: 'Expired' });
}

/** Returns why a watch restarts after the error; null: the server ended it. */
export function restartReason(error: unknown): RestartReason {
  if (error === null) return 'ended';
  if (!(error instanceof KubeError)) return 'broken';
  if (error.reason === 'Expired' || error.reason === 'Gone' || error.status === 410) return 'expired';
  if (error.reason === 'Silent') return 'silent';
  return error.status === 0 ? 'broken' : 'refused';
}

/** Returns true when the cache of this server is behind the version that another server returned. */
export function isTooNew(error: unknown): boolean {
  return isRefusal(error, 504) || (error instanceof Error && /too large resource version/i.test(error.message));
}

/** Returns the delay that the server asked for, in milliseconds; 0 without one. */
export function retryAfterMs(error: unknown): number {
  return error instanceof KubeError ? (error.retryAfterMs ?? 0) : 0;
}
