import { readFileSync } from 'node:fs'
import { mkdir, open, readdir, rename, rm } from 'node:fs/promises'
import { hostname } from 'node:os'
import { join } from 'node:path'
import { ifExists } from '../../../linux/files/if-exists.ts'
import type { ProcessIdentity } from '../../../linux/process-identity.ts'
import { BackendError } from '../../../model/errors.ts'
import { type Fields, fieldsOf, number, openPrivate, text } from './private-file.ts'
import type { Identity } from './target-directory.ts'

/**
 * Says who is applying changes to a directory, or was when its process died. It is written before
 * anything in that directory changes, and removed when nothing is left to undo.
 */
export interface Claim extends Identity {
  readonly id: string
  /** other machines may share the directory of claims, and we cannot see their processes */
  readonly machine: string
  /** null if nobody is working, but something is left to undo */
  readonly owner: ProcessIdentity | null
  readonly target: string
  /** name of the staging directory in the target */
  readonly staging: string
}

const version = 1
const suffix = '.claim'
const mostBytes = 65_536
const idPattern = /^[0-9A-Za-z_-]{8,80}$/

function claimPath(dir: string, id: string): string {
  return join(dir, `${id}${suffix}`)
}

/** Writes it atomically. */
export async function saveClaim(dir: string, claim: Claim): Promise<void> {
  await mkdir(dir, { recursive: true, mode: 0o700 })
  const { id, ...fields } = claim
  const draft = `${claimPath(dir, id)}.new`
  {
    await using file = await open(draft, 'w', 0o600)
    await file.writeFile(JSON.stringify({ version, ...fields }))
  }
  await rename(draft, claimPath(dir, id))
}

/** Makes sure that the claim survives a power cut. */
export async function flushClaim(dir: string, id: string): Promise<void> {
  for (const path of [claimPath(dir, id), dir]) {
    await using file = await open(path, 'r')
    await file.sync()
  }
}

export async function removeClaim(dir: string, id: string): Promise<void> {
  await rm(claimPath(dir, id), { force: true })
}

/** Ids of all claims, in no order. */
export async function listClaims(dir: string): Promise<string[]> {
  const names = await readdir(dir).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return []
    throw error
  })
  const ids = names
    .filter((name) => name.endsWith(suffix))
    .map((name) => name.slice(0, -suffix.length))
  return ids.filter((id) => idPattern.test(id))
}

/** Null if it no longer exists. */
export async function readClaim(dir: string, id: string): Promise<Claim | null> {
  try {
    await using file = await openPrivate(claimPath(dir, id), mostBytes)
    return file === null ? null : parse(id, JSON.parse(await file.readFile('utf8')))
  } catch (error) {
    throw new BackendError(
      `cannot read the claim of an apply, ${claimPath(dir, id)}: ${(error as Error).message}`,
      { remedy: 'check the directory of that apply yourself, then remove this file', cause: error },
    )
  }
}

function parse(id: string, value: unknown): Claim {
  const claim = fieldsOf(value)
  if (claim.version !== version) throw new Error('another version wrote it')
  return {
    id,
    machine: text(claim.machine),
    owner: claim.owner === null ? null : parseOwner(fieldsOf(claim.owner)),
    target: text(claim.target),
    staging: text(claim.staging),
    device: text(claim.device),
    inode: text(claim.inode),
  }
}

function parseOwner(owner: Fields): ProcessIdentity {
  return {
    pid: number(owner.pid),
    startTicks: number(owner.startTicks),
    bootId: text(owner.bootId),
  }
}

/** Identifies this machine, even if its name changes. */
export function thisMachine(): string {
  return ifExists(() => readFileSync('/etc/machine-id', 'utf8'))?.trim() || hostname()
}
