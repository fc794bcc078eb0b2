// The tests run real engines. A machine without one gets it from its distribution.
import { execFileSync, spawnSync } from 'node:child_process'

const packages = {
  dockerd: ['docker.io'],
  podman: ['podman', 'runc', 'netavark', 'iptables'],
} as const

/** Installs an engine if this machine lacks it; throws with the reason if that fails. */
export function installEngine(program: keyof typeof packages): void {
  if (spawnSync(program, ['--version']).status === 0) return
  const names = packages[program]
  try {
    install(names)
  } catch {
    // A new machine has no lists of packages, or old ones.
    apt('update', '-qq')
    install(names)
  }
}

function install(names: readonly string[]): void {
  apt('install', '-y', '-qq', '--no-install-recommends', ...names)
}

/** Several test files may do this at once. */
function apt(...words: string[]): void {
  try {
    execFileSync('apt-get', ['-o', 'DPkg::Lock::Timeout=300', ...words], {
      env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' },
      stdio: 'pipe',
    })
  } catch (error) {
    throw new Error(`the engine is not installed, and apt-get ${words.join(' ')} failed`, {
      cause: error,
    })
  }
}
