import { podmanCriu } from '../../src/backends/containers/engine/engine-kind.ts'
import { startPodman } from '../support/engines/start-podman.ts'
import { conformance } from './conformance.ts'
import { enginePromises } from './engine-promises.ts'
import { engineSurroundings } from './engine-surroundings.ts'

conformance('podman-criu', (directory) => engineSurroundings(podmanCriu, startPodman, directory))
enginePromises(podmanCriu, startPodman)
