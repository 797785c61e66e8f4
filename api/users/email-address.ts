import { MediaError } from '#crds/media-error.ts';

const MOST_CHARACTERS = 200;

/** The address in lower case. @throws MediaError bad_request. */
export function checkedEmail(email: string): string {
  const address = email.trim().toLowerCase();
  if (address.length <= MOST_CHARACTERS && /^[^\s@<>"]+@[^\s@<>"]+$/.test(address)) return address;
  throw new MediaError('bad_request', 'This is no e-mail address; it looks like name@example.com.', { param: 'email' });
}
