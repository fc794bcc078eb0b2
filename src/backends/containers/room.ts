import { existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { BackendContext } from '../backend.ts'
import { findEngine } from './engine/address.ts'
import { type Client, openClient } from './engine/client.ts'
import type { EngineKind } from './engine/engine-kind.ts'
import { type Names, namesOf } from './names.ts'

/** What every part of this backend works with. */
export interface Room extends Pick<BackendContext, 'exclusively' | 'log'> {
  readonly kind: EngineKind
  readonly names: Names
  /** where checkpoints are kept */
  readonly checkpoints: string
  /** where the settings want those of new environments instead; null: nowhere else */
  readonly exportDir: string | null
  /** where it is noted in which containers of others our agent is a guest */
  readonly notes: string
  /** throws `PrerequisiteError` if there is no engine */
  client(): Client
  /** whether this home may have objects in the engine: every command asks, and most homes have none */
  readonly isUsed: () => boolean
  /** called before the first object is made, and after the last one is gone */
  setUsed(): void
  setUnused(): void
}

export function openRoom(kind: EngineKind, context: BackendContext): Room {
  const { home } = context.settings
  const directory = join(home, 'containers')
  const marker = join(directory, kind.name)
  let known: Client | undefined
  return {
    kind,
    log: context.log,
    exclusively: context.exclusively,
    names: namesOf(kind, home),
    checkpoints: join(directory, `${kind.name}-checkpoints`),
    exportDir: kind.checkpoints === 'archive' ? context.settings.podman.exportDir : null,
    notes: join(directory, `${kind.name}-guests`),
    client: () => {
      const configured = context.settings[kind.engine].socket
      known ??= openClient(kind, findEngine(kind, configured, process.env))
      return known
    },
    isUsed: () => existsSync(marker),
    setUsed: () => {
      mkdirSync(directory, { recursive: true, mode: 0o700 })
      writeFileSync(marker, '')
    },
    setUnused: () => rmSync(marker, { force: true }),
  }
}
