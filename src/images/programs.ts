import { access, constants } from 'node:fs/promises'
import { delimiter, join } from 'node:path'
import type { Tools } from '../linux/tools.ts'
import { PrerequisiteError } from '../model/errors.ts'
import type { ImageTool } from '../model/settings.ts'
import type { ImageStore } from './image-store.ts'

export type ImageProgram = Exclude<ImageTool, 'auto'>

/** Whether it is installed. */
export async function hasProgram(program: ImageProgram): Promise<boolean> {
  const directories = (process.env.PATH ?? '').split(delimiter).filter(Boolean)
  const found = directories.map((dir) =>
    access(join(dir, program), constants.X_OK).then(
      () => true,
      () => false,
    ),
  )
  return (await Promise.all(found)).includes(true)
}

/** Whether it can be used: Docker also needs its daemon. */
async function isUsable(tools: Tools, program: ImageProgram): Promise<boolean> {
  if (!(await hasProgram(program))) return false
  if (program !== 'docker') return true
  return (await tools.run('docker', ['version', '--format', '{{.Server.Version}}'])).exitCode === 0
}

/** The programs of `wanted` that can be used here, in this order; the setting may leave only one. */
export async function usablePrograms<P extends ImageProgram>(
  { tools, settings }: ImageStore,
  wanted: readonly P[],
  purpose: string,
): Promise<P[]> {
  const chosen = settings.images.tool
  const allowed = wanted.filter((program) => chosen === 'auto' || fits(program, chosen))
  const usable: P[] = []
  for (const program of allowed) if (await isUsable(tools, program)) usable.push(program)
  if (usable.length > 0) return usable
  throw missing(wanted, chosen, purpose)
}

/** Buildah and Podman share their storage, so whoever chooses one may use the other to look into it. */
function fits(program: ImageProgram, chosen: ImageProgram): boolean {
  const sharesStorage = ['buildah', 'podman']
  if (program === chosen) return true
  return sharesStorage.includes(program) && sharesStorage.includes(chosen)
}

function missing(
  wanted: readonly ImageProgram[],
  chosen: ImageTool,
  purpose: string,
): PrerequisiteError {
  const list = wanted.join(', ')
  if (chosen === 'auto') {
    return new PrerequisiteError(`${purpose} needs one of ${list}, and none can be used here`, {
      remedy: 'install one, for example with `apt install podman buildah`',
      detail: { programs: wanted },
    })
  }
  return new PrerequisiteError(`${purpose} needs one of ${list}, and images.tool is ${chosen}`, {
    remedy: `install ${chosen}, or set images.tool to auto or to one of ${list}`,
    detail: { programs: wanted, chosen },
  })
}
