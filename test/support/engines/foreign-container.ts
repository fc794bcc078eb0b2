// A container that is not ours, and everything about it that must be the same afterwards.
import { createHash } from 'node:crypto'
import { existsSync, lstatSync, readdirSync, readFileSync, readlinkSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import * as z from 'zod/mini'
import { type Client, path } from '../../../src/backends/containers/engine/client.ts'
import {
  createContainer,
  startContainer,
} from '../../../src/backends/containers/engine/containers.ts'
import { imageName } from './engine-images.ts'

const anything = z.unknown()
const state = z.looseObject({ State: z.looseObject({ Pid: z.number() }) })
const listed = z.array(z.looseObject({ Id: z.string() }))
const volumes = z.looseObject({ Volumes: z.nullish(z.array(z.unknown())) })

/** A container with a user, variables, files of its own and a program that only waits. */
export async function startForeign(
  client: Client,
  name: string,
  more: { readonly User?: string } = {},
): Promise<string> {
  const program = 'echo mine > /home/app/mine; echo started > /dev/shm/started; sleep infinity'
  const id = await createContainer(client, name, {
    Image: imageName,
    Cmd: ['bash', '-c', program],
    Env: ['TINT=pale'],
    WorkingDir: '/work',
    Labels: { theirs: 'yes' },
    ...more,
    HostConfig: { NetworkMode: 'none', LogConfig: { Type: 'none' } },
  })
  await startContainer(client, id)
  const { State } = await client.json(state, { method: 'GET', path: path`/containers/${id}/json` })
  while (!existsSync(`/proc/${State.Pid}/root/dev/shm/started`)) await sleep(20)
  return id
}

export async function removeForeign(client: Client, id: string): Promise<void> {
  await client.text({ method: 'DELETE', path: path`/containers/${id}`, query: { force: 1, v: 1 } })
}

/** What would show that somebody was there: as the engine tells it, and as the kernel does. */
export async function traceOf(client: Client, id: string) {
  const get = (where: string) => ({ method: 'GET', path: where }) as const
  const inspected = await client.json(state, get(path`/containers/${id}/json`))
  const all = async (where: string) =>
    (await client.json(listed, { ...get(where), query: { all: 1 } })).map(({ Id }) => Id).sort()
  return {
    inspected,
    changes: await client.json(anything, get(path`/containers/${id}/changes`)),
    processes: processesOf(inspected.State.Pid),
    files: filesBelow(`/proc/${inspected.State.Pid}/root`, ''),
    images: await all('/images/json'),
    containers: await all('/containers/json'),
    volumes: (await client.json(volumes, get('/volumes'))).Volumes ?? [],
  }
}

/** Every process of its pid namespace. */
export function processesOf(pid: number): string[] {
  const namespace = readlinkSync(`/proc/${pid}/ns/pid`)
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .flatMap((each) => {
      try {
        if (readlinkSync(`/proc/${each}/ns/pid`) !== namespace) return []
        return [`${each} ${readFileSync(`/proc/${each}/cmdline`, 'utf8')}`]
      } catch {
        // It has ended meanwhile.
        return []
      }
    })
}

/** All files with owner, mode, time and digest. Only the kernel's own are left out. */
export function filesBelow(root: string, directory: string): string[] {
  return readdirSync(join(root, directory || '/'))
    .sort()
    .flatMap((name) => {
      const file = `${directory}/${name}`
      if (file === '/proc' || file === '/sys' || file === '/dev/pts') return [file]
      const row = rowOf(root, file)
      return row.endsWith('/') ? [row, ...filesBelow(root, file)] : [row]
    })
}

function rowOf(root: string, file: string): string {
  const full = join(root, file)
  const info = lstatSync(full, { bigint: true })
  const facts = `${file} ${info.mode.toString(8)} ${info.uid}:${info.gid} ${info.mtimeNs} ${info.rdev}`
  if (info.isDirectory()) return `${facts} ${info.nlink} /`
  if (info.isSymbolicLink()) return `${facts} -> ${readlinkSync(full)}.`
  if (!info.isFile()) return `${facts} .`
  return `${facts} ${createHash('sha256').update(readFileSync(full)).digest('hex')}`
}
