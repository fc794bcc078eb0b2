import { mkdirSync, writeFileSync } from 'node:fs'
import { ContainerStorage } from '../support/images/container-storage.ts'
import {
  archiveOfFiles,
  layoutFiles,
  rootfsLayer,
  savedFiles,
  writeLayout,
} from '../support/images/image-files.ts'
import type { TemporaryDirectory } from '../support/temporary-directory.ts'
import type { Surroundings } from './conformance.ts'

const image = 'localhost/base'

/** An image and a container in a storage of the tests' own, a directory with a Dockerfile, and images in files. */
export async function imageSurroundings(directory: TemporaryDirectory): Promise<Surroundings> {
  const storage = new ContainerStorage()
  storage.makeBase(image)
  const dockerfile = directory.file('built')
  mkdirSync(dockerfile)
  writeFileSync(`${dockerfile}/Dockerfile`, `FROM ${image}\nRUN echo made > /made\n`)
  const layers = [rootfsLayer(directory.path)]
  const oci = directory.file('oci')
  writeLayout(oci, layoutFiles(layers))
  const archive = directory.file('saved.tar')
  writeFileSync(archive, archiveOfFiles(savedFiles(layers)))
  const container = 'theirs'
  storage.run('podman', 'create', '--name', container, image, '/bin/bash')
  return {
    places: { image, dockerfile, oci, archive, container },
    [Symbol.asyncDispose]: async () => storage[Symbol.dispose](),
  }
}
