await import('#worker-image/engine/child.ts');process.exit(0)
