/** What one writes in an afternoon: fastify and sharp with its defaults, the file as the body, the wish in the query. */
import fastify from 'fastify';
import sharp from 'sharp';

const LARGEST_BODY = 100 * 1024 ** 2;

const server = fastify({ bodyLimit: LARGEST_BODY });
server.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, body, done) => done(null, body));
server.post('/', async (request, reply) => {
  const { format, quality, side } = request.query as {
    format: 'jpeg' | 'png' | 'webp' | 'avif' | 'gif';
    quality?: string;
    side?: string;
  };
  let picture = sharp(request.body as Buffer, { animated: format === 'gif' || format === 'webp' }).autoOrient();
  if (side !== undefined)
    picture = picture.resize(Number(side), Number(side), { fit: 'inside', withoutEnlargement: true });
  const made = await picture.toFormat(format, quality === undefined ? {} : { quality: Number(quality) }).toBuffer();
  return reply.type(`image/${format}`).send(made);
});
await server.listen({ host: '127.0.0.1', port: Number(process.env['PORT']) });
