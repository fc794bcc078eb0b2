import { Spawner } from '../../linux/spawner.ts'
import { type Tools, toolsOf } from '../../linux/tools.ts'
import type { ImageTool } from '../../model/settings.ts'
import type { BackendContext } from '../backend.ts'
import { type Places, placesOf } from './places.ts'
import { type Runsc, type RunscPlace, runscOf } from './runsc.ts'

/** What every part of this backend works with. Disposing of it ends the process that starts others. */
export interface Gvisor extends Pick<BackendContext, 'exclusively' | 'log'>, Disposable {
  readonly places: Places
  readonly tools: Tools
  readonly runsc: Runsc
  readonly runscPlace: RunscPlace
  readonly imageTool: ImageTool
  /** where containers of others are looked for */
  readonly foreignRoots: readonly string[]
  /** paths hidden in host and dir environments */
  readonly mask: readonly string[]
}

/** Of runsc. */
const usualRoots = ['/run/runsc', '/var/run/runsc']

export function openGvisor({ settings, exclusively, log }: BackendContext): Gvisor {
  const { home, runtime } = settings
  const places = placesOf(home)
  const spawner = new Spawner()
  const tools = toolsOf(spawner)
  const runscPlace = { runsc: settings.gvisor.runsc, runtime }
  return {
    exclusively,
    log,
    imageTool: settings.native.images.tool,
    foreignRoots: settings.gvisor.root === null ? usualRoots : [settings.gvisor.root],
    places,
    tools,
    runscPlace,
    runsc: runscOf(tools, places, runscPlace),
    mask: [...settings.native.mask, home],
    [Symbol.dispose]: () => spawner[Symbol.dispose](),
  }
}
