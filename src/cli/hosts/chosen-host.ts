import { existsSync, readFileSync } from 'node:fs'
import { contextsPath, readContexts, requireContext } from '../../client/contexts.ts'
import { isServed } from '../../client/probe.ts'
import { daemonSocket } from '../../config/daemon-socket.ts'
import { type Globals, loadGlobalSettings } from '../arguments/globals.ts'

/** The daemon that a command uses. */
export interface ChosenHost {
  readonly address: string
  readonly token?: string
  /** certificates to trust, as PEM */
  readonly ca?: string
}

/** The word for the engine in this process. */
const embedded = 'embedded'

/**
 * Where the command line works: `--host`, FORKPOINT_HOST, the context in use, or the daemon of the home if
 * one runs. Null: in this process.
 */
export async function chosenHost(globals: Globals): Promise<ChosenHost | null> {
  const { FORKPOINT_HOST: named, FORKPOINT_TOKEN: token, FORKPOINT_CA: ca } = process.env
  const given = globals.host ?? (named || undefined)
  if (given === embedded) return null
  const trust = ca ? { ca: readFileSync(ca, 'utf8') } : {}
  if (given !== undefined) return { address: given, ...(token && { token }), ...trust }
  return (globals.home === undefined ? contextInUse() : null) ?? (await daemonOfHome(globals))
}

function contextInUse(): ChosenHost | null {
  const path = contextsPath(process.env)
  if (!existsSync(path)) return null
  const all = readContexts(path)
  if (all.current === null) return null
  const { host, token, ca } = requireContext(all, all.current)
  return {
    address: host,
    ...(token !== undefined && { token }),
    ...(ca !== undefined && { ca: readFileSync(ca, 'utf8') }),
  }
}

async function daemonOfHome(globals: Globals): Promise<ChosenHost | null> {
  const path = daemonSocket(loadGlobalSettings(globals).settings.home)
  if (!existsSync(path) || !(await isServed(path))) return null
  return { address: `unix://${path}` }
}
