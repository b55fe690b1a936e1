// flame_picture.js PICTURE PATTERN FUNCTION - run the script of a flame graph on as much of a document as
// it needs: zoom into FUNCTION, search for PATTERN, go back. Prints what is shown after each.
'use strict';
const fs=require('fs');const src=fs.readFileSync(process.argv[2],'utf8');
const script=src.match(/<script><!\[CDATA\[([\s\S]*?)\]\]><\/script>/)[1];
class El{constructor(a){this.attrs=a;this.style={};this.dataset={};this.cls=new Set();this.textContent='';this.handlers={};
 this.classList={toggle:(c,v)=>{v?this.cls.add(c):this.cls.delete(c)}};}
 setAttribute(k,v){this.attrs[k]=v} addEventListener(n,f){this.handlers[n]=f} closest(){return this.g}
 querySelector(s){return this.kids[s]}}
const frames=[];for(const m of src.matchAll(/<g class="f" data-x="(\d+)" data-w="(\d+)" data-d="(\d+)" data-n="([^"]*)"><title>([^<]*)<\/title>/g)){
 const e=new El({});e.dataset={x:m[1],w:m[2],d:m[3],n:m[4]};e.kids={rect:new El({}),text:new El({}),title:new El({})};e.kids.title.textContent=m[5];e.g=e;frames.push(e);}
const ids={};for(const id of['frames','matched','about','reset','search','title'])ids[id]=new El({});
const root=new El({});root.dataset={width:src.match(/data-width="(\d+)"/)[1],all:src.match(/data-all="(\d+)"/)[1]};
const win={};
const document={documentElement:root,querySelectorAll:()=>frames,getElementById:i=>ids[i]};
new Function('document','prompt','addEventListener',script)(document,()=>process.argv[3],(n,f)=>win[n]=f);
const vis=()=>frames.filter(f=>f.style.display!=='none').length;
console.log('visible',vis(),'of',frames.length);
const g=frames.find(f=>f.dataset.n===process.argv[4]);
ids.frames.handlers.click({target:g});
console.log('zoomed',vis(),'width',g.kids.rect.attrs.width,'x',g.kids.rect.attrs.x,'past',frames.filter(f=>f.cls.has('past')).length,'label',g.kids.text.textContent);
ids.search.handlers.click();console.log('matched:',ids.matched.textContent,frames.filter(f=>f.cls.has('hit')).length);
win.keydown({key:'Escape'});console.log('reset',vis(),'hits',frames.filter(f=>f.cls.has('hit')).length,ids.matched.textContent);
ids.frames.handlers.mouseover({target:g});console.log(ids.about.textContent);
