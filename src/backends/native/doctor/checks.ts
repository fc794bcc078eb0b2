import { access, readFile, stat, statfs } from 'node:fs/promises'
import { release } from 'node:os'
import { criuVersion, findCriu } from '../../../criu/criu.ts'
import { hasProgram } from '../../../images/programs.ts'
import { isClosed } from '../../../linux/files/closed-directory.ts'
import { nativeProgram } from '../../../linux/native-program.ts'
import type { Tools } from '../../../linux/tools.ts'
import { ForkpointError } from '../../../model/errors.ts'
import { type EnvironmentId, newEnvironmentId } from '../../../model/ids.ts'
import { formatBytes, formatDuration } from '../../../model/values/quantities.ts'
import type { Check } from '../../backend.ts'
import { whyNoDevicePolicy } from '../cell/devices.ts'
import { type KernelLimit, kernelLimits, lowKernelLimits } from '../cell/kernel-limits.ts'
import { countsConnections } from '../network/nat.ts'
import { checkFiles } from './check-files.ts'
import type { Finding } from './finding.ts'
import { askShell, dumpAndRestore, type Machine, makeProbeCell, type ProbeCell } from './probe.ts'

const minFreeBytes = 1024 ** 3

/** Probes each prerequisite of the native backend, in the order in which they depend on each other. */
export async function checkMachine(machine: Machine): Promise<Check[]> {
  const { tools } = machine.native
  const checks = [
    await probe('kernel', () => checkKernel(tools)),
    await probe('programs', () => checkPrograms(tools)),
    await probe('cgroups', () => checkCgroups(machine)),
    await probe('limits', checkKernelLimits, 'warn'),
    await probe('store', () => checkStore(machine)),
    await probe('network', () => checkNetwork(tools), 'warn'),
    await probe('images', checkImages, 'warn'),
  ]
  return [...checks, ...(await checkCells(machine))]
}

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
    const found = error instanceof Error ? error.message : String(error)
    return { name, status: onFailure, found, ...(remedy && { remedy }) }
  }
}

/** Making a cell shows what the kernel can do; this check only explains a failure there. */
async function checkKernel(tools: Tools): Promise<Finding> {
  const filesystems = await readFile('/proc/filesystems', 'utf8')
  const [major = 0, minor = 0] = release().split('.').map(Number)
  if (major < 5 || (major === 5 && minor < 19)) {
    return {
      status: 'fail',
      found: `Linux ${release()}`,
      remedy: 'use Linux 5.19 or newer: older versions of OverlayFS take no idmapped layers',
    }
  }
  const overlay = filesystems.includes('\toverlay\n') || (await loadOverlay(tools))
  return overlay
    ? `Linux ${release()}, OverlayFS`
    : { status: 'fail', found: 'no OverlayFS', remedy: 'load it with `modprobe overlay`' }
}

async function loadOverlay(tools: Tools): Promise<boolean> {
  // Without modprobe it cannot be loaded, and the check reports that it is missing.
  return (await tools.run('modprobe', ['overlay']).catch(() => null))?.exitCode === 0
}

/** Only `image:`, `dockerfile:` and `container:` need one. */
async function checkImages(): Promise<Finding> {
  const programs = ['buildah', 'podman', 'docker', 'skopeo'] as const
  const found = await Promise.all(
    programs.map(async (program) => ((await hasProgram(program)) ? [program] : [])),
  )
  if (found.flat().length > 0) return found.flat().join(', ')
  return {
    status: 'warn',
    found: `none of ${programs.join(', ')}`,
    remedy:
      'to start from images and Dockerfiles, install one, such as `apt install podman buildah`',
  }
}

