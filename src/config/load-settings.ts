import { InvalidInputError } from '../model/errors.ts'
import type { NativeSettings, Settings } from '../model/settings.ts'
import { closest } from '../model/text/closest.ts'
import { quote } from '../model/text/quote.ts'
import { type ConfigFile, readConfigFiles, type Variables } from './files.ts'
import {
  type Flags,
  type Given,
  type Layer,
  layerOfFile,
  layerOfFlags,
  layerOfVariables,
} from './layers.ts'
import { type HostFacts, type Setting, type SettingKey, schema, type Values } from './schema.ts'
import type { ValueType } from './values.ts'

export interface Origin {
  readonly value: unknown
  readonly origin: 'flag' | 'env' | 'file' | 'default'
  /** the file's path or the variable's name */
  readonly where?: string
}

export interface LoadedSettings {
  readonly settings: Settings
  /** where the value of each setting comes from */
  readonly origins: Readonly<Record<SettingKey, Origin>>
}

export interface SettingsInputs {
  readonly flags?: Flags
  readonly env: Variables
  readonly facts: HostFacts
  /** the file named by `--config` */
  readonly configPath?: string | undefined
  /** the machine-wide file, if it is not /etc/forkpoint/config.json */
  readonly systemPath?: string | undefined
}

/** The effective configuration: flag, then FORKPOINT_* variable, then file, then default. */
export function loadSettings(inputs: SettingsInputs): LoadedSettings {
  const { env, configPath: explicit, systemPath: system } = inputs
  return resolveSettings({ ...inputs, files: readConfigFiles({ explicit, env, system }) })
}

/** The same, for files that have been read already, in order of precedence. */
export function resolveSettings(
  inputs: Pick<SettingsInputs, 'flags' | 'env' | 'facts'> & { files: readonly ConfigFile[] },
): LoadedSettings {
  const layers = [
    layerOfFlags(inputs.flags ?? {}),
    layerOfVariables(inputs.env),
    ...inputs.files.map(layerOfFile),
  ]
  // Values that a stronger layer overrides are checked, too, so that they cause no surprise later.
  for (const layer of layers) for (const [key, given] of layer) checked(key, given)

  const origins: Partial<Record<SettingKey, Origin>> = {}
  const pick = <K extends SettingKey>(key: K): Values[K] => {
    const origin = originOf(key, layers, inputs.facts)
    origins[key] = origin
    return origin.value as Values[K]
  }
  const settings = assemble(pick)
  return { settings, origins: origins as Record<SettingKey, Origin> }
}

function originOf(key: SettingKey, layers: readonly Layer[], facts: HostFacts): Origin {
  for (const layer of layers) {
    const given = layer.get(key)
    if (given !== undefined) return { ...given, value: checked(key, given) }
  }
  return { value: schema[key].default(facts), origin: 'default' }
}

function checked(key: SettingKey, given: Given): unknown {
  const { type, accepts }: Setting<unknown> = schema[key]
  const result = parse(type, given.value)
  if (result?.success) return result.data
  const where = given.where ?? `flag ${key}`
  const subject = given.origin === 'file' ? `${where}: ${key}` : where
  throw new InvalidInputError(`${subject}: invalid value: ${quote(given.value)}`, {
    remedy: `${key} accepts ${accepts}`,
    detail: { key, origin: given.origin, where },
  })
}

function parse(type: ValueType<unknown>, value: unknown) {
  try {
    return type.safeParse(value)
  } catch {
    // The value cannot even be read, such as an object with a getter that throws: it is invalid.
    return null
  }
}

/** By name; of two for one name, the last one counts. */
function templateMap(entries: readonly string[]): Readonly<Record<string, string>> {
  const pairs = entries.map((entry) => {
    const at = entry.indexOf('=')
    return [entry.slice(0, at), entry.slice(at + 1)] as const
  })
  return Object.fromEntries(pairs)
}

function assemble(pick: <K extends SettingKey>(key: K) => Values[K]): Settings {
  const memoryBytes = pick('limits.memory')
  const cpus = pick('limits.cpus')
  const pids = pick('limits.pids')
  const diskBytes = pick('limits.disk')
  const ioReadBytes = pick('limits.ioRead')
  const ioWriteBytes = pick('limits.ioWrite')
  const netBytes = pick('limits.netRate')
  return {
    home: pick('home'),
    runtime: pick('runtime'),
    limits: {
      ...(memoryBytes !== null && { memoryBytes }),
      ...(cpus !== null && { cpus }),
      ...(pids !== null && { pids }),
      ...(diskBytes !== null && { diskBytes }),
      ...(ioReadBytes !== null && { ioReadBytes }),
      ...(ioWriteBytes !== null && { ioWriteBytes }),
      ...(netBytes !== null && { netBytes }),
    },
    net: { mode: pick('net.mode') },
    memory: pick('memory'),
    e2b: { templates: templateMap(pick('e2b.templates')) },
    wake: pick('wake'),
    exec: { timeoutMs: pick('exec.timeout') },
    shell: { program: pick('shell.program'), login: pick('shell.login') },
    spares: { count: pick('spares.count'), memoryBytes: pick('spares.memory') },
    admission: {
      environments: pick('admission.environments'),
      memoryBytes: pick('admission.memory'),
      branchOperations: pick('admission.branchOperations'),
      diskBytes: pick('admission.disk'),
      each: {
        environments: pick('admission.each.environments'),
        memoryBytes: pick('admission.each.memory'),
        diskBytes: pick('admission.each.disk'),
      },
    },
    log: pick('log'),
    color: pick('color'),
    native: assembleNative(pick),
    docker: { socket: pick('docker.socket'), processes: pick('docker.processes') },
    podman: { socket: pick('podman.socket'), exportDir: pick('podman.exportDir') },
    gvisor: { runsc: pick('gvisor.runsc'), root: pick('gvisor.root') },
  }
}

function assembleNative(pick: <K extends SettingKey>(key: K) => Values[K]): NativeSettings {
  return {
    net: { pool: pick('net.pool') },
    mask: effectiveMask(pick('mask'), pick('mask.add'), pick('mask.remove')),
    volume: { kind: pick('volume'), sizeBytes: pick('volume.size') },
    tracking: pick('memory.tracking'),
    ids: idRange(pick('ids.base'), pick('ids.count')),
    noNewPrivs: pick('noNewPrivs'),
    images: { tool: pick('images.tool') },
    criu: pick('criu'),
  }
}

function idRange(base: number, count: number): NativeSettings['ids'] {
  // The kernel's ids are 32 bits wide, and the last one means "no id".
  if (base + count <= 2 ** 32 - 1) return { base, count }
  const message = `ids.base ${base} and ids.count ${count} exceed the largest possible id`
  throw new InvalidInputError(message, { remedy: 'keep their sum below 4294967296' })
}

/** Refuses to remove a missing entry: the user would think that something hidden is visible. */
function effectiveMask(
  base: readonly string[],
  add: readonly string[],
  remove: readonly string[],
): string[] {
  const mask = new Set([...base, ...add])
  for (const pattern of remove) {
    if (mask.delete(pattern)) continue
    const meant = closest(pattern, mask)
    throw new InvalidInputError(`mask.remove: ${quote(pattern)} is not in the mask`, {
      remedy:
        meant.length > 0
          ? `name an entry exactly as \`forkpoint config mask\` shows it, perhaps ${meant.join(' or ')}`
          : 'name an entry exactly as `forkpoint config mask` shows it',
    })
  }
  return [...mask]
}
