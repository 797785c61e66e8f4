import { MediaError } from '#crds/media-error.ts';

const MOST_CHARACTERS = { key: 60, account: 100 } as const;

/** @throws MediaError bad_request when the name is empty or over 60 characters. Spec: Authentication 5. */
export function checkedKeyName(name: string): string {
  return checkedName(name, 'key');
}

/** @throws MediaError bad_request when the name is empty or over 100 characters. */
export function checkedAccountName(name: string): string {
  return checkedName(name, 'account');
}

function checkedName(name: string, of: keyof typeof MOST_CHARACTERS): string {
  const trimmed = name.trim();
  const length = Array.from(trimmed).length;
  if (length >= 1 && length <= MOST_CHARACTERS[of] && !/\p{Cc}/u.test(trimmed)) return trimmed;
  throw new MediaError(
    'bad_request',
    `The name has ${length} characters; the name of ${of === 'key' ? 'a key' : 'an account'} has 1 to ${MOST_CHARACTERS[of]}, without control characters.`,
    { param: 'name' },
  );
}
