import { makeImageFixtures } from '#test/fixtures/make-image-fixtures.ts';
import { engineDeps, workOn } from '#test/fixtures/engine-work.ts';
import { imageHandler } from '#worker-image/engine/image/image-handler.ts';
import { stat, mkdir, rm } from 'node:fs/promises';
await rm('/tmp/h2/fx',{recursive:true,force:true}); await mkdir('/tmp/h2/fx',{recursive:true});
const fx=await makeImageFixtures('/tmp/h2/fx');
const deps=engineDeps();
async function go(f:any, operation:any, options:any={}) {
  const t=performance.now(); let line='';
  try { const work=await workOn({path:f.path,format:f.format,operation,options});
    const facts=await imageHandler.inspect(deps,work);
    const fn=operation==='compress'?imageHandler.compress:operation==='convert'?imageHandler.convert:imageHandler.stripMetadata;
    const p=await fn!(deps,work,facts); await imageHandler.verify(deps,work,facts,p);
    line=`${p.format} ${facts.width}x${facts.height}x${facts.frames} -> ${p.facts.width}x${p.facts.height}x${p.facts.frames} ${work.input.size}->${(await stat(p.path)).size} ${p.warnings.join('|')}`;
  } catch(e:any){ line='ERR '+e.name+' '+e.code+' '+e.message+' / '+(e.cause?.message??'') }
  console.log(f.name,operation,JSON.stringify(options),line,Math.round(performance.now()-t)+'ms');
}
const only=process.argv[2];
for (const f of fx) {
  if (only && !f.name.includes(only)) continue;
  await go(f,'compress'); await go(f,'strip_metadata');
}
for (const f of fx.filter(f=>['photo-jpg','orientation-6-jpg','cmyk-jpg','16-bit-png','alpha-png','animated-gif','animated-webp','photo-heic','bmp-4-bmp','grey-jpg','1-bit-tiff','alpha-avif','animated-png'].includes(f.name))) {
  if (only && !f.name.includes(only)) continue;
  for (const to of ['jpg','png','webp','avif','heic','tiff','bmp','gif','pdf']) await go(f,'convert',{convert:{to}});
}
