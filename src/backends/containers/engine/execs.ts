import { text as readText } from 'node:stream/consumers'
import * as z from 'zod/mini'
import { BackendError } from '../../../model/errors.ts'
import { type Client, path } from './client.ts'
import { ExecStream } from './exec-stream.ts'
import { ifFound } from './failures.ts'

/** Processes that the engine starts in a running container, as root. */

const created = z.object({ Id: z.string() })
const inspected = z.object({ Running: z.boolean(), ExitCode: z.nullish(z.number()) })

interface ExecSpec {
  readonly container: string
  readonly command: readonly string[]
}

/** An exec with its streams; null if there is no such container. */
export async function openExec(client: Client, spec: ExecSpec): Promise<ExecStream | null> {
  const streams = { AttachStdin: true, AttachStdout: true, AttachStderr: true }
  const id = await createExec(client, spec, streams)
  return id === null ? null : await startAttached(client, id)
}

async function startAttached(client: Client, id: string): Promise<ExecStream> {
  const body = { Detach: false, Tty: false }
  return new ExecStream(
    await client.upgrade({ method: 'POST', path: path`/exec/${id}/start`, body }),
  )
}

/** Runs a short command to its end, and returns what it printed. */
export async function runExec(client: Client, spec: ExecSpec): Promise<string> {
  const streams = { AttachStdout: true, AttachStderr: true }
  const id = await createExec(client, spec, streams)
  if (id === null) throw gone(client, spec)
  return await readText(await startAttached(client, id))
}

/** Starts a process that stays, and returns the id of its exec. */
export async function startExec(client: Client, spec: ExecSpec): Promise<string> {
  const id = await createExec(client, spec, {})
  if (id === null) throw gone(client, spec)
  const body = { Detach: true, Tty: false }
  await client.text({ method: 'POST', path: path`/exec/${id}/start`, body })
  return id
}

/** Whether its process still runs; false if the engine has forgotten it. */
export async function isExecRunning(client: Client, id: string): Promise<boolean> {
  const found = await ifFound(() =>
    client.json(inspected, { method: 'GET', path: path`/exec/${id}/json` }),
  )
  return found?.Running === true
}

async function createExec(
  client: Client,
  { container, command }: ExecSpec,
  streams: object,
): Promise<string | null> {
  const found = await ifFound(() =>
    client.json(created, {
      method: 'POST',
      path: path`/containers/${container}/exec`,
      // Its own working directory may be gone.
      body: { ...streams, Tty: false, User: '0:0', WorkingDir: '/', Cmd: command },
    }),
  )
  return found?.Id ?? null
}

function gone({ kind: { engine } }: Client, { container }: ExecSpec): BackendError {
  return new BackendError(`${engine} no longer has the container ${container.slice(0, 12)}`, {
    remedy: `check with \`${engine} ps\` that it is running`,
  })
}