async function checkPrograms(tools: Tools): Promise<Finding> {
  await access(nativeProgram('cell'))
  await access(nativeProgram('agent'))
  const isMissing = async (tool: string) =>
    (await tools.run('sh', ['-c', `command -v ${tool}`])).exitCode !== 0
  for (const tool of ['mount', 'umount', 'losetup', 'flock', 'mkfs.ext4', 'du']) {
    if (!(await isMissing(tool))) continue
    const remedy = 'run `forkpoint doctor --fix`, which installs util-linux and e2fsprogs'
    return { status: 'fail', found: `no ${tool}`, remedy }
  }
  const found = 'cell, agent, mount, mkfs.ext4'
  for (const tool of ['mkfs.btrfs', 'fallocate', 'fstrim']) {
    if (!(await isMissing(tool))) continue
    const remedy = 'run `forkpoint doctor --fix`, which installs btrfs-progs and util-linux'
    return { status: 'warn', found: `${found}; no ${tool}`, remedy }
  }
  return `${found}, mkfs.btrfs`
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
    return { status: 'warn', found, remedy: 'enable these controllers, or set no such limits' }
  }
  const versions = [...layout.controllers].map(([name, { version }]) => `${name} v${version}`)
  return `${freezer}; limits: ${versions.join(', ')}`
}

/** Lists them, because they are raised for the whole machine. */
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
  // Environments see only the file system of `/`.
  if (home.dev === root.dev && !isClosed(home)) {
    const remedy =
      'move the home to its own directory, or hide it with mask.add in every other home'
    return { status: 'warn', found: `${found}; environments of other homes can read it`, remedy }
  }
  if (free >= minFreeBytes) return found
  return { status: 'warn', found, remedy: 'free some space, or set FORKPOINT_HOME elsewhere' }
}

async function checkNetwork(tools: Tools): Promise<Finding> {
  const { exitCode, stderr } = await tools.run('nft', ['list', 'tables'])
  if (exitCode === 0 && (await countsConnections(tools))) return 'nftables; --net nat works'
  if (exitCode === 0) {
    const found =
      "nftables without CONFIG_NFT_CONNLIMIT: --net nat lets an environment fill the host's connection table"
    return { status: 'warn', found, remedy: 'load the module nft_connlimit, or use --net none' }
  }
  const remedy =
    'use a kernel with nftables for --net nat; environments without a network need none'
  return { status: 'warn', found: stderr.trim(), remedy }
}

/** Needs a cell: the policy belongs to the group of the home, which is removed with its last cell. */
async function checkDevices({ native: { layout, places, tools } }: Machine): Promise<Finding> {
  const why = await whyNoDevicePolicy(tools, layout, places.key)
  if (why === null) return `denied to cells by their cgroup, v${layout.devices?.version}`
  const remedy =
    'use a kernel with CONFIG_CGROUP_BPF for a second barrier; the mounts of cells still deny devices'
  return { status: 'warn', found: `not denied to cells by their cgroup: ${why}`, remedy }
}

async function checkCells(machine: Machine): Promise<Check[]> {
  const checks: Check[] = []
  const steps = async (id: EnvironmentId) => {
    const began = performance.now()
    await using cell = await makeProbeCell(machine, id)
    await askShell(machine, cell.id, cell.instance, 'probe=$((6*7)); sleep 1000 & echo ready')
    const made = formatDuration(performance.now() - began)
    checks.push({ name: 'cell', status: 'ok', found: `made, and its shell answers, in ${made}` })
    checks.push(await probe('files', () => checkFiles(machine, cell), 'warn'))
    checks.push(await probe('devices', () => checkDevices(machine), 'warn'))
    checks.push(await probe('criu', () => checkCriu(machine, cell)))
  }
  const failure = await probe('cell', async () => {
    const id = newEnvironmentId()
    // Without a record or a lease, it would look like the remains of a killed process.
    await machine.native.exclusively(`env:${id}`, 'doctor', () => steps(id))
    return ''
  })
  return failure.status === 'ok' ? checks : [...checks, failure]
}

/** The shell of the cell has a variable and a job, which a restored copy must have, too. */
async function checkCriu(machine: Machine, cell: ProbeCell): Promise<Finding> {
  const { native } = machine
  const version = await criuVersion(native.tools, findCriu(native.settings).command)
  const began = performance.now()
  const copy = newEnvironmentId()
  const answer = await native.exclusively(`env:${copy}`, 'doctor', () =>
    dumpAndRestore(machine, cell, copy, 'echo $probe; jobs -r | wc -l'),
  )
  if (answer !== '42\n1') throw new Error(`CRIU ${version}: the restored shell says ${answer}`)
  const took = formatDuration(performance.now() - began)
  return `CRIU ${version}: a cell with a shell and a job was dumped and restored in ${took}`
}
