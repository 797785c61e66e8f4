import { visibleLine } from '#crds/process/visible-text.ts';
import { MediaError } from '#crds/contract/media-error.ts';

const MAX_CHARACTERS = 200;

/** Returns the address in lower case. @throws MediaError bad_request, also for invisible characters. */
export function checkedEmail(email: string): string {
  const address = email.trim().toLowerCase();
  if (visibleLine(address) !== address) {
    const message = `The address contains an invisible character: ${visibleLine(address).slice(0, MAX_CHARACTERS)}. Type it again.`;
    throw new MediaError('bad_request', message, { param: 'email' });
  }
  if (address.length <= MAX_CHARACTERS && /^[^\s@<>"]+@[^\s@<>"]+$/.test(address)) return address;
  throw new MediaError('bad_request', 'Not a valid e-mail address. Use the form name@example.com.', { param: 'email' });
}
