/** The migrated database that every test database is a copy of. */
export const TEMPLATE_DATABASE = 'template_mediajobs';

/** Returns the server's URL for another database. */
export function urlOf(serverUrl: string, database: string): string {
  const url = new URL(serverUrl);
  url.pathname = `/${database}`;
  return url.href;
}
