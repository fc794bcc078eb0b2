import { docker } from '../../src/backends/containers/engine/engine-kind.ts'
import { startDocker } from '../support/engines/start-docker.ts'
import { conformance } from './conformance.ts'
import { enginePromises } from './engine-promises.ts'
import { engineSurroundings } from './engine-surroundings.ts'

conformance('docker', (directory) => engineSurroundings(docker, startDocker, directory))
enginePromises(docker, startDocker)
