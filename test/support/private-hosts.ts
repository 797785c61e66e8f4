/** Spellings of hosts that no caller may send the service to. */
export const PRIVATE_HOSTS = [
  '127.0.0.1',
  '0x7f000001',
  '2130706433',
  '0177.0.0.1',
  '127.1',
  '①②⑦.0.0.1',
  '[::1]',
  '[::ffff:127.0.0.1]',
  '[::ffff:7f00:1]',
  '[64:ff9b::7f00:1]',
  '[2002:7f00:1::]',
  '[::127.0.0.1]',
  '169.254.169.254',
  '100.64.0.1',
  'localhost.',
] as const;
