import sharp from 'sharp'; import { readdirSync } from 'node:fs';
const acc=readdirSync('/tmp/dash/shots').find(f=>f.startsWith('1280-accounts')).match(/acc_[0-9a-z]+/)[0];
const d=['1280-operator','1280-accounts-'+acc+'-keys','1280-accounts-'+acc+'-plan','1280-accounts-'+acc];
const imgs=await Promise.all(d.map(async f=>({input:await sharp(`/tmp/dash/shots/${f}.png`).resize({width:640}).extract({left:0,top:0,width:640,height:400}).toBuffer()})));
await sharp({create:{width:1280,height:800,channels:3,background:'#fff'}}).composite(imgs.map((i,n)=>({...i,left:(n%2)*640,top:Math.floor(n/2)*400}))).png().toFile('/tmp/dash/m.png');
const e=['390','390-operator','390-accounts-'+acc+'-keys','390-accounts-'+acc+'-plan','390-profile'];
const im=await Promise.all(e.map(async f=>({input:await sharp(`/tmp/dash/shots/${f}.png`).resize(260,560,{fit:'cover',position:'top'}).toBuffer()})));
await sharp({create:{width:1300,height:560,channels:3,background:'#fff'}}).composite(im.map((i,n)=>({...i,left:n*260,top:0}))).png().toFile('/tmp/dash/m2.png');
