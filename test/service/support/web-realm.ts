import { createContext, Script } from 'node:vm'
import { build } from 'esbuild'

type WebClient = typeof import('../../../src/client/web/client.ts')

/** All that the client may use: what browsers and edge runtimes have. */
const webGlobals = {
  AbortController,
  AbortSignal,
  atob,
  clearTimeout,
  crypto,
  fetch,
  performance,
  setTimeout,
  TextDecoder,
  TextEncoder,
  URL,
  URLSearchParams,
}

/** The source of `forkpoint/client` for browsers; fails if it imports anything of Node. */
export async function bundled(): Promise<string> {
  const { outputFiles } = await build({
    entryPoints: ['src/client/web/client.ts'],
    bundle: true,
    platform: 'browser',
    target: 'es2024',
    format: 'iife',
    globalName: 'forkpointClient',
    write: false,
    logLevel: 'silent',
  })
  return outputFiles.map(({ text }) => text).join('')
}

/** `forkpoint/client`, as it runs where there is no Node: without `process`, `Buffer` and `require`. */
export async function loadWebClient(): Promise<WebClient> {
  const realm = createContext({ ...webGlobals })
  return new Script(`${await bundled()}; forkpointClient`).runInContext(realm) as WebClient
}
