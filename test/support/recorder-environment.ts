const KEY = `k1:${Buffer.alloc(32, 7).toString('base64')}`;

/** Settings of `api/recorder.ts`, with its files in a folder of this machine. */
export function recorderEnvironment({ databaseUrl, folder }: { databaseUrl: string; folder: string }) {
  return {
    DATABASE_URL: databaseUrl,
    MEDIAJOBS_BASE_URL: 'https://media.test',
    MEDIAJOBS_ENCRYPTION_KEYS: KEY,
    MEDIAJOBS_LINK_KEYS: KEY,
    MEDIAJOBS_FILES_DIR: folder,
    MEDIAJOBS_FILES_URL: 'http+unix://%2Fnobody%2Flistens',
  };
}
