import type { ExampleRequest } from './endpoint-code.ts';

type Example = Omit<ExampleRequest, 'method' | 'path' | 'needsKey'> & {
  /** Names of the variables for the parameters of the path, in order. Without it the path has none. */
  readonly path?: string;
};

const people = 'people.csv';

/** The example of each endpoint. `test/http/endpoint-examples.test.ts` runs all of them. */
export const EXAMPLES: Readonly<Record<string, Example>> = {
  'POST /v1/compress': {
    query: { filename: 'photo.jpg', 'image.quality': 60 },
    file: 'photo.jpg',
    output: 'smaller.jpg',
  },
  'POST /v1/convert': { query: { filename: people, to: 'xlsx' }, file: people, output: 'people.xlsx' },
  'POST /v1/strip-metadata': { query: { filename: 'report.pdf' }, file: 'report.pdf', output: 'clean.pdf' },
  'POST /v1/uploads': { json: { size: 27722, filename: people } },
  'PUT /v1/uploads/{id}/content': { path: '/v1/uploads/{upload}/content', file: people },
  'PUT /v1/uploads/{id}/parts/{part_number}': { path: '/v1/uploads/{upload}/parts/1', file: 'part' },
  'POST /v1/uploads/{id}/complete': { path: '/v1/uploads/{upload}/complete' },
  'POST /v1/jobs': {
    json: { operation: 'convert', input: { upload: '$upload' }, options: { convert: { to: 'json' } } },
  },
  'GET /v1/jobs': { query: { status: 'succeeded', limit: 5 } },
  'GET /v1/jobs/{id}': { path: '/v1/jobs/{job}' },
  'DELETE /v1/jobs/{id}': { path: '/v1/jobs/{job}' },
  'GET /v1/jobs/{id}/output': { path: '/v1/jobs/{job}/output', output: 'people.json' },
  'GET /v1/jobs/{id}/receipt': { path: '/v1/jobs/{job}/receipt' },
  'POST /v1/webhook_endpoints': { json: { url: 'https://hooks.example.com/media' } },
  'GET /v1/webhook_endpoints': {},
  'PATCH /v1/webhook_endpoints/{id}': { path: '/v1/webhook_endpoints/{endpoint}', json: { enabled: false } },
  'DELETE /v1/webhook_endpoints/{id}': { path: '/v1/webhook_endpoints/{endpoint}' },
  'POST /v1/webhook_endpoints/{id}/rotate_secret': { path: '/v1/webhook_endpoints/{endpoint}/rotate_secret' },
  'POST /v1/webhook_endpoints/{id}/test': { path: '/v1/webhook_endpoints/{endpoint}/test' },
  'GET /v1/webhook_endpoints/signing_secret': {},
  'POST /v1/presets': { json: { name: 'web-photo', options: { image: { format: 'webp', quality: 70 } } } },
  'GET /v1/presets': {},
  'GET /v1/presets/{id_or_name}': { path: '/v1/presets/web-photo' },
  'DELETE /v1/presets/{id_or_name}': { path: '/v1/presets/web-photo' },
  'POST /v1/estimate': {
    json: { operation: 'compress', filename: 'clip.mp4', size: 250_000_000, duration_seconds: 150 },
  },
  'GET /v1/usage': { query: { from: '2026-11-01', to: '2026-11-21' } },
  'GET /v1/receipt_keys': {},
  'GET /v1/capabilities': {},
  'GET /v1/openapi.json': {},
};
