import * as z from 'zod/mini'
import type { Instance } from '../../model/environment.ts'
import type { SnapshotImage } from '../backend.ts'
import { noRunOptions, runOptionsSchema } from './run-arguments/run-options.ts'

/** What every life of an environment has in common. */
const defaultsShape = {
  /** USER[:GROUP] of commands, as the image or the caller says; empty: root */
  user: z.string(),
  /** of commands, as the image says */
  env: z.array(z.string()),
  run: z._default(runOptionsSchema, noRunOptions),
  /** where its checkpoints are kept; null: in the home */
  exportDir: z._default(z.nullable(z.string()), null),
}

/** In a container that is not ours, the agent runs beside the programs there. */
const guestSchema = z.object({
  /** of the container since its last start */
  key: z.string(),
  /** the exec that the agent is the process of */
  exec: z.string(),
  /** of the agent, inside */
  pid: z.number(),
  /** a path of its program inside, for relays */
  program: z.string(),
  /** of its socket, inside */
  directory: z.string(),
})

export type Guest = z.infer<typeof guestSchema>

const lifeSchema = z.object({
  kind: z.literal('container'),
  container: z.string(),
  life: z.string(),
  ...defaultsShape,
  /** absent: the container is ours */
  guest: z.exactOptional(guestSchema),
})

const snapshotSchema = z.object({
  /** an image of the engine, or a checkpoint */
  kind: z.enum(['container', 'checkpoint']),
  ...defaultsShape,
})

export type Life = z.infer<typeof lifeSchema>

export type Defaults = Pick<Life, 'user' | 'env' | 'run' | 'exportDir'>

export function lifeOf(instance: Instance): Life {
  return lifeSchema.parse(instance)
}

/** Whether it is this life; false for an instance of another backend. */
export function isLife(instance: Instance, life: string): boolean {
  const parsed = lifeSchema.safeParse(instance)
  return parsed.success && parsed.data.life === life
}

/** What a snapshot's record says about it. */
export function storedOf(image: SnapshotImage): z.infer<typeof snapshotSchema> {
  return snapshotSchema.parse(image)
}

/** The part that a snapshot takes over from a life, and a life from a snapshot. */
export function defaultsOf({ user, env, run, exportDir }: Defaults): Defaults {
  return { user, env, run, exportDir }
}
