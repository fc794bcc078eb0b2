import { access, readFile, stat, statfs } from 'node:fs/promises'
import { release } from 'node:os'
import { criuVersion, findCriu } from '../../../criu/criu.ts'
import { isClosed } from '../../../linux/closed-directory.ts'
import { nativeProgram } from '../../../linux/native-program.ts'
import { runTool } from '../../../linux/run-tool.ts'
import { ForkpointError } from '../../../model/errors.ts'
import { type EnvironmentId, newEnvironmentId } from '../../../model/ids.ts'
import { formatBytes, formatDuration } from '../../../model/quantities.ts'
import type { Check } from '../../backend.ts'
import { whyNoDevicePolicy } from '../cell/devices.ts'
import { type KernelLimit, kernelLimits, lowKernelLimits } from '../cell/kernel-limits.ts'
import { countsConnections } from '../network/nat.ts'
import { askShell, dumpAndRestore, type Machine, makeProbeCell } from './probe.ts'

const leastFreeBytes = 1024 ** 3

/** Each prerequisite of the native backend, probed; what a later one needs comes first. */
export async function checkMachine(machine: Machine): Promise<Check[]> {
  const checks = [
    await probe('kernel', checkKernel),
    await probe('programs', checkPrograms),
    await probe('cgroups', () => checkCgroups(machine)),
    await probe('limits', checkKernelLimits, 'warn'),
    await probe('store', () => checkStore(machine)),
    await probe('network', checkNetwork, 'warn'),
  ]
  return [...checks, ...(await checkCells(machine))]
}

type Finding = string | Pick<Check, 'status' | 'found' | 'remedy'>

async function probe(
  name: string,
  find: () => Promise<Finding>,
  onFailure: 'fail' | 'warn' = 'fail',
): Promise<Check> {
  try {
    const finding = await find()
    return typeof finding === 'string'
      ? { name, status: 'ok', found: finding }
      : { name, ...finding }
  } catch (error) {
    const remedy = error instanceof ForkpointError ? error.remedy : undefined
    return { name, status: onFailure, found: wordsOf(error), ...(remedy && { remedy }) }
  }
}

function wordsOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}

/** What the kernel can do is shown by the cell below; this only explains a failure there. */
async function checkKernel(): Promise<Finding> {
  const filesystems = await readFile('/proc/filesystems', 'utf8')
  const [major = 0, minor = 0] = release().split('.').map(Number)
  if (major < 5 || (major === 5 && minor < 19)) {
    return {
      status: 'fail',
      found: `Linux ${release()}`,
      remedy: 'use Linux 5.19 or newer: OverlayFS takes no idmapped layers before that',
    }
  }
  const overlay = filesystems.includes('\toverlay\n') || (await loadOverlay())
  return overlay
    ? `Linux ${release()}, OverlayFS`
    : { status: 'fail', found: 'no OverlayFS', remedy: 'load it with `modprobe overlay`' }
}

async function loadOverlay(): Promise<boolean> {
  return (await runTool('modprobe', ['overlay']).catch(() => null))?.exitCode === 0
}

async function checkPrograms(): Promise<Finding> {
  await access(nativeProgram('cell'))
  await access(nativeProgram('agent'))
  for (const tool of ['mount', 'umount', 'losetup', 'flock', 'mkfs.ext4', 'du']) {
    const { exitCode } = await runTool('sh', ['-c', `command -v ${tool}`])
    if (exitCode !== 0) {
      const remedy = 'run `forkpoint doctor --fix`, which installs util-linux and e2fsprogs'
      return { status: 'fail', found: `no ${tool}`, remedy }
    }
  }
  return 'cell, agent, mount, mkfs.ext4'
}

async function checkCgroups({ native: { layout } }: Machine): Promise<Finding> {
  const freezer = layout.unified ? `v2 at ${layout.unified}` : `v1 freezer at ${layout.freezer}`
  if (layout.unified === null && layout.freezer === null) {
    return { status: 'fail', found: 'no hierarchy', remedy: 'mount cgroup2 on /sys/fs/cgroup' }
  }
  const missing = ['memory', 'cpu', 'pids'].filter(
    (name) => !layout.controllers.has(name as 'memory' | 'cpu' | 'pids'),
  )
  if (missing.length > 0) {
    const found = `${freezer}, no controller for ${missing.join(', ')}`
    return { status: 'warn', found, remedy: 'limits of that kind cannot be set on this machine' }
  }
  const versions = [...layout.controllers].map(([name, { version }]) => `${name} v${version}`)
  return `${freezer}; limits: ${versions.join(', ')}`
}

