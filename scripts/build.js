// Bundles the CLI and the library into dist/. Builds in another directory and moves the
// files in one by one, entry points last: a process that started on the previous build
// can still load its chunks, and nobody ever sees half a build.
import {
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'

const root = dirname(dirname(fileURLToPath(import.meta.url)))
const dist = join(root, 'dist')
const staged = join(root, `dist.tmp-${process.pid}`)

/** As in `engines` of package.json, and in scripts/bootstrap.d/node.sh. */
const oldestNode = 24

/** Age after which no process should need a chunk of an older build. */
const chunkLifetimeMs = 60 * 60 * 1000

const common = {
  absWorkingDir: root,
  outdir: staged,
  bundle: true,
  platform: 'node',
  target: 'node24',
  sourcemap: true,
  sourcesContent: false,
  legalComments: 'linked',
  logLevel: 'warning',
}

const commonJs = {
  outExtension: { '.js': '.cjs' },
  format: 'cjs',
  minifySyntax: true,
  minifyWhitespace: true,
  define: { 'import.meta.url': '__url' },
  banner: { js: "const __url = require('node:url').pathToFileURL(__filename).href;" },
}

/** Parts that are files of their own, so that whoever does not use them does not read them. */
const apart = {
  name: 'apart',
  setup: ({ onResolve }) => {
    onResolve({ filter: /\/\.\.\/serve\.ts$/ }, () => ({ path: './daemon.cjs', external: true }))
    onResolve({ filter: /\/mcp\/stdio\.ts$/ }, ({ kind }) =>
      kind === 'entry-point' ? undefined : { path: './mcp.cjs', external: true },
    )
    onResolve({ filter: /^\.\/whole\.ts$/ }, () => ({ path: './verbs.cjs', external: true }))
    onResolve({ filter: /\/quick-branch\.ts$/ }, ({ kind }) =>
      kind === 'entry-point' ? undefined : { path: './branch.cjs', external: true },
    )
  },
}

/** `forkpoint/integrations/NAME`, one file each; the frameworks themselves are whoever's who uses them. */
const integrations = readdirSync(join(root, 'src/integrations'))
  .filter((name) => name.endsWith('.ts'))
  .map((name) => `integrations/${name.replace('.ts', '')}`)

try {
  await bundle()
  publish()
  removeOldChunks()
} catch (error) {
  // esbuild has already printed what is wrong with the sources.
  if (!error.errors) throw error
  process.exitCode = 1
} finally {
  rmSync(staged, { recursive: true, force: true })
}

async function bundle() {
  await Promise.all([bundleLibrary(), bundleCommandLine(), bundleDaemon(), bundleClient()])
}

async function bundleLibrary() {
  const { peerDependencies } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
  const names = ['index', ...integrations]
  const { metafile } = await build({
    ...common,
    entryPoints: Object.fromEntries(names.map((name) => [`library/${name}`, `src/${name}.ts`])),
    metafile: true,
    external: Object.keys(peerDependencies),
    splitting: true,
    chunkNames: 'chunks/[name]-[hash]',
    format: 'esm',
    // CommonJS dependencies call require(), which an ES module does not have.
    banner: {
      js: "import { createRequire as __createRequire } from 'node:module'; const require = __createRequire(import.meta.url);",
    },
  })
  for (const name of names) {
    const [, { exports }] = Object.entries(metafile.outputs).find(([path]) =>
      path.endsWith(`/library/${name}.js`),
    )
    mkdirSync(dirname(join(staged, name)), { recursive: true })
    writeFileSync(join(staged, `${name}.js`), doorOf(name, exports))
  }
}

/**
 * What a program imports first. An older Node cannot even parse or link the library, so this loads it only when the
 * version is right: with require(), because `await import()` would keep CommonJS programs from requiring us.
 */
function doorOf(name, exports) {
  const up = '../'.repeat(name.split('/').length - 1)
  return `import { createRequire } from 'node:module'
const found = process.versions.node
if (Number.parseInt(found, 10) < ${oldestNode}) {
  throw new Error(\`Forkpoint needs Node ${oldestNode} or newer, and this is Node \${found}; install a newer one, or start your program with /var/lib/forkpoint-runtime/node/bin/node, which \\\`npx forkpoint doctor\\\` puts there\`)
}
const library = createRequire(import.meta.url)('./${up}library/${name}.js')
export const { ${exports.join(', ')} } = library
`
}

/** For browsers and edge runtimes: fails if anything in it needs Node. */
async function bundleClient() {
  await build({
    ...common,
    platform: 'browser',
    target: 'es2024',
    entryPoints: { client: 'src/client/web/client.ts' },
    format: 'esm',
  })
}

async function bundleDaemon() {
  await build({ ...common, ...commonJs, entryPoints: { daemon: 'src/serve.ts' } })
}

/** CommonJS files: measured, they start 10 to 15 ms sooner than ES modules in chunks. */
async function bundleCommandLine() {
  await build({
    ...common,
    ...commonJs,
    entryPoints: {
      cli: 'src/cli/main.ts',
      branch: 'src/cli/quick/branch/quick-branch.ts',
      verbs: 'src/cli/whole.ts',
      mcp: 'src/mcp/stdio.ts',
    },
    plugins: [apart],
  })
}

function publish() {
  for (const folder of ['chunks', 'integrations', 'library/integrations'])
    mkdirSync(join(dist, folder), { recursive: true })
  const files = readdirSync(staged, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(staged.length + 1))
  const chunksFirst = files.sort(
    (a, b) => Number(b.startsWith('chunks/')) - Number(a.startsWith('chunks/')),
  )
  for (const file of chunksFirst) renameSync(join(staged, file), join(dist, file))
}

function removeOldChunks() {
  for (const name of readdirSync(join(dist, 'chunks'))) {
    const path = join(dist, 'chunks', name)
    if (Date.now() - statSync(path).mtimeMs > chunkLifetimeMs) rmSync(path)
  }
}
