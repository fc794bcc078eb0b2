// Compares all backends in one run: `node scripts/bench-backends.js [OPTION...]`, with options of
// `forkpoint bench`. The benchmark itself starts no engine, so this starts Docker and Podman of its own,
// in private directories, and ends them again. Without options, it also rewrites docs/benchmarks.md.
import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { startExperimentalDocker } from '../test/support/engines/start-docker.ts'
import { startPodman } from '../test/support/engines/start-podman.ts'

const root = join(import.meta.dirname, '..')
const given = process.argv.slice(2)
const options = given.length > 0 ? given : ['--plot', join(root, 'docs/benchmarks')]

await using docker = await startExperimentalDocker()
await using podman = await startPodman()
const ended = node('src/cli/main.ts', 'bench', '--backends', 'all', ...options)
if (ended === 0 && given.length === 0) node('src/bench/update-page.ts')
process.exitCode = ended

function node(program, ...words) {
  const { status } = spawnSync(
    process.execPath,
    ['--disable-warning=ExperimentalWarning', join(root, program), ...words],
    {
      stdio: 'inherit',
      env: {
        ...process.env,
        DOCKER_HOST: `unix://${docker.socket}`,
        CONTAINER_HOST: `unix://${podman.socket}`,
      },
    },
  )
  return status ?? 1
}
