import { registerHooks } from 'node:module';
const urls:string[]=[];
registerHooks({load(url,ctx,next){urls.push(url);return next(url,ctx);}});
await import('#worker-image/engine/child.ts');
const a=urls.length; await import('#worker-image/engine/image/image-handler.ts');const b=urls.length; await import('#worker-image/engine/image/configured-sharp.ts');
console.log(a,b-a,urls.length-b); const g:any={};for(const u of urls){const m=/node_modules\/((@[^/]+\/)?[^/]+)/.exec(u);const k=m?m[1]!:u.startsWith('node:')?'node:':'own';g[k]=(g[k]??0)+1;}console.log(g);process.exit(0);
