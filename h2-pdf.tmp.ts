import { makePdfFixtures } from '#test/fixtures/make-pdf-fixtures.ts';
import { engineDeps, workOn } from '#test/fixtures/engine-work.ts';
import { pdfHandler as h } from '#worker-image/engine/pdf/pdf-handler.ts';
import { stat, mkdir, rm } from 'node:fs/promises';
await rm('/tmp/h2/pf',{recursive:true,force:true}); await mkdir('/tmp/h2/pf',{recursive:true});
const deps=engineDeps();
async function go(f:any, operation:any, options:any={}) {
  const t=performance.now(); let line='';
  try { const work=await workOn({path:f.path,format:f.format,operation,options});
    const facts=await h.inspect(deps,work);
    const fn=operation==='compress'?h.compress:operation==='convert'?h.convert:h.stripMetadata;
    const p=await fn!(deps,work,facts); const t2=performance.now(); await h.verify(deps,work,facts,p);
    line=`${p.format} ${facts.pages}p -> ${p.facts.width}x${p.facts.height} ${work.input.size}->${(await stat(p.path)).size} ${p.path.split('/').pop()} ${p.warnings.join('|')} verify ${Math.round(performance.now()-t2)}`;
  } catch(e:any){ line='ERR '+e.name+' '+e.code+' '+e.param+' '+e.message+' / '+(e.cause?.message??'') }
  console.log(f.name,operation,JSON.stringify(options),line,Math.round(performance.now()-t)+'ms');
}
for (const f of await makePdfFixtures('/tmp/h2/pf')) {
  for (const quality of ['tiny','small','medium','large','original']) await go(f,'compress',{pdf:{quality}});
  await go(f,'strip_metadata'); await go(f,'convert',{convert:{to:'png'}}); await go(f,'convert',{convert:{to:'jpg',dpi:100}}); await go(f,'convert',{convert:{to:'jpg',page:9}});
}
