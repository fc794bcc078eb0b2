import { fileURLToPath } from 'node:url'
import { defineConfig } from 'vite'

const below = (path: string) => fileURLToPath(new URL(path, import.meta.url))

/** The daemon that `npm run dev` shows; the page itself only ever talks to where it came from. */
const daemon = process.env.FORKPOINT_HOST ?? 'http://127.0.0.1:7070'

export default defineConfig({
  root: below('.'),
  publicDir: below('public'),
  resolve: { alias: { 'forkpoint/client': below('../src/client/web/client.ts') } },
  build: {
    target: 'es2024',
    // Nothing is inlined: the policy of the page allows no data: but images.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    license: { fileName: 'licenses.md' },
    reportCompressedSize: false,
  },
  server: { proxy: { '/v1': { target: daemon, ws: true } } },
})
