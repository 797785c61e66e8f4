import { MediaError } from '#crds/contract/media-error.ts';

const MAX_CHARACTERS = { key: 60, account: 100 } as const;

/** Returns the trimmed name of a key. @throws MediaError bad_request when it is empty or over 60 characters. */
export function checkedKeyName(name: string): string {
  return checkedName(name, 'key');
}

/** Returns the trimmed name of an account. @throws MediaError bad_request when it is empty or over 100 characters. */
export function checkedAccountName(name: string): string {
  return checkedName(name, 'account');
}

function checkedName(name: string, of: keyof typeof MAX_CHARACTERS): string {
  const trimmed = name.trim();
  const length = Array.from(trimmed).length;
  if (length >= 1 && length <= MAX_CHARACTERS[of] && !/\p{Cc}/u.test(trimmed)) return trimmed;
  throw new MediaError(
    'bad_request',
    `The name has ${length} characters; the name of ${of === 'key' ? 'a key' : 'an account'} has 1 to ${MAX_CHARACTERS[of]}, without control characters.`,
    { param: 'name' },
  );
}