/** They are raised for all of the machine, so that users can see which. */
async function checkKernelLimits(): Promise<Finding> {
  const low = await lowKernelLimits()
  const names = kernelLimits.filter((limit) => !low.includes(limit)).map(settingOf)
  const found = `at least ${names.join(', ')}`
  const [first] = low
  if (first === undefined) return found
  const missing = low.map(({ name, why }) => `${name.replaceAll('/', '.')} is low: ${why}`)
  const remedy = `raise it on the host: sysctl -w ${settingOf(first)}`
  return { status: 'warn', found: missing.join('; '), remedy }
}

function settingOf({ name, enough }: KernelLimit): string {
  return `${name.replaceAll('/', '.')}=${enough}`
}

async function checkStore({ native: { places } }: Machine): Promise<Finding> {
  const [home, root, space] = await Promise.all([stat(places.home), stat('/'), statfs(places.home)])
  const free = space.bavail * space.bsize
  const kind = home.dev === root.dev ? 'volume file on the root file system' : 'own file system'
  const found = `${places.home}, ${kind}, ${formatBytes(free)} free`
  // What is on another file system than `/` is not part of what environments see.
  if (home.dev === root.dev && !isClosed(home)) {
    const remedy =
      'move the home to a directory of its own, or hide it with mask.add in every other home'
    return { status: 'warn', found: `${found}; environments of other homes can read it`, remedy }
  }
  if (free >= leastFreeBytes) return found
  return { status: 'warn', found, remedy: 'free some space, or set FORKPOINT_HOME elsewhere' }
}

async function checkNetwork(): Promise<Finding> {
  const { exitCode, stderr } = await runTool('nft', ['list', 'tables'])
  if (exitCode === 0 && (await countsConnections())) return 'nftables; --net nat works'
  if (exitCode === 0) {
    const found =
      'nftables without CONFIG_NFT_CONNLIMIT: with --net nat an environment can fill the table of connections'
    return { status: 'warn', found, remedy: 'load the module nft_connlimit, or use --net none' }
  }
  const remedy = 'environments work without it; for --net nat the kernel needs nftables'
  return { status: 'warn', found: stderr.trim(), remedy }
}

/** While a cell is there: the policy is that of the home's group, which goes with its last cell. */
async function checkDevices({ native: { layout, places } }: Machine): Promise<Finding> {
  const why = await whyNoDevicePolicy(layout, places.key)
  if (why === null) return `kept from cells by their cgroup, v${layout.devices?.version}`
  const remedy =
    'their mounts still allow no devices; for a second wall the kernel needs CONFIG_CGROUP_BPF'
  return { status: 'warn', found: `not kept from cells by their cgroup: ${why}`, remedy }
}

async function checkCells(machine: Machine): Promise<Check[]> {
  const checks: Check[] = []
  const steps = async (id: EnvironmentId) => {
    const began = performance.now()
    await using cell = await makeProbeCell(machine, id)
    await askShell(machine, cell.id, cell.instance, 'probe=$((6*7)); sleep 1000 & echo ready')
    const made = formatDuration(performance.now() - began)
    checks.push({ name: 'cell', status: 'ok', found: `made, and its shell answers, in ${made}` })
    checks.push(await probe('devices', () => checkDevices(machine), 'warn'))
    checks.push(
      await probe('criu', async () => {
        const version = await criuVersion(findCriu(machine.native.settings).command)
        const from = performance.now()
        const copy = newEnvironmentId()
        const answer = await machine.native.exclusively(`env:${copy}`, 'doctor', () =>
          dumpAndRestore(machine, cell, copy, 'echo $probe; jobs -r | wc -l'),
        )
        if (answer !== '42\n1')
          throw new Error(`CRIU ${version}: the restored shell says ${answer}`)
        const took = formatDuration(performance.now() - from)
        return `CRIU ${version}: a cell with a shell and a job was dumped and restored in ${took}`
      }),
    )
  }
  const failure = await probe('cell', async () => {
    const id = newEnvironmentId()
    // Others take what has neither a record nor a lease for the remains of a killed process.
    await machine.native.exclusively(`env:${id}`, 'doctor', () => steps(id))
    return ''
  })
  return failure.status === 'ok' ? checks : [...checks, failure]
}
