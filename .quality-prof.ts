import { processFile } from '#worker-image/engine/process-file.ts';
import { loadHandler } from '#worker-image/engine/handlers.ts';
import { resolveOptions } from '#crds/options/options.ts';
import { fileLimits } from '#crds/plans.ts';
import { mkdtemp, rm } from 'node:fs/promises';
import { sha256 } from '#worker-image/engine/sha256.ts';
const [,, photo, fmt, conc] = process.argv;
const { sharp } = await import('#worker-image/engine/image/configured-sharp.ts');
if (conc) sharp.concurrency(Number(conc));
const cpu=()=>{const c=process.cpuUsage();return (c.user+c.system)/1e3;};
for (let i=0;i<Number(process.env.ITER??4);i++){
 const directory=await mkdtemp('/tmp/quality/pf-');
 const marks:any={};
 const timed=(name:string,f:any)=>async(...a:any[])=>{const c=cpu();try{return await f(...a);}finally{marks[name]=(marks[name]??0)+Math.round(cpu()-c);}};
 const c0=cpu();
 const file=await processFile({run:(async()=>{throw new Error('x')}) as any,onProgress:()=>{},signal:new AbortController().signal,versions:{},loadHandler:async k=>{const h:any=await loadHandler(k);return {...h,inspect:timed('inspect',h.inspect),compress:timed('compress',h.compress),verify:timed('verify',h.verify)};}},{operation:'compress',options:resolveOptions(new Map<string,any>(Object.entries({'image.format':fmt,'image.quality':75,'image.resize':false}))),limits:fileLimits('enterprise'),features:{video:false,heicOutput:false},filename:null,lane:'direct',path:photo!,directory} as any);
 marks.total=Math.round(cpu()-c0); const c1=cpu(); await sha256(photo!); marks.sha=Math.round(cpu()-c1);
 console.log(fmt,JSON.stringify(marks),file.report.result.output_size);
 await rm(directory,{recursive:true});
}
