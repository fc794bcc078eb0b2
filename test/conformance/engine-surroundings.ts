import type { EngineKind } from '../../src/backends/containers/engine/engine-kind.ts'
import { imageName, importImage, makeDockerfile } from '../support/engines/engine-images.ts'
import type { EngineProcess } from '../support/engines/engine-process.ts'
import type { TemporaryDirectory } from '../support/temporary-directory.ts'
import type { Surroundings } from './conformance.ts'

/** An engine with an image, and a directory with a Dockerfile. */
export async function engineSurroundings(
  kind: EngineKind,
  start: () => Promise<EngineProcess>,
  directory: TemporaryDirectory,
): Promise<Surroundings> {
  const engine = await start()
  try {
    await importImage(kind, engine, directory.path)
  } catch (error) {
    await engine[Symbol.asyncDispose]()
    throw error
  }
  const dockerfile = directory.file('built')
  makeDockerfile(dockerfile)
  return {
    places: {
      image: imageName,
      from: `image:${imageName}`,
      dockerfile,
      settings: { [`${kind.engine}.socket`]: engine.socket },
    },
    [Symbol.asyncDispose]: () => engine[Symbol.asyncDispose](),
  }
}
