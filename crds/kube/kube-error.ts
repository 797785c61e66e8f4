/** Error of a request to an API server: a refusal, or no response (status 0). */
export class KubeError extends Error {
  override readonly name = 'KubeError';
  /** HTTP status; 0 when there was no response. */
  readonly status: number;
  /** Reason of the Status object, such as AlreadyExists; empty when there was none. */
  readonly reason: string;
  /** Delay of Retry-After in milliseconds; null when there was none. */
  readonly retryAfterMs: number | null;

  constructor(
    message: string,
    about: { status: number; reason?: string; retryAfterMs?: number | null; cause?: unknown },
  ) {
    super(message, about.cause === undefined ? {} : { cause: about.cause });
    this.status = about.status;
    this.reason = about.reason ?? '';
    this.retryAfterMs = about.retryAfterMs ?? null;
  }
}

export function isRefusal(error: unknown, ...statuses: number[]): error is KubeError {
  return error instanceof KubeError && statuses.includes(error.status);
}

/** Resolves as the promise; with null for a refusal with one of the statuses. */
export async function orNull<T>(promise: Promise<T>, ...statuses: number[]): Promise<T | null> {
  try {
    return await promise;
  } catch (error) {
    if (isRefusal(error, ...statuses)) return null;
    throw error;
  }
}

export function refusalOf(
  what: string,
  response: { status: number; retryAfter: string | undefined; body: string },
): KubeError {
  const { reason, message } = statusObject(response.body);
  const seconds = Number(response.retryAfter);
  return new KubeError(`${what}: ${response.status} ${message ?? response.body.slice(0, 200).trim()}`, {
    status: response.status,
    reason: reason ?? '',
    retryAfterMs: response.retryAfter !== undefined && Number.isFinite(seconds) ? Math.max(0, seconds) * 1000 : null,
  });
}

function statusObject(body: string): { reason?: string; message?: string } {
  try {
    const parsed: unknown = JSON.parse(body);
    return typeof parsed === 'object' && parsed !== null ? parsed : {};
  } catch {
    return {};
  }
}
