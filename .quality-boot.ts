await import('#worker-image/engine/child.ts');
await import('#worker-image/engine/image/image-handler.ts');await import('#worker-image/engine/image/configured-sharp.ts');process.exit(0);
