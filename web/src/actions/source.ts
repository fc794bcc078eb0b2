import { type Input, InvalidInputError } from 'forkpoint/client'

type Source = NonNullable<Input<'environment.create'>['from']>

const forms =
  'host, dir:PATH, rootfs:PATH, image:REF, dockerfile:DIR, oci:DIR, archive:FILE or container:NAME'

/** What a new environment is made from, as people write it. */
export function parseSource(text: string): Source {
  const [, kind, value = ''] = /^(\w+)(?::(.+))?$/s.exec(text.trim()) ?? []
  switch (kind) {
    case 'host':
      return { kind }
    case 'dir':
    case 'rootfs':
    case 'oci':
    case 'archive':
      return { kind, path: value }
    case 'image':
      return { kind, ref: value }
    case 'dockerfile':
      return { kind, dir: value }
    case 'container':
      return { kind, name: value }
    default:
      throw new InvalidInputError(`not a source: ${text}`, { remedy: `give ${forms}` })
  }
}
