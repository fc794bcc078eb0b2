import type { Output } from '../../api/contract/contract.ts'
import { toJson } from '../../model/errors.ts'
import type { Engine } from '../engine.ts'
import type { Fanout } from '../operations/fork/fork.ts'
import { environmentInfo } from './infos.ts'

export function forked(engine: Engine, { records, errors }: Fanout): Output<'snapshot.fork'> {
  const made = records.map((record) => environmentInfo(engine, record))
  return [...made, ...errors.map((error) => ({ error: toJson(error) }))]
}
