import type { Format } from '#crds/formats.ts';
import { MediaError } from '#crds/media-error.ts';

/** What a handler throws when it is asked for a target that it does not write; `what`: such as `A font`. */
export function unsupportedTarget(what: string, to: Format | null, targets: readonly Format[]): MediaError {
  return new MediaError(
    'unsupported_target',
    `${what} does not convert to ${to}. The targets are ${targets.join(', ')}.`,
    { param: 'convert.to' },
  );
}
