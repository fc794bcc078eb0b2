import * as z from 'zod/mini'
import { type Client, path } from './client.ts'
import { ifFound, unlessRefused } from './failures.ts'

/** What is asked of the engine about containers; an unknown answer is refused by its schema. */

const created = z.object({ Id: z.string() })

const listed = z.array(z.object({ Id: z.string(), State: z.string(), Names: z.array(z.string()) }))

const inspected = z.object({
  Id: z.string(),
  State: z.object({ Status: z.string() }),
  HostConfig: z.object({ Memory: z.nullish(z.number()), PidsLimit: z.nullish(z.number()) }),
  SizeRw: z.nullish(z.number()),
})

type Container = z.infer<typeof listed>[number]

/** Every command asks for the list first, and must not wait for an engine that hangs. */
const listTimeoutMs = 10_000

export async function createContainer(
  client: Client,
  name: string,
  body: object,
  signal?: AbortSignal,
): Promise<string> {
  const { Id } = await client.json(created, {
    method: 'POST',
    path: '/containers/create',
    query: { name },
    body,
    signal,
  })
  return Id
}

/** All with this label, whatever their state. */
export function listContainers(client: Client, label: string): Promise<Container[]> {
  return client.json(listed, {
    method: 'GET',
    path: '/containers/json',
    query: { all: 1, filters: JSON.stringify({ label: [label] }) },
    timeoutMs: listTimeoutMs,
  })
}

/** With `size`, what it has written is counted, which takes a while. Null if there is none. */
export function inspectContainer(client: Client, id: string, query: { size?: 1 } = {}) {
  return ifFound(() =>
    client.json(inspected, { method: 'GET', path: path`/containers/${id}/json`, query }),
  )
}

export async function startContainer(client: Client, id: string): Promise<void> {
  await client.text({ method: 'POST', path: path`/containers/${id}/start` })
}

/** With its volumes. One that is gone, or is being removed by somebody else, is no failure. */
export async function removeContainer(client: Client, id: string): Promise<void> {
  await unlessRefused([404, 409], () =>
    client.text({ method: 'DELETE', path: path`/containers/${id}`, query: { force: 1, v: 1 } }),
  )
}

export async function pauseContainer(client: Client, id: string): Promise<void> {
  await client.text({ method: 'POST', path: path`/containers/${id}/pause` })
}

export async function unpauseContainer(client: Client, id: string): Promise<void> {
  await client.text({ method: 'POST', path: path`/containers/${id}/unpause` })
}

const pathStat = z.object({ mtime: z.string() })

/** When a file inside was last changed, in nanoseconds since 1970; null if there is none. */
export async function pathTime(client: Client, id: string, file: string): Promise<string | null> {
  const response = await ifFound(() =>
    client.stream({
      method: 'HEAD',
      path: path`/containers/${id}/archive`,
      query: { path: file },
    }),
  )
  if (response === null) return null
  response.resume()
  const header = String(response.headers['x-docker-container-path-stat'] ?? '')
  const stat: unknown = JSON.parse(Buffer.from(header, 'base64').toString())
  return nanosecondsOf(pathStat.parse(stat).mtime)
}

/** Of a time such as 2026-01-02T03:04:05.123456789+01:00. */
export function nanosecondsOf(time: string): string {
  const [, fraction = ''] = /\.(\d{1,9})/.exec(time) ?? []
  const seconds = Math.floor(Date.parse(time.replace(/\.\d+/, '')) / 1000)
  const nanoseconds = BigInt(seconds) * 1_000_000_000n + BigInt(fraction.padEnd(9, '0'))
  return String(nanoseconds)
}

/** Unpacks a tar archive below a directory inside. */
export async function putArchive(
  client: Client,
  id: string,
  directory: string,
  archive: Buffer,
): Promise<void> {
  await client.text({
    method: 'PUT',
    path: path`/containers/${id}/archive`,
    query: { path: directory },
    body: archive,
  })
}
