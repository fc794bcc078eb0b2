import { isIP } from 'node:net'
import { posix } from 'node:path'
import { InvalidInputError } from '../../../model/errors.ts'
import { quote } from '../../../model/text/quote.ts'
import { runDirectory } from '../lives/run-directory.ts'
import type { RunOptions } from './run-options.ts'

export function refuse(flag: string, value: string, accepts: string): InvalidInputError {
  return new InvalidInputError(`${flag}: not acceptable: ${quote(value)}`, {
    remedy: `give ${accepts}`,
    detail: { flag },
  })
}

export function pair(flag: string, value: string): readonly [string, string] {
  const [, key, rest] = /^([^=\0]+)=([^\0]*)$/s.exec(value) ?? []
  // `docker run --env NAME` takes the value from its own process, which is not the caller's here.
  if (key === undefined || rest === undefined) throw refuse(flag, value, 'NAME=VALUE')
  return [key, rest]
}

/** A directory or file inside that may be mounted over. */
export function inside(flag: string, path: string): string {
  const plain = posix.normalize(path).replace(/(?<=.)\/$/, '')
  const isOurs = plain === runDirectory || plain.startsWith(`${runDirectory}/`)
  if (path.startsWith('/') && plain !== '/' && !isOurs && !path.includes('\0')) return plain
  throw refuse(flag, path, `an absolute path inside, not / and not below ${runDirectory}`)
}

const portShape =
  /^(?:(?<ip>\[[^\]]+\]|[^:]*):)?(?:(?<host>\d*):)?(?<inside>\d+)(?:\/(?<kind>tcp|udp))?$/
const portForms = '[[IP:]HOSTPORT:]PORT[/tcp|/udp]'

export function port(flag: string, value: string): RunOptions['ports'][number] {
  // One colon separates two ports, not an address and a port.
  const given = /^\d+:\d+(\/\w+)?$/.test(value) ? `0.0.0.0:${value}` : value
  const { ip = '', host = '', inside = '', kind = 'tcp' } = portShape.exec(given)?.groups ?? {}
  const hostIp = ip.replace(/^\[|\]$/g, '')
  const isGood = isPort(inside) && (host === '' || isPort(host)) && (ip === '' || isIP(hostIp) > 0)
  if (isGood) return { inside: `${inside}/${kind}`, hostIp, hostPort: host }
  throw refuse(flag, value, portForms)
}

function isPort(text: string): boolean {
  return /^\d{1,5}$/.test(text) && Number(text) >= 1 && Number(text) <= 65_535
}

const volumeOptions = new Set(['ro', 'rw', 'z', 'Z', 'nocopy'])
const volumeForms =
  'PATH, or SOURCE:PATH with options such as :ro; SOURCE is an absolute path or a volume'

/** A bind or a named volume in the engine's words; a path alone is a volume without a name. */
export function volume(flag: string, value: string): Pick<RunOptions, 'binds' | 'mounts'> {
  const [source = '', target, options, ...more] = value.split(':')
  if (target === undefined) {
    return { binds: [], mounts: [{ Type: 'volume', Target: inside(flag, source) }] }
  }
  const isSource = source.startsWith('/') || /^[\w][\w.-]*$/.test(source)
  const areOptions = options?.split(',').every((each) => volumeOptions.has(each)) ?? true
  if (!isSource || !areOptions || more.length > 0) throw refuse(flag, value, volumeForms)
  const bind = [source, inside(flag, target), ...(options === undefined ? [] : [options])]
  return { binds: [bind.join(':')], mounts: [] }
}

const mountForms = 'type=bind|volume|tmpfs,source=…,target=…[,readonly]'

export function mount(flag: string, value: string): RunOptions['mounts'][number] {
  const given = new Map(value.split(',').map((part) => splitOnce(part)))
  const take = (...names: readonly string[]) => {
    const [name] = names.filter((each) => given.has(each))
    const found = name === undefined ? undefined : given.get(name)
    for (const each of names) given.delete(each)
    return found
  }
  const type = take('type') ?? 'volume'
  const source = take('source', 'src')
  const target = take('target', 'destination', 'dst')
  const isReadOnly = ['', 'true', '1'].includes(take('readonly', 'ro') ?? 'false')
  const isKnown = type === 'bind' || type === 'volume' || type === 'tmpfs'
  const hasSource = type !== 'bind' || source?.startsWith('/') === true
  if (!isKnown || !hasSource || target === undefined || given.size > 0) {
    throw refuse(flag, value, mountForms)
  }
  return {
    Type: type,
    Target: inside(flag, target),
    ...(source !== undefined && { Source: source }),
    ...(isReadOnly && { ReadOnly: true }),
  }
}

function splitOnce(part: string): [string, string] {
  const [, key = part, value = ''] = /^([^=]*)=(.*)$/s.exec(part) ?? []
  return [key, value]
}

/** DIR, or DIR:OPTIONS in the words of mount(8). */
export function tmpfs(flag: string, value: string): Record<string, string> {
  const [path = '', ...options] = value.split(':')
  return { [inside(flag, path)]: options.join(':') }
}

/** A word that no engine takes for anything else. */
export function word(flag: string, value: string): string {
  if (/^[\w][\w.:@/-]*$/.test(value)) return value
  throw refuse(flag, value, 'a word of letters, digits and . : @ / -')
}

export function hostname(flag: string, value: string): string {
  if (/^[A-Za-z0-9][A-Za-z0-9.-]{0,62}$/.test(value)) return value
  throw refuse(flag, value, '1 to 63 of A-Z a-z 0-9 - .')
}

export function address(flag: string, value: string): string {
  if (isIP(value) > 0) return value
  throw refuse(flag, value, 'an IP address')
}

/** NAME:ADDRESS */
export function extraHost(flag: string, value: string): string {
  const [, name, at] = /^([\w.-]+)[:=](.+)$/.exec(value) ?? []
  const isGood = name !== undefined && at !== undefined && (at === 'host-gateway' || isIP(at) > 0)
  if (isGood) return `${name}:${at}`
  throw refuse(flag, value, 'NAME:ADDRESS')
}
