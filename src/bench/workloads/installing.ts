import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { run, runUntilDone, type Workload } from './workload.ts'

const archives = '/var/cache/apt/archives'
const log = '/root/install.log'
const done = '/root/install.done'

/**
 * An installation of packages, half done. It unpacks packages that apt has kept on this machine; where
 * there are none, it copies as many files one by one.
 */
export function installing(packages: number): Workload {
  const kept = existsSync(archives) ? readdirSync(archives) : []
  // Packages for all architectures hold files, and have few scripts that expect a whole system.
  const chosen = kept.filter((name) => name.endsWith('_all.deb')).slice(0, packages)
  return chosen.length < packages ? copying(packages) : unpacking(chosen)
}

function unpacking(names: readonly string[]): Workload {
  const files = names.map((name) => join(archives, name)).join(' ')
  return halfDone({
    name: 'dpkg half done',
    needs: ['dpkg'],
    command: `dpkg --force-all --no-triggers --unpack ${files}`,
    // dpkg writes one such line for each package.
    steps: { count: names.length, line: '^Unpacking' },
  })
}

/** About as many files as a package has. */
const filesOfPackage = 150

function copying(packages: number): Workload {
  const count = packages * filesOfPackage
  const list = `find /usr/share /usr/lib -xdev -type f -size -64k | head -n ${count}`
  return halfDone({
    name: 'cp half done',
    needs: ['cp'],
    command: `mkdir -p /root/installed; ${list} | xargs -n 50 cp -v --parents -t /root/installed`,
    steps: { count, line: ' -> ' },
  })
}

interface Installation {
  readonly name: string
  readonly needs: readonly string[]
  readonly command: string
  /** how many lines like this it writes until it is done */
  readonly steps: { readonly count: number; readonly line: string }
}

function halfDone({ name, needs, command, steps }: Installation): Workload {
  const counted = `grep -c -e '${steps.line}' ${log}`
  return {
    name,
    needs,
    start: async (env) => {
      await run(env, `(${command} > ${log} 2>&1; touch ${done}) &`)
      await runUntilDone(env, `[ "$(${counted})" -ge ${Math.floor(steps.count / 2)} ]`)
    },
    check: async (env) => {
      await runUntilDone(env, `[ -e ${done} ]`)
      const found = Number(await run(env, counted))
      if (found < steps.count) throw new Error(`${found} of ${steps.count} steps were done`)
    },
  }
}
